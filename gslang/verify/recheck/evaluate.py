"""The value of a term at concrete sizes: elements of inputs and functions without a meaning here are random,
but always the same.

Reals are fractions while roots and exponentials allow; whole numbers wrap at 8 bits; truths are 1 and 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any
from zlib import crc32

from gslang.verify.recheck.terms import Atom, Size, Term, names_in

Number = Any  # a Fraction or a float
REAL, WHOLE, TRUTH = "real numbers", "whole numbers that wrap", "truth values"
_MOST_SUMMANDS = 400
_DRAWN = [[Fraction(k - 30, 8) for k in range(61)], [Fraction(2 * k + 1, 16) for k in range(61)]]  # positive


class Sizes(dict[str, int]):
    """Quantity → number. Composite ones are computed where they are asked for: `made` says how (`floor`,
    `within`, `clip` or `join` of sizes), or `equal` to what.
    """

    made: Mapping[str, tuple[str, tuple[Size, ...]]] = {}
    equal: Mapping[str, Size] = {}

    def of(self, size: Size) -> int:
        """The number that a size is. Raises `KeyError` for a quantity without a value."""
        return sum([c * math.prod([self[name] for name in names]) for c, names in size])

    def __missing__(self, name: str) -> int:
        if name in self.equal:
            return self.of(self.equal[name])
        kind, parts = self.made[name]
        values = [self.of(part) for part in parts]
        if kind == "clip":  # (bound of a slice, size, least value)
            return min(max(values[0] + (values[1] if values[0] < 0 else 0), values[2]), values[1] + values[2])
        if kind == "join":
            return max(values)
        return values[0] // values[1] if kind == "floor" else 0 if values[1] == 1 else values[0]


@dataclass(slots=True)
class Point:
    """`seed`, `positive`: of the values. `bound`: positions of the sums around; `known`: values of sums that
    were computed, of all points whose sizes are composed in the same way, which differ in their seeds.
    """

    sizes: Sizes
    seed: int = 0
    positive: bool = False
    numbers: str = REAL
    bound: tuple[str, ...] = ()
    known: dict[object, Any] = field(default_factory=dict)

    def random(self, name: str, index: Sequence[int]) -> Number:
        """An element of an input, or the value of an unknown number."""
        drawn = crc32(f"{self.seed} {name} {list(index)}".encode())
        if self.numbers == TRUTH:
            return Fraction(drawn & 1)
        if self.numbers == WHOLE:
            return Fraction(drawn % 256 - 128)
        return _DRAWN[self.positive][drawn % 61]

    def wrapped(self, value: Number) -> Number:
        """A result of a sum or a product, as the numbers have it."""
        if self.numbers == WHOLE:
            if value != int(value):
                raise ArithmeticError
            return Fraction((int(value) + 128) % 256 - 128)
        if isinstance(value, float) and not math.isfinite(value):
            raise ArithmeticError
        return value


def value_of(term: Term, point: Point, wraps: bool = True) -> Number:
    """The value of a term; `wraps`: as the numbers of the point have it. Raises `ArithmeticError`."""
    total: Number = Fraction(0)
    for c, factors in term:
        part: Number = c
        if point.numbers == WHOLE and (c.denominator != 1 or any(exponent < 0 for _, exponent in factors)):
            raise ArithmeticError
        # what a guard cuts off need not be defined
        if all(atom[0] != "guard" or point.sizes.of(atom[1]) >= 0 for atom, _ in factors):
            for atom, exponent in factors:
                part = part * _power(_atom(atom, point), exponent)
            total = total + part
    return point.wrapped(total) if wraps else total


def _power(value: Number, exponent: int) -> Number:
    if exponent < 0 and abs(value) < 1e-9:
        raise ArithmeticError
    return value**exponent


def _atom(atom: Atom, point: Point) -> Number:
    match atom:
        case ("read", name, *index):
            return point.random(name, [point.sizes.of(k) for k in index])
        case ("num", size):
            return Fraction(point.sizes.of(size))
        case ("guard", _):
            return Fraction(1)
        case ("group", inner):
            return value_of(inner, point)
        case ("total", *_):
            if id(atom) not in point.known:  # with the atom, so that no other one gets its identity
                names = names_in((atom, *point.sizes.made.values(), *point.sizes.equal.values()))
                point.known[id(atom)] = names, atom
            around = [(n, point.sizes[n]) for n in point.bound if n in point.known[id(atom)][0]]
            key = (id(atom), point.seed, point.numbers, *around)
            if key not in point.known:
                point.known[key] = _total(atom, point)
            return point.known[key]
        case ("fn", name, *arguments):
            return _function(name, [value_of(a, point, wraps=name != "positive") for a in arguments], point)
    raise ArithmeticError


def _total(atom: Atom, point: Point) -> Number:
    _, kind, variables, body = atom
    ranges = [range(point.sizes.of(size)) for _, size in variables]
    if math.prod(map(len, ranges)) > _MOST_SUMMANDS or not all(ranges):
        raise ArithmeticError
    values, before, bound = [], dict(point.sizes), point.bound
    point.bound = (*bound, *(name for name, _ in variables))
    try:
        for index in product(*ranges):
            point.sizes.update({name: k for (name, _), k in zip(variables, index)})
            values.append(value_of(body, point))
    finally:
        point.bound = bound
        point.sizes.clear()
        point.sizes.update(before)
    known: Any = {"sum": sum, "max": max, "min": min, "prod": math.prod}.get(kind)
    return point.wrapped(known(values)) if known is not None else _unknown(f"total {kind}", values, point)


def _function(name: str, arguments: list[Number], point: Point) -> Number:
    known = _FUNCTIONS.get(name)
    if not arguments and known is None:
        return point.random(name, ())
    if known is None:
        return _unknown(name, arguments, point)
    if point.numbers == WHOLE and name in _OF_REALS:
        raise ArithmeticError
    try:
        return point.wrapped(known(*arguments))
    except ValueError as error:
        raise ArithmeticError from error


def _unknown(name: str, arguments: list[Number], point: Point) -> Number:
    """A function without a meaning here: any that is smooth, so that rounding does not show."""
    if point.numbers != REAL:
        return point.random(name, [int(a) for a in arguments])
    weights = [(crc32(f"{point.seed} {name} {k}".encode()) % 97 - 48) / 16 for k in range(len(arguments))]
    total = sum((weight * float(a) for weight, a in zip(weights, arguments)), 0.5)
    return math.sin(total) + 1.5 if point.positive else math.sin(total)


def _raised(x: Number, y: Number) -> Number:
    return _power(x, int(y)) if y == int(y) and abs(y) <= 64 else math.pow(x, y)


def _named(table: dict[str, Callable[..., Number]]) -> dict[str, Callable[..., Number]]:
    return {name: function for names, function in table.items() for name in names.split("|")}


_BYTES = _named({
    "number int8|cast int8 int32": lambda x: Fraction((x + 128) // 1 % 256 - 128),
    "number uint8|cast int32 uint8": lambda x: Fraction(math.floor(x) % 256),
    "quantized int8": lambda x, zero: Fraction(min(max(round(x) + math.floor(zero), -128), 127)),
    "quantized uint8": lambda x, zero: Fraction(min(max(round(x) + math.floor(zero), 0), 255)),
})
_OF_REALS = {"max", "maximum", "minimum", "relu", "abs", "clip", "divide", "reciprocal", *_BYTES}
_FUNCTIONS = _BYTES | _named({
    "exp": math.exp, "log": math.log, "log_abs": lambda x: math.log(abs(x)), "power": _raised,
    "very_low": lambda x: -(10**30) * (1 + abs(x)), "outweighed": lambda x: -(10**4) * (1 + abs(x)),
    "infinite": lambda: Fraction(10**30), "IsNaN": lambda x: Fraction(0), "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x), "square": lambda x: x * x, "divide": lambda x, y: x * _power(y, -1),
    "order|wide order": lambda x: x, "reciprocal": lambda x: _power(x, -1), "negative": lambda x: -x,
    "subtract": lambda x, y: x - y, "max|maximum|whole maximum": max, "minimum|whole minimum": min,
    "abs|whole abs": abs, "relu|whole relu": lambda x: max(x, 0), "trunc": lambda x: Fraction(math.trunc(x)),
    "clip|whole clip": lambda x, low, high: min(max(x, low), high),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "HardSigmoid": lambda x, a, b: min(max(a * x + b, 0), 1),
    "Mish": lambda x: x * math.tanh(math.log(1 + math.exp(x))),
    "HardSwish": lambda x: x * min(max(x / 6 + Fraction(1, 2), 0), 1),
    "com.microsoft.QuickGelu": lambda x, a: x / (1 + math.exp(-a * x)),
    "leaky_relu": lambda x, a: x if x > 0 else a * x, "ThresholdedRelu": lambda x, a: x if x > a else 0 * x,
    "Elu": lambda x, a: x if x > 0 else a * (math.exp(x) - 1), "Softsign": lambda x: x / (1 + abs(x)),
    "Celu": lambda x, a: x if x > 0 else a * (math.exp(x / a) - 1),
    "Tanh|tanh|Erf|erf|Sin|sin|Cos|cos": math.tanh, "positive|truth": lambda x: Fraction(x > 0),
    "where|Where": lambda c, x, y: x if c else y, "mod|trunc_mod|Mod": lambda x, y: x - y * math.trunc(x / y),
    "floor_mod": lambda x, y: x - y * math.floor(x / y),
    # of truth values, and polynomials of all other numbers
    "And|logical_and": lambda x, y: x * y, "Or|logical_or": lambda x, y: x + y - x * y,
    "Xor|logical_xor": lambda x, y: x + y - 2 * x * y, "Not|logical_not": lambda x: 1 - x,
    "Equal|equal": lambda x, y: Fraction(x == y), "not_equal": lambda x, y: Fraction(x != y),
    "BitwiseAnd|bitwise_and": lambda x, y: Fraction(int(x) & int(y)),
    "BitwiseOr|bitwise_or": lambda x, y: Fraction(int(x) | int(y)),
    "BitwiseXor|bitwise_xor": lambda x, y: Fraction(int(x) ^ int(y)),
    "BitwiseNot|bitwise_not": lambda x: -x - 1, "Floor|floor": lambda x: Fraction(math.floor(x)),
    "Ceil|ceil": lambda x: Fraction(math.ceil(x)), "Round|round": lambda x: Fraction(round(x)),
    "Sign|sign": lambda x: Fraction((x > 0) - (x < 0)),
})


def near(a: Number, b: Number) -> bool:
    """True if two values are equal: exactly, or approximately if there are floats among them."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b
    return bool(abs(a - b) <= 1e-6 * (1 + abs(a) + abs(b)))
