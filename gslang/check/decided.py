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


def decided(value: ir.Value, known: Callable[[ir.Value], Any], lets: Sequence[ir.Value] = ()) -> object:
    """The value of an expression, by Kleene's three values of logic; `UNKNOWN` where it depends on parts of
    which `known` says that. `lets`: those that it may read; without them they are such parts, too. A
    comparison of what is no number is such a part itself.
    """
    value = value.meant(lets)
    if isinstance(value, ir.Const):
        return value.value
    if isinstance(value, ir.IfValue):
        test = decided(value.condition, known, lets)
        return test if test is UNKNOWN else decided(value.then if test else value.otherwise, known, lets)
    if (by := value.decided_by(True, ())) is not None:
        found = [decided(item, known, lets) for item in by.items]
        if any(item is not UNKNOWN and (bool(item) is by.wanted) is not by.every for item in found):
            return not by.every
        return UNKNOWN if any(item is UNKNOWN for item in found) else by.every
    sign, left, right = value.compares or ("", None, None)
    if sign in _COMPARE and left is not None and right is not None:
        a, b = decided(left, known, lets), decided(right, known, lets)
        if type(a) is int and type(b) is int:
            return _COMPARE[sign](a, b)
    return known(value)
