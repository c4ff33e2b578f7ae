"""The values of expressions before there is a match, as far as some of their parts are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from gslang.check import checked as ir

_COMPARE: Final = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
UNKNOWN: Final = object()


def decided(value: ir.Value, known: Callable[[ir.Value], Any], lets: Sequence[ir.Value] = ()) -> Any:
    """The value of an expression, by Kleene's three values of logic; `UNKNOWN` where it depends on parts of
    which `known` says that. `lets`: those that it may read; without them they are such parts, too. A
    comparison of what is no number is such a part itself.
    """
    match value:
        case ir.Const(constant):
            return constant
        case ir.Let(_, number) if value.place == ir.OWN and lets:
            return decided(lets[number], known, lets)
        case ir.UnaryValue("not", operand):
            inner = decided(operand, known, lets)
            return inner if inner is UNKNOWN else not inner
        case ir.CompareValue(operator, left, right) if operator in _COMPARE:
            a, b = decided(left, known, lets), decided(right, known, lets)
            return _COMPARE[operator](a, b) if type(a) is int and type(b) is int else known(value)
        case ir.Connective():
            found = [decided(item, known, lets) for item in value.items]
            if any(item is not UNKNOWN and bool(item) is value.deciding for item in found):
                return value.deciding
            return UNKNOWN if any(item is UNKNOWN for item in found) else not value.deciding
        case ir.IfValue(condition, then, otherwise):
            test = decided(condition, known, lets)
            return test if test is UNKNOWN else decided(then if test else otherwise, known, lets)
    return known(value)
