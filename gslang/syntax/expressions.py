"""Expressions of the syntax tree; patterns and attribute values share one syntax. Part of `nodes`."""

from __future__ import annotations

from dataclasses import field
from dataclasses import field as dataclass_field
from typing import Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(compare=False, repr=False)


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


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    """`[element for a, b in source if condition]`, or without brackets as the only argument of a call."""

    element: Expr
    targets: tuple[Name, ...]
    source: Expr | Range
    condition: Expr | None


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


def dotted(expr: object) -> str | None:
    """`a.b.c` as one name, if it is nothing but names."""
    parts: list[str] = []
    while isinstance(expr, Attribute):
        parts.append(expr.field)
        expr = expr.base
    return ".".join([expr.id, *reversed(parts)]) if isinstance(expr, Name) else None
