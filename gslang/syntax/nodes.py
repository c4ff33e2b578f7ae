"""The syntax tree of a `.gsl` file, as the user wrote it: statements and items, and `expressions`, which are
found here too. No meaning here; `check` gives it one.

All nodes are frozen and hold tuples. Spans do not take part in equality: two programs are equal if they say
the same.
"""

from __future__ import annotations

from dataclasses import field
from typing import Union

from gslang.base.quick_dataclass import dataclass
from gslang.syntax.expressions import *
from gslang.syntax.expressions import Expr, Keyword, Name, Node, Positional, Range

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

    `unpacked`: a row is a tuple of items, as for several names or for `(p,)`; otherwise it is the item.
    """

    names: tuple[Name, ...]
    rows: tuple[Expr, ...]
    unpacked: bool


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
class Program(Node):
    doc: str | None
    items: tuple[Item, ...]
