"""The arithmetic of attribute expressions, on Python's numbers, on sequences, and on NumPy's arrays.

The value of a constant without axes is a Python number, that of another constant an array. Arrays overflow
and divide by zero as IEEE 754 and whole numbers of fixed width do; so NumPy's warnings are off here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gslang.check.limits import (
    MOST_BITS,
    MOST_ITEMS,
    SMALLER,
    LimitExceeded,
    bounded,
    power_worked,
    too_long,
)
from gslang.dialect.tensor_type import UnknownValue

# What a failing evaluation may raise; all of it means "unknown".
FAILURES = (UnknownValue, ArithmeticError, LookupError, ValueError, TypeError, AttributeError, MemoryError)


def add(a: Any, b: Any) -> Any:
    """`a + b`; sequences are measured before."""
    if type(a) in (tuple, str) and type(a) is type(b) and len(a) + len(b) > MOST_ITEMS:
        raise too_long()
    return bounded(applied(operator.add, a, b))


def subtract(a: object, b: object) -> object:
    return applied(operator.sub, a, b)


def multiply(a: Any, b: Any) -> object:
    """`a * b`; sequences and integers are measured before."""
    if type(a) is int and type(b) is int:
        return a * b if a.bit_length() + b.bit_length() <= MOST_BITS else bounded(1 << MOST_BITS)
    for sequence, count in ((a, b), (b, a)):
        if (
            isinstance(sequence, (tuple, str)) and isinstance(count, int) and count > 0
            and len(sequence) * count > MOST_ITEMS
        ):
            raise too_long()
    return bounded(applied(operator.mul, a, b))


def negative(a: object) -> object:
    return -a if type(a) is int else applied(lambda value, _: -value, a, a)


def _power(a: object, b: object) -> object:
    if (
        isinstance(a, int) and isinstance(b, int) and b > 0 and abs(a) > 1
        and abs(a).bit_length() * b > 2 * MOST_BITS
    ):
        raise LimitExceeded(
            f"`**` in an attribute expression gives an integer of more than {MOST_BITS} bits", help=SMALLER,
        )
    if isinstance(a, int) and isinstance(b, int) and b > 0:
        power_worked(abs(a).bit_length() * b)
    result = applied(operator.pow, a, b)
    if isinstance(result, complex):
        raise UnknownValue("not a real number")
    return bounded(result)


def applied(operate: Callable[[Any, Any], Any], a: object, b: object) -> Any:
    """`operate(a, b)`, without a warning from NumPy where a narrow type does not hold the result."""
    if type(a) is int and type(b) is int or not (hasattr(a, "dtype") or hasattr(b, "dtype")):
        return operate(a, b)
    import numpy

    with numpy.errstate(all="ignore"):
        return operate(a, b)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": lambda a, b: applied(operator.truediv, a, b),
    "//": lambda a, b: applied(operator.floordiv, a, b),
    "%": lambda a, b: applied(operator.mod, a, b),
    "**": _power,
}
