"""Domains of attributes: the declared type, read as a set.

`contains` decides membership, three-valued: ranks and sizes may be unknown. Values of domains are in
`domain_values`, their text in `domain_text`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Union

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.bounds import NOTHING, Bound, Call, resolve
from gslang.dialect.dtypes import dtype_exists, in_class

Lengths = tuple[Union[Bound, "tuple[int, int | None]"], ...]


@dataclass(frozen=True, slots=True)
class Exactly:
    """One value: `"constant"`, `0`, `none`."""

    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Interval:
    """`int` or `float` between bounds; None for none. `above`, `below`: the bound itself is excluded."""

    base: str
    lower: Bound | None = None
    upper: Bound | None = None
    above: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True)
class Anything:
    """Every value of a kind: `bool`, `str`, `array`, `graph`, `tensor`, or `dtype` (of `classes`, if there
    are any).
    """

    base: str
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """A text with the same axes as `usual[0]` in any order, some of them split: `NHWC`, `NCHW4c`. `usual`
    ones are drawn mostly.
    """

    usual: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A tuple of any of these lengths (none: any length).

    `distinct`: its items differ, −1 and rank − 1 being the same.
    """

    item: Domain
    lengths: Lengths = ()
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class TupleOf:
    """A tuple with one item of each."""

    items: tuple[Domain, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The union."""

    parts: tuple[Domain, ...]


Domain = Union[Exactly, Interval, Anything, Layout, ListOf, TupleOf, OneOf]


# ── membership ──────────────────────────────────────────────────────────────────────────────────────────────


def contains(domain: Domain, value: object, call: Call = NOTHING) -> bool | None:
    """True if the value lies in the domain; None if that depends on what `call` does not tell."""
    match domain:
        case Exactly(wanted):
            return _same(value, wanted)
        case Interval():
            return in_interval(domain, value, call)
        case Anything(base, classes):
            return _is_any(value, base, classes)
        case Layout(usual):
            return isinstance(value, str) and layout_axes(value) == layout_axes(usual[0])
        case TupleOf(items):
            if not isinstance(value, tuple) or len(value) != len(items):
                return False
            return _all(contains(part, item, call) for part, item in zip(items, value))
        case ListOf():
            return _in_list(domain, value, call)
        case OneOf(parts):
            found = [contains(part, value, call) for part in parts]
            return True if True in found else None if None in found else False


def _all(found: Iterable[bool | None]) -> bool | None:
    known = list(found)
    return False if False in known else None if None in known else True


def _same(value: object, wanted: object) -> bool:
    """Equal, and of one kind: `1` is not `true`, but a float may be written as an integer, and is compared as
    float32.
    """
    if isinstance(wanted, bool) or isinstance(value, bool):
        return value is wanted
    if isinstance(wanted, float):
        return isinstance(value, (int, float)) and math.isclose(value, wanted, rel_tol=1e-6)
    return type(value) is type(wanted) and bool(value == wanted)


def in_interval(domain: Interval, value: object, call: Call) -> bool | None:
    if (
        isinstance(value, bool) or not isinstance(value, (int, float)) or domain.base == "int"
        and isinstance(value, float)
    ):
        return False
    tests: list[bool | None] = []
    if domain.lower is not None:
        least = resolve(domain.lower, call)
        tests.append(None if least is None else value > least if domain.above else value >= least)
    if domain.upper is not None:
        most = resolve(domain.upper, call)
        tests.append(None if most is None else value < most if domain.below else value <= most)
    return _all(tests)


def _is_any(value: object, base: str, classes: tuple[str, ...]) -> bool:
    match base:
        case "bool":
            return isinstance(value, bool)
        case "str":
            return isinstance(value, str)
        case "dtype":
            return (
                isinstance(value, str) and dtype_exists(value)
                and (not classes or any(in_class(value, c) for c in classes))
            )
    return True


def _in_list(domain: ListOf, value: object, call: Call) -> bool | None:
    if not isinstance(value, tuple):
        return False
    fits = [_has_length(len(value), length, call) for length in domain.lengths]
    length = True if not fits or True in fits else None if None in fits else False
    different: bool | None = True
    if domain.distinct:
        size = modulus(domain.item, call)
        reduced = [item % size if size and isinstance(item, int) else item for item in value]
        different = len(set(map(repr, reduced))) == len(value)
        if different and size is None and any(isinstance(item, int) and item < 0 for item in value):
            different = None
    return _all([length, different, *[contains(domain.item, item, call) for item in value]])


def _has_length(count: int, length: Bound | tuple[int, int | None], call: Call) -> bool | None:
    if isinstance(length, tuple):
        return length[0] <= count and (length[1] is None or count <= length[1])
    wanted = resolve(length, call)
    return None if wanted is None else count == wanted


def modulus(domain: Domain, call: Call) -> int | None:
    """n of a range `-n ..< n`, whose negative values count from the end; None for other domains, or where n
    is unknown.
    """
    if not isinstance(domain, Interval) or domain.lower is None or domain.upper is None or not domain.below:
        return None
    lower, upper = resolve(domain.lower, call), resolve(domain.upper, call)
    return upper if isinstance(upper, int) and upper > 0 and lower == -upper else None


def layout_axes(layout: str) -> tuple[str, ...] | None:
    """The axes of a layout, sorted, each once, whether split or not; None for a text that is not a layout."""
    whole = [c for c in layout if c.isupper()]
    number, split = "", []
    for c in layout:
        if c.isdigit():
            number += c
        elif c.islower() and number.strip("0"):
            split.append(c.upper())
            number = ""
        elif not c.isupper() or number:
            return None
    if number or len(set(whole)) != len(whole) or not set(split) <= set(whole):
        return None
    return tuple(sorted(whole))


def literals(domain: Domain) -> tuple[object, ...]:
    """Values that stand in the declaration one by one, also of a list's items; without `none`."""
    match domain:
        case Exactly(value):
            return () if value is None else (value,)
        case Layout(usual):
            return usual
        case OneOf(parts):
            return tuple(dict.fromkeys(value for part in parts for value in literals(part)))
        case ListOf(item):
            return literals(item)
    return ()


