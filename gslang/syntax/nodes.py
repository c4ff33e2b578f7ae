"""The syntax tree of a `.gsl` file, as the user wrote it. No meaning here; `check` gives it one.

All nodes are frozen and hold tuples. Spans do not take part in equality: two programs are equal if they say
the same.
"""

from __future__ import annotations

from dataclasses import field
from dataclasses import field as dataclass_field
from typing import Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(compare=False, repr=False)


# ── expressions (patterns and attribute values share one syntax) ────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier, or a dotted name only where it is written in one piece (imports, operator declarations).
    """

    id: str


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """An int, float, str, bool or none. `text` is its spelling."""

    value: int | float | str | bool | None
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Hole(Node):
    """`_`: anything."""


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """`base.field`. `nn.conv2d` is `Attribute(Name("nn"), "conv2d")`: the checker tells them apart."""

    base: Expr
    field: str
    field_span: Span = dataclass_field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Projection(Node):
    """`base.0`."""

    base: Expr
    index: int


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`base[index]`; `index` may be a `Hole`."""

    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Slice(Node):
    base: Expr
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True)
class Positional(Node):
    value: Expr


@dataclass(frozen=True, slots=True)
class Keyword(Node):
    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Spread(Node):
    """`p.{a, b}` (fields given) or `p.*` (fields None) as an argument."""

    base: Expr
    fields: tuple[Name, ...] | None


@dataclass(frozen=True, slots=True)
class Star(Node):
    """`*sequence` as an argument, a tuple item, or an output."""

    value: Expr


Argument = Union[Positional, Keyword, Spread, Star]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`callee(arguments)`, or `callee?(argument)` when optional.

    A lone comprehension argument is Positional(Comprehension).
    """

    callee: Expr  # Name or Attribute chain
    arguments: tuple[Argument, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class OperatorKind(Node):
    """`op(…)`: the kind of an operator variable; each argument a trait/operator expression over `|`, `not`,
    names.
    """

    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    operator: str  # "-" "not" "keep" "ordered"
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    operator: str  # "+ - * / // % **" "|" "and" "or"
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`first op e op e …`, chained as in Python."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]  # "== != < <= > >= in", "not in"


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`then if condition else otherwise`."""

    then: Expr
    condition: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Walrus(Node):
    """`(name := value)`."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class TupleExpr(Node):
    """`(a, b)`, `[a, b]`, `(a,)`, `()`: items may be `Star`.

    A parenthesised single expression is itself, see `Parenthesised`.
    """

    items: tuple[Expr | Star, ...]
    bracket: str = field(default="(", compare=False)  # "(" or "["


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    """`[element for a, b in source if condition]`; `generator` when it is a bare call argument."""

    element: Expr
    targets: tuple[Name, ...]
    source: Expr | Range
    condition: Expr | None
    generator: bool = False


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`lower..upper`, either may be missing."""

    lower: int | None
    upper: int | None


@dataclass(frozen=True, slots=True)
class Arm(Node):
    name: Name | None  # None is `_`
    value: Expr


@dataclass(frozen=True, slots=True)
class Match(Node):
    subject: Expr
    arms: tuple[Arm, ...]


Expr = Union[
    Name, Literal, Hole, Attribute, Projection, Index, Slice, Call, OperatorKind, Unary, Binary, Comparison,
    Conditional, Walrus, TupleExpr, Comprehension, Match, Star, Range,
]  # fmt: skip


# ── statements ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Bind(Node):
    """`name = value;`"""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Each(Node):
    """`each name in bounds { statements where conditions; }`; bounds a `Range` or an expression (an exact
    count).
    """

    name: Name
    bounds: Range | Expr
    statements: tuple[Bind, ...]
    where: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Chain(Each):
    """`chain name in bounds from start { statements where conditions; }`: each instance goes on from the one
    before.
    """

    start: Expr | None


Statement = Union[Bind, Each]


@dataclass(frozen=True, slots=True)
class Side(Node):
    """One side of a rule: statements, outputs (an `Expr` or a `Star`), conditions."""

    statements: tuple[Statement, ...]
    outputs: tuple[Expr, ...]
    where: tuple[Expr, ...]


# ── items ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Annotation(Node):
    name: Name
    arguments: tuple[Positional | Keyword, ...]  # a range argument is Positional(Range)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Node):
    doc: str | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class DialectItem(Item):
    name: Name


@dataclass(frozen=True, slots=True)
class Use(Item):
    """`use std.relay.conv;`, `use "./mine.gsl";`, `use std.relay.conv (a, b);`"""

    module: str  # dotted name, or the path
    is_path: bool
    names: tuple[Name, ...] | None


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    """`int`, or `tensor(float | bool)` with arguments."""

    name: str
    arguments: tuple[DeclaredType, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeLiteral(Node):
    """A value as a type of its own: `"constant"`, `0`, `none`."""

    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class TypeRange(Node):
    """`int >= 1`, `float < 1.0`, `int in lower..upper`, `int in lower ..< upper`."""

    name: str
    lower: Expr | None
    upper: Expr | None
    above: bool = False  # the lower bound itself is excluded
    below: bool = False  # the upper bound itself is excluded


@dataclass(frozen=True, slots=True)
class TypeGroup(Node):
    """`(a | b)`, or `(a, b)`: a tuple of these types. Each item is a union."""

    items: tuple[tuple[DeclaredType, ...], ...]


@dataclass(frozen=True, slots=True)
class TypeList(Node):
    """`item[]`, `item[2 | 4]`, `item[1..]`. No lengths: any."""

    item: DeclaredType
    lengths: tuple[Expr | Range, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeOptional(Node):
    """`item?`: it, or none."""

    item: DeclaredType


DeclaredType = Union[TypeName, TypeLiteral, TypeRange, TypeGroup, TypeList, TypeOptional]


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A parameter of an `op`: operand or attribute. `default` None means required."""

    name: Name
    types: tuple[DeclaredType, ...]  # alternatives
    default: Expr | None
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class OpDecl(Item):
    name: Name  # dotted
    parameters: tuple[Parameter, ...]
    results: tuple[DeclaredType, ...]
    several: bool  # `(tensor, tensor?)` was written in parentheses
    meaning: tuple[tuple[Name, Expr], ...]
    traits: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class FnParameter(Node):
    name: Name
    type: Name | None


@dataclass(frozen=True, slots=True)
class FnDecl(Item):
    """`fn f(x) = body;`, or `fn f(x: int) -> bool;`: the signature of a Python function, which `@extern`
    names.
    """

    name: Name
    parameters: tuple[FnParameter, ...]
    body: Expr | None
    result: Name | None = None


@dataclass(frozen=True, slots=True)
class ParamDecl(Item):
    """`param threshold: int = 64;` `default` None: it has to be given.

    `value`: what it is in a run; the checker settles that.
    """

    name: Name
    types: tuple[DeclaredType, ...]
    default: Expr | None
    value: object = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Kind(Node):
    """`any`, `var(shape = …)`, `op(elementwise)`, with `?` when it may be absent."""

    name: Name
    arguments: tuple[Positional | Keyword, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Input(Node):
    name: Name
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Table(Node):
    """`for (Op, e) in (Add, 0), (Sub, 0)`: a rule for each row, in which the names stand for the row's items.
    """

    names: tuple[Name, ...]
    rows: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Rule(Item):
    """`table`: it is a family of rules (`families.instances`).

    `family`: of one of these, the name of the family.
    """

    name: Name
    inputs: tuple[Input, ...]
    source: Side
    target: Side
    table: Table | None = None
    family: Name | None = None
    one_line: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    items: tuple[PassItem, ...]


PassItem = Union[Name, Repeat]  # Name is dotted


@dataclass(frozen=True, slots=True)
class PassDecl(Item):
    name: Name
    items: tuple[PassItem, ...]


@dataclass(frozen=True, slots=True)
class TestInput(Node):
    """`x: input float32[2, n, 4];`; dims are ints or symbol names."""

    name: Name
    kind: Name
    dtype: Name
    dims: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Test(Item):
    title: str
    rule: Name
    inputs: tuple[TestInput, ...]
    source: Side
    expected: Side | None  # None is `unchanged`


@dataclass(frozen=True, slots=True)
class Comment(Node):
    text: str  # with its `#`


@dataclass(frozen=True, slots=True)
class Program(Node):
    doc: str | None
    items: tuple[Item, ...]
