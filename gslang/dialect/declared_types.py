"""Declared types of an `op` item → domains of attributes, and the plain types that hold their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from gslang.base.suggest import did_you_mean
from gslang.dialect.bounds import (
    NOTHING,
    Arithmetic,
    Bound,
    Count,
    Fixed,
    Given,
    Rank,
    Size,
    negated,
    resolve,
)
from gslang.dialect.domain import (
    Anything,
    Domain,
    Exactly,
    Interval,
    Layout,
    Lengths,
    ListOf,
    OneOf,
    TupleOf,
    layout_axes,
)
from gslang.dialect.domain_text import value_text
from gslang.dialect.dtypes import CLASSES, dtype_exists
from gslang.syntax import nodes as n

ATTRIBUTE_TYPES: Final = ("int", "float", "bool", "str", "dtype", "array", "graph")
OPERAND_TYPES: Final = ("tensor", "tuple")
_NUMBERS: Final = ("int", "float")
_ELSEWHERE: Final = {
    "string": "str", "text": "str", "boolean": "bool", "integer": "int", "int64": "int", "int32": "int",
    "double": "float", "float32": "float", "float64": "float", "list": "int[]", "ints": "int[]",
    "floats": "float[]", "strings": "str[]", "node": "tensor", "value": "tensor", "tensorproto": "array",
}
"""Types as other languages and ONNX's schemas name them, in lower case."""
_LISTS: Final = ("list", "tuple", "sequence", "array", "vector", "optional")

Report = Callable[[str, n.Node, "str | None"], None]


def optional_parts(types: Iterable[n.DeclaredType]) -> list[tuple[n.DeclaredType, bool]]:
    """Each alternative without its `?`, and whether it had one."""
    return [(t.item, True) if isinstance(t, n.TypeOptional) else (t, False) for t in types]


class TypeReader:
    """Reads the types of one declaration, of an operator or else of a parameter of the file. `operands`,
    `attributes`: names that bounds may mention.
    """

    def __init__(
        self, operands: Iterable[str], attributes: Iterable[str], report: Report, of_operator: bool = True
    ) -> None:
        self.operands, self.attributes = frozenset(operands), frozenset(attributes)
        self.report, self.of_operator = report, of_operator

    def union(self, types: Iterable[n.DeclaredType]) -> Domain:
        """The domain of alternatives, flat."""
        parts: list[Domain] = []
        for type in types:
            domain = self.domain(type)
            for part in domain.parts if isinstance(domain, OneOf) else (domain,):
                if part not in parts:
                    parts.append(part)
                elif part != Exactly(None):
                    text = value_text(part.value) if isinstance(part, Exactly) else "an alternative"
                    self.report(f"{text} occurs twice in this type", type, "remove one of them")
        if Exactly(None) in parts:  # `a? | b` and `a | b?` are one
            parts = [part for part in parts if part != Exactly(None)] + [Exactly(None)]
        return parts[0] if len(parts) == 1 else OneOf(tuple(parts))

    def domain(self, type: n.DeclaredType) -> Domain:
        """The domain of one alternative."""
        match type:
            case n.TypeLiteral(value):
                return Exactly(value)
            case n.TypeOptional(item):
                return self.union((item, n.TypeLiteral(None, span=item.span)))
            case n.TypeGroup((one,)):
                return self.union(one)
            case n.TypeGroup(items):
                return TupleOf(tuple(map(self.union, items)))
            case n.TypeRange():
                return self.interval(type)
            case n.TypeList():
                return self.list_of(type)
        return self.named(type)

    def named(self, type: n.TypeName) -> Domain:
        """`int`, `dtype(float)`, `layout("NCHW" | "NHWC")`."""
        if type.name == "layout":
            return self.layout(type)
        if type.name == "distinct":
            self.report("`distinct` applies to the items of a list", type, "write `distinct(int)[]`")
            return self.union(type.arguments)
        if type.name not in ATTRIBUTE_TYPES:
            known = (*(OPERAND_TYPES if self.of_operator else ()), *ATTRIBUTE_TYPES)
            guess = did_you_mean(type.name, (*known, "layout", "distinct"))
            if type.name in OPERAND_TYPES:
                values = f"types of values: {', '.join(ATTRIBUTE_TYPES)}; tuples: `int[]`, `(str, float)`"
                self.report(f"`{type.name}` is the type of an operand", type, values)
            else:
                guess = guess or _ELSEWHERE.get(type.name.lower())
                hint = f"did you mean `{guess}`?" if guess else f"types: {', '.join(known)}"
                self.report(f"unknown type `{type.name}`", type, hint)
                return Anything("any")
        if type.arguments and type.name != "dtype":
            self.report(f"`{type.name}` takes no arguments", type, f"write `{type.name}`")
            return Anything(type.name)
        if type.name in _NUMBERS:
            return Interval(type.name)
        return Anything(type.name, self.classes(type.arguments))

    def classes(self, arguments: tuple[n.DeclaredType, ...]) -> tuple[str, ...]:
        """Data types and classes of them, in the parentheses of `tensor(…)` or `dtype(…)`."""
        found: list[str] = []
        for argument in arguments:
            if (
                isinstance(argument, n.TypeName) and not argument.arguments
                and (argument.name in CLASSES or dtype_exists(argument.name))
            ):
                found.append(argument.name)
                continue
            guess = (
                did_you_mean(
                    argument.name, (*CLASSES, "float32", "float16", "int64", "int32", "int8", "uint8")
                )
                if isinstance(argument, n.TypeName)
                else None
            )
            help = (
                f"did you mean `{guess}`?" if guess
                else f"classes: {', '.join(CLASSES)}; or a data type: float32, int64, …"
            )
            self.report("expected a data type or a class of data types", argument, help)
        return tuple(dict.fromkeys(found))

    def layout(self, type: n.TypeName) -> Domain:
        usual = tuple(
            t.value for t in type.arguments if isinstance(t, n.TypeLiteral) and isinstance(t.value, str)
        )
        if not usual or len(usual) != len(type.arguments):
            self.report("a layout is given by strings", type, 'write `layout("NCHW" | "NHWC")`')
            return Anything("str")
        for text, argument in zip(usual, type.arguments):
            if not layout_axes(text):
                self.report(
                    f"`{text}` is not a layout", argument,
                    "a layout has one capital letter for each axis: `NCHW`, `NCHW4c`",
                )
            elif layout_axes(text) != layout_axes(usual[0]):
                self.report(
                    f"`{text}` has other axes than `{usual[0]}`", argument,
                    "all layouts of one type are permutations of one another",
                )
        return Layout(usual)

    def interval(self, type: n.TypeRange) -> Domain:
        if type.name not in _NUMBERS:
            self.report(f"`{type.name}` has no order", type, "bounds are for `int` and `float`")
            return Anything(type.name)
        lower, upper = (None if bound is None else self.bound(bound) for bound in (type.lower, type.upper))
        for bound, expr in ((lower, type.lower), (upper, type.upper)):
            if (
                type.name == "int" and isinstance(bound, Fixed) and isinstance(bound.value, float)
                and expr is not None
            ):
                hint = "write an integer, or declare a `float`"
                self.report("the bounds of an `int` are integers", expr, hint)
        low, high = (None if bound is None else resolve(bound, NOTHING) for bound in (lower, upper))
        if low is not None and high is not None and (low > high or low == high and type.below):
            self.report("no number lies in this range", type, "the lower bound comes first")
        return Interval(type.name, lower, upper, type.above, type.below)

    def list_of(self, type: n.TypeList) -> Domain:
        if isinstance(type.item, n.TypeName) and type.item.name.lower() in _LISTS and type.lengths:
            of = ", ".join(length.span.text for length in type.lengths)
            optional = type.item.name.lower() == "optional"
            what, mark = ("an optional value", "?") if optional else ("the type of a list", "[]")
            self.report(f"{what} is written `{of}{mark}`", type, f"write `{of}{mark}`")
            return Anything("any")
        lengths: Lengths = tuple(
            (length.lower or 0, length.upper) if isinstance(length, n.Range) else self.bound(length)
            for length in type.lengths
        )
        for length, expr in zip(lengths, type.lengths):
            wrong = (
                length[1] is not None and length[0] > length[1] if isinstance(length, tuple)
                else isinstance(length, Fixed) and not _is_count(length.value)
            )
            if wrong:
                self.report(
                    "no list has such a length", expr, "lengths are integers from 0, the smallest first"
                )
        if isinstance(type.item, n.TypeName) and type.item.name == "distinct":
            if not type.item.arguments:
                self.report("`distinct` needs the type of the items", type.item, "write `distinct(int)[]`")
                return ListOf(Interval("int"), lengths, True)
            return ListOf(self.union(type.item.arguments), lengths, True)
        return ListOf(self.domain(type.item), lengths)

    def bound(self, expr: n.Expr) -> Bound:
        """A number that a call settles."""
        match expr:
            case n.Literal(value) if isinstance(value, (int, float)) and not isinstance(value, bool):
                return Fixed(value)
            case n.Unary("-", operand):
                return negated(self.bound(operand))
            case n.Binary(sign, left, right) if sign in ("+", "-", "*", "//", "%"):
                return Arithmetic(sign, self.bound(left), self.bound(right))
            case n.Call(n.Name("rank"), (n.Positional(n.Name(name)),)) | n.Attribute(n.Name(name), "ndim"):
                self.known(name, expr, self.operands, "operand")
                return Rank(name)
            case n.Index(n.Attribute(n.Name(name), "shape"), index):
                self.known(name, expr, self.operands, "operand")
                return Size(name, self.bound(index))
            case n.Call(n.Name("len"), (n.Positional(n.Name(name)),)):
                self.known(name, expr, self.operands | self.attributes, "parameter")
                return Count(name)
            case n.Name(name):
                self.known(name, expr, self.attributes, "attribute")
                return Given(name)
        self.report(
            "expected a number", expr,
            "bounds consist of numbers, attributes, `rank(data)`, `data.shape[k]` and `len(axes)`",
        )
        return Fixed(0)

    def known(self, name: str, node: n.Node, names: frozenset[str], what: str) -> None:
        if name not in names:
            guess = did_you_mean(name, names)
            listed = ", ".join(f"`{x}`" for x in sorted(names)) or "none"
            if not self.of_operator:
                self.report(f"`{name}` is not a number", node, "write a number: nothing else is known here")
                return
            self.report(
                f"`{name}` is not {'a parameter' if what == 'parameter' else f'an {what}'} of this operator",
                node, f"did you mean `{guess}`?" if guess else f"it has {listed}",
            )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0
