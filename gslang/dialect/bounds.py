"""Numbers in declared types that a call settles: `rank(data)`, `data.shape[axis] - 1`, `len(axes)`, `groups`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Union

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass

Number = Union[int, float]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A number that is written out."""

    value: Number


@dataclass(frozen=True, slots=True)
class Rank:
    """`rank(data)`: the number of dimensions of an operand; of a tuple, that of its first field."""

    operand: str


@dataclass(frozen=True, slots=True)
class Size:
    """`data.shape[axis]`: one dimension of an operand."""

    operand: str
    axis: Bound


@dataclass(frozen=True, slots=True)
class Count:
    """`len(axes)`: the number of items of another attribute, or of fields of a tuple operand."""

    name: str


@dataclass(frozen=True, slots=True)
class Given:
    """`groups`: the value of another attribute."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left + right`; `sign` is one of `+ - * // %`."""

    sign: str
    left: Bound
    right: Bound


Bound = Union[Fixed, Rank, Size, Count, Given, Arithmetic]


@dataclass(frozen=True)
class Call:
    """The known facts about a call. `shapes`: operand → its shape (of a tuple that of the first field), None
    as a whole or as a dimension where unknown. `counts`: tuple and variadic operands → how many fields.
    `attributes`: complete ones.
    """

    shapes: Mapping[str, tuple[int | None, ...] | None] = field(default_factory=dict)
    attributes: Attrs = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


NOTHING = Call()


def resolve(bound: Bound, call: Call) -> Number | None:
    """The number that a bound is for a call; None where the call does not tell."""
    match bound:
        case Fixed(value):
            return value
        case Rank(operand):
            shape = call.shapes.get(operand)
            return None if shape is None else len(shape)
        case Size(operand, axis):
            shape, place = call.shapes.get(operand), resolve(axis, call)
            if shape is None or not isinstance(place, int) or not -len(shape) <= place < len(shape):
                return None
            return shape[place]
        case Count(name):
            items = call.attributes.get(name)
            return len(items) if isinstance(items, tuple) else call.counts.get(name)
        case Given(attribute):
            given = call.attributes.get(attribute)
            return given if isinstance(given, (int, float)) and not isinstance(given, bool) else None
        case Arithmetic(sign, left, right):
            return _computed(sign, resolve(left, call), resolve(right, call))


def _computed(sign: str, a: Number | None, b: Number | None) -> Number | None:
    if a is None or b is None:
        return None
    match sign:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    if not b:
        return None
    return a // b if sign == "//" else a % b


def negated(bound: Bound) -> Bound:
    """`-bound`."""
    return Fixed(-bound.value) if isinstance(bound, Fixed) else Arithmetic("-", Fixed(0), bound)


_BINDING = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}


def bound_text(bound: Bound, tight: int = 0) -> str:
    """The bound as the language writes it; in parentheses where what surrounds it binds as `tight`."""
    match bound:
        case Fixed(value):
            return repr(value)
        case Rank(operand):
            return f"rank({operand})"
        case Size(operand, axis):
            return f"{operand}.shape[{bound_text(axis)}]"
        case Count(name):
            return f"len({name})"
        case Given(attribute):
            return attribute
        case Arithmetic("-", Fixed(0), right):
            text = f"-{bound_text(right, 2)}"
            return f"({text})" if tight > 1 else text
        case Arithmetic(sign, left, right):
            level = _BINDING[sign]
            text = f"{bound_text(left, level)} {sign} {bound_text(right, level + 1)}"
            return f"({text})" if level < tight else text
