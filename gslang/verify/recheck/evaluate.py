"""The value of a term at concrete sizes: elements of inputs and functions without a meaning here are random, but always the same.

Real numbers are fractions as long as roots and exponentials allow, whole numbers wrap at 8 bits, truth values are 1 and 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any
from zlib import crc32

from gslang.verify.recheck.terms import Atom, Size, Term

Number = Any  # a Fraction or a float
REAL, WHOLE, TRUTH = "real numbers", "whole numbers that wrap", "truth values"
_MOST_SUMMANDS = 4096


class Undefined(Exception):
    """A function has no value here, or a number is too large."""


@dataclass(slots=True)
class Point:
    """`sizes`: quantity → number. `made`: composite quantities: name → (`floor`, `within` or `join`, sizes). `seed`, `positive`: of the values."""

    sizes: dict[str, int]
    seed: int = 0
    positive: bool = False
    numbers: str = REAL
    made: Mapping[str, tuple[str, tuple[Size, ...]]] = field(default_factory=dict)
    equations: Mapping[str, Size] = field(default_factory=dict)

    def size(self, size: Size) -> int:
        """The number that a size is. Raises `KeyError` for a quantity without a value."""
        return sum(c * math.prod(map(self.quantity, names)) for c, names in size)

    def quantity(self, name: str) -> int:
        """The number that a quantity is."""
        if name in self.sizes:
            return self.sizes[name]
        if name in self.equations:
            return self.size(self.equations[name])
        kind, parts = self.made[name]
        values = [self.size(part) for part in parts]
        if kind == "floor":
            if values[1] == 0:
                raise Undefined
            return values[0] // values[1]
        if kind == "within":
            return 0 if values[1] == 1 else values[0]
        return max(values)

    def random(self, name: str, index: Sequence[int]) -> Number:
        """An element of an input, or the value of an unknown number."""
        drawn = crc32(f"{self.seed} {name} {list(index)}".encode())
        if self.numbers == TRUTH:
            return Fraction(drawn & 1)
        if self.numbers == WHOLE:
            return Fraction(drawn % 256 - 128)
        value = Fraction(drawn % 61 - (0 if self.positive else 30), 8)
        return value + Fraction(1, 16) if self.positive else value

    def wrapped(self, value: Number) -> Number:
        """A result of a sum or a product, as the numbers have it."""
        if self.numbers == WHOLE:
            return Fraction((int(value) + 128) % 256 - 128)
        if isinstance(value, float) and not math.isfinite(value):
            raise Undefined
        return value


def value_of(term: Term, point: Point, wraps: bool = True) -> Number:
    """The value of a term; `wraps`: as the numbers of the point have it. Raises `Undefined`."""
    total: Number = Fraction(0)
    for c, factors in term:
        part: Number = c
        for atom, _ in factors:  # what a guard cuts off need not be defined
            if atom[0] == "guard" and not _guard(atom, point):
                part = Fraction(0)
        if part:
            for atom, exponent in factors:
                part = part * _power(_atom(atom, point), exponent)
        total = total + part
    return point.wrapped(total) if wraps else total


def _power(value: Number, exponent: int) -> Number:
    if exponent < 0 and abs(value) < 1e-9:
        raise Undefined
    try:
        return value**exponent
    except OverflowError as error:
        raise Undefined from error


def _guard(atom: Atom, point: Point) -> bool:
    return point.size(atom[1]) >= 0


def _atom(atom: Atom, point: Point) -> Number:
    match atom:
        case ("read", name, *index):
            return point.random(name, [point.size(k) for k in index])
        case ("num", size):
            return Fraction(point.size(size))
        case ("guard", _):
            return Fraction(_guard(atom, point))
        case ("group", inner):
            return value_of(inner, point)
        case ("total", kind, variables, body):
            return _total(kind, variables, body, point)
        case ("fn", name, *arguments):
            return _function(name, [value_of(a, point, wraps=name != "positive") for a in arguments], point)
    raise Undefined


def _total(kind: str, variables: Any, body: Term, point: Point) -> Number:
    ranges = [range(point.size(size)) for _, size in variables]
    if math.prod(map(len, ranges)) > _MOST_SUMMANDS or not all(ranges):
        raise Undefined
    values = []
    before = dict(point.sizes)
    for index in product(*ranges):
        point.sizes.update({name: k for (name, _), k in zip(variables, index)})
        values.append(value_of(body, point))
    point.sizes.clear()
    point.sizes.update(before)
    match kind:
        case "sum":
            return point.wrapped(sum(values, Fraction(0)))
        case "max":
            return max(values)
        case "min":
            return min(values)
        case "prod":
            return point.wrapped(math.prod(values))
    return _unknown(f"total {kind}", values, point)


def _function(name: str, arguments: list[Number], point: Point) -> Number:
    if not arguments:
        return point.random(name, ())
    known = _FUNCTIONS.get(name)
    if known is None:
        return _unknown(name, arguments, point)
    try:
        return point.wrapped(known(*arguments))
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise Undefined from error


def _unknown(name: str, arguments: list[Number], point: Point) -> Number:
    """A function without a meaning here: any that is smooth, so that rounding does not show."""
    if point.numbers != REAL:
        return point.random(name, [int(a) for a in arguments])
    total = sum(((crc32(f"{point.seed} {name} {k}".encode()) % 97 - 48) / 16 * float(a) for k, a in enumerate(arguments)), 0.5)
    return math.sin(total) + 1.5 if point.positive else math.sin(total)


def _exp(x: Number) -> Number:
    if x > 60:
        raise Undefined
    return Fraction(1) if x == 0 else math.exp(x)


def _log(x: Number) -> Number:
    if x <= 0:
        raise Undefined
    return Fraction(0) if x == 1 else math.log(x)


def _sqrt(x: Number) -> Number:
    if x < -1e-9:
        raise Undefined
    if isinstance(x, Fraction) and math.isqrt(x.numerator) ** 2 == x.numerator and math.isqrt(x.denominator) ** 2 == x.denominator:
        return Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
    return math.sqrt(max(x, 0))


def _divide(x: Number, y: Number) -> Number:
    return x * _power(y, -1)


def _raised(x: Number, y: Number) -> Number:
    if y == int(y) and abs(y) <= 64:
        return _power(x, int(y))
    if x <= 0:
        raise Undefined
    return math.pow(x, y)


def _sign(x: Number) -> Number:
    return Fraction((x > 0) - (x < 0))


_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "exp": _exp, "log": _log, "log_abs": lambda x: _log(abs(x)), "sqrt": _sqrt, "rsqrt": lambda x: _power(_sqrt(x), -1),
    "divide": _divide, "reciprocal": lambda x: _power(x, -1), "power": _raised, "square": lambda x: x * x, "negative": lambda x: -x,
    "subtract": lambda x, y: x - y, "max": max, "maximum": max, "minimum": min, "relu": lambda x: max(x, 0), "abs": abs,
    "clip": lambda x, low, high: min(max(x, low), high), "sigmoid": lambda x: _power(1 + _exp(-x), -1), "Tanh": lambda x: math.tanh(x),
    "Mish": lambda x: x * math.tanh(_log(1 + _exp(x))), "HardSigmoid": lambda x, a, b: min(max(a * x + b, 0), 1),
    "HardSwish": lambda x: x * min(max(x / 6 + Fraction(1, 2), 0), 1), "com.microsoft.QuickGelu": lambda x, a: x * _power(1 + _exp(-a * x), -1),
    "whole maximum": max, "whole minimum": min, "whole abs": abs, "whole relu": lambda x: max(x, 0),
    "whole clip": lambda x, low, high: min(max(x, low), high),
    "positive": lambda x: Fraction(x > 0), "order": lambda x: x, "truth": lambda x: x,
    **dict.fromkeys(("mod", "trunc_mod", "Mod"), lambda x, y: x - y * math.trunc(x / y)), "floor_mod": lambda x, y: x - y * math.floor(x / y),
    "where": lambda c, x, y: x if c else y, "Where": lambda c, x, y: x if c else y,
    **dict.fromkeys(("And", "logical_and"), lambda x, y: Fraction(bool(x and y))), **dict.fromkeys(("Or", "logical_or"), lambda x, y: Fraction(bool(x or y))),
    **dict.fromkeys(("Xor", "logical_xor", "not_equal"), lambda x, y: Fraction(x != y)), **dict.fromkeys(("Equal", "equal"), lambda x, y: Fraction(x == y)),
    **dict.fromkeys(("Not", "logical_not"), lambda x: Fraction(not x)), **dict.fromkeys(("BitwiseNot", "bitwise_not"), lambda x: -x - 1),
    **dict.fromkeys(("BitwiseAnd", "bitwise_and"), lambda x, y: Fraction(int(x) & int(y))),
    **dict.fromkeys(("BitwiseOr", "bitwise_or"), lambda x, y: Fraction(int(x) | int(y))),
    **dict.fromkeys(("BitwiseXor", "bitwise_xor"), lambda x, y: Fraction(int(x) ^ int(y))),
    **dict.fromkeys(("Floor", "floor"), lambda x: Fraction(math.floor(x))), **dict.fromkeys(("Ceil", "ceil"), lambda x: Fraction(math.ceil(x))),
    **dict.fromkeys(("Round", "round"), lambda x: Fraction(round(x))), "trunc": lambda x: Fraction(math.trunc(x)),
    **dict.fromkeys(("Sign", "sign"), _sign),
}  # fmt: skip


def near(a: Number, b: Number) -> bool:
    """True if two values are equal: exactly, or approximately if there are floats among them."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    return bool(abs(a - b) <= 1e-6 * (1 + abs(a) + abs(b)))
