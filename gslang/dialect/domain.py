"""Domains of attributes: the declared type, read as a set.

`contains` decides membership, three-valued: ranks and sizes may be unknown. `choices` lists values that cover
a domain, and `draw` picks one at random; both in every spelling: negative axes, mixed signs, absent, empty,
each literal, the ends of each range. `domain_text` prints a domain as the language writes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import permutations, product
from random import Random
from typing import Any, Final, Union

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.bounds import NOTHING, Bound, Call, Number, bound_text, resolve
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
    ones are drawn.
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
            return _in_interval(domain, value, call)
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


def _in_interval(domain: Interval, value: object, call: Call) -> bool | None:
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
        size = _modulus(domain.item, call)
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


def _modulus(domain: Domain, call: Call) -> int | None:
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


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────

_FLOATS: Final = (0.0, 1.0, -1.0, 0.5, -0.5, 0.25, 2.0, -2.5, 3.0, 2.0**-17, 10.0)  # their products are exact
_DTYPES: Final = ("float32", "int32", "int64", "bool", "float16", "float64", "int8", "uint8")
MOST: Final = 96  # values that `choices` lists


def choices(domain: Domain, call: Call = NOTHING) -> tuple[Any, ...]:
    """Values that cover the domain, at most `MOST`; none where no value is known to lie in it."""
    found: dict[str, Any] = {}
    for value in _listed(domain, call):
        found.setdefault(repr(value), value)
        if len(found) == MOST:
            break
    return tuple(found.values())


def _listed(domain: Domain, call: Call) -> Iterator[Any]:
    match domain:
        case Exactly(value):
            yield value
        case Interval():
            yield from _points(domain, call)
        case Anything(base, classes):
            yield from _examples(base, classes)
        case Layout(usual):
            yield from usual
        case TupleOf(items):
            yield from _spread([choices(item, call) for item in items])
        case ListOf(item, _, distinct):
            for length in _lengths(domain, call):
                if distinct:
                    yield from _arrangements(item, length, call)
                else:
                    yield from _spread([choices(item, call)] * length)
        case OneOf(parts):
            yield from _in_turn([_listed(part, call) for part in parts])


def _in_turn(sources: list[Iterator[Any]]) -> Iterator[Any]:
    while sources:
        for source in list(sources):
            try:
                yield next(source)
            except StopIteration:
                sources.remove(source)


def _examples(base: str, classes: tuple[str, ...]) -> tuple[Any, ...]:
    if base == "bool":
        return (False, True)
    if base != "dtype":
        return ()
    return tuple(d for d in _DTYPES if not classes or any(in_class(d, c) for c in classes))


def _points(domain: Interval, call: Call) -> Iterator[Number]:
    """Both ends, what lies beside them, and points between."""
    lower = None if domain.lower is None else resolve(domain.lower, call)
    upper = None if domain.upper is None else resolve(domain.upper, call)
    if domain.lower is not None and lower is None or domain.upper is not None and upper is None:
        return
    if domain.base == "float":
        ends = [float(e) for e in (lower, upper) if e is not None]
        middle = [(ends[0] + ends[1]) / 2] if len(ends) == 2 else []
        yield from (v for v in (*ends, *middle, *_FLOATS) if _in_interval(domain, v, call))
        return
    first = None if lower is None else math.floor(lower) + 1 if domain.above else math.ceil(lower)
    last = None if upper is None else math.ceil(upper) - 1 if domain.below else math.floor(upper)
    if first is not None and last is not None:
        if last - first < 16:
            yield from range(first, last + 1)
        else:
            yield from (first, first + 1, (first + last) // 2, last - 1, last)
    elif first is not None:
        yield from (first, first + 1, first + 2, first + 3, first + 7)
    elif last is not None:
        yield from (last, last - 1, last - 2, last - 3)
    else:
        yield from (0, 1, -1, 2, 3, -3)


def _lengths(domain: ListOf, call: Call) -> list[int]:
    """Lengths to try: all that are fixed, the least ones of a range."""
    found: list[int] = []
    for length in domain.lengths or ((0, None),):
        if isinstance(length, tuple):
            most = length[0] + 3 if length[1] is None else length[1]
            if domain.distinct and (size := _modulus(domain.item, call)) is not None:
                most = min(most, size)
            found += range(length[0], min(most, length[0] + 4) + 1)
        elif isinstance(known := resolve(length, call), int) and known >= 0:
            found.append(known)
    return list(dict.fromkeys(found))


def _spread(columns: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows that have every value of every column; all rows where they are few."""
    if not all(columns):
        return
    if math.prod(map(len, columns)) <= 32:
        yield from product(*columns)
        return
    longest = max(map(len, columns))
    for k in range(longest):
        yield tuple(column[k % len(column)] for column in columns)
        yield tuple(column[(k + place) % len(column)] for place, column in enumerate(columns))


def _arrangements(item: Domain, length: int, call: Call) -> Iterator[tuple[Any, ...]]:
    """Lists of different items; axes from the front, from the back, and mixed."""
    size = _modulus(item, call)
    pool = choices(item, call) if size is None else tuple(range(size))
    for k, chosen in enumerate(permutations(pool, length)):
        if k == 24:
            break
        yield chosen
        if size is not None and length:
            yield tuple(a - size for a in chosen)
            yield tuple(a - size if place == k % length else a for place, a in enumerate(chosen))


def draw(domain: Domain, rng: Random, call: Call = NOTHING) -> Any:
    """A value of the domain, each literal and each end of a range as likely as what lies between.

    Raises `LookupError` where no value is known to lie in it.
    """
    match domain:
        case OneOf(parts):
            return draw(rng.choice([part for part in parts if _is_inhabited(part, call)]), rng, call)
        case TupleOf(items):
            return tuple([draw(item, rng, call) for item in items])
        case ListOf(item, _, distinct):
            length = rng.choice([n for n in _lengths(domain, call) if not n or _is_inhabited(item, call)])
            if not distinct:
                return tuple([draw(item, rng, call) for _ in range(length)])
            size = _modulus(item, call)
            pool = choices(item, call) if size is None else range(size)
            if length > len(pool):
                raise LookupError("not so many different items")
            return _spelled(rng, rng.sample(pool, length), size)
    return rng.choice(choices(domain, call))


def _spelled(rng: Random, axes: list[Any], size: int | None) -> tuple[Any, ...]:
    """Axes counted from the front, from the back, or each as it comes."""
    style = rng.randrange(3) if size is not None else 0
    return tuple([a - (size or 0) if style == 1 or style == 2 and rng.random() < 0.5 else a for a in axes])


def _is_inhabited(domain: Domain, call: Call) -> bool:
    return next(_listed(domain, call), domain) is not domain


# ── about domains ───────────────────────────────────────────────────────────────────────────────────────────


def is_declared(domain: Domain) -> bool:
    """False where nothing says which values there are: a plain `str`, `int`, `array`, `graph` or `tensor`, or
    a list of such.
    """
    match domain:
        case Interval(base, None, None):
            return base == "float"
        case Anything(base):
            return base in ("bool", "dtype")
        case ListOf(item):
            return is_declared(item)
        case TupleOf(items):
            return all(map(is_declared, items))
        case OneOf(parts):
            return any(is_declared(part) and part != Exactly(None) for part in parts)
    return True


def literals(domain: Domain) -> tuple[Any, ...]:
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


def domain_text(domain: Domain) -> str:
    """The domain as a declaration writes it."""
    match domain:
        case Exactly(value):
            return value_text(value)
        case Interval():
            return _interval_text(domain)
        case Anything(base, classes):
            return base + (f"({' | '.join(classes)})" if classes else "")
        case Layout(usual):
            return f"layout({' | '.join(map(value_text, usual))})"
        case TupleOf(items):
            return f"({', '.join(map(domain_text, items))})"
        case ListOf(item, lengths, distinct):
            inner = domain_text(item)
            if distinct:
                inner = f"distinct({inner})"
            elif isinstance(item, OneOf) or isinstance(item, Interval) and " " in inner:
                inner = f"({inner})"
            return f"{inner}[{' | '.join(map(_length_text, lengths))}]"
        case OneOf((first, Exactly(None))) if not isinstance(first, (Exactly, OneOf)):
            inner = domain_text(first)
            return f"({inner})?" if isinstance(first, Interval) and " " in inner else f"{inner}?"
        case OneOf(parts):
            return " | ".join(map(domain_text, parts))


def _interval_text(domain: Interval) -> str:
    lower = None if domain.lower is None else bound_text(domain.lower)
    upper = None if domain.upper is None else bound_text(domain.upper)
    if lower is not None and upper is not None:
        return (
            f"{domain.base} in {lower} ..< {upper}" if domain.below else f"{domain.base} in {lower}..{upper}"
        )
    if lower is not None:
        return f"{domain.base} {'>' if domain.above else '>='} {lower}"
    return domain.base if upper is None else f"{domain.base} {'<' if domain.below else '<='} {upper}"


def _length_text(length: Bound | tuple[int, int | None]) -> str:
    if isinstance(length, tuple):
        return f"{length[0]}..{'' if length[1] is None else length[1]}"
    return bound_text(length)


def value_text(value: object) -> str:
    """A value as the language writes it."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case tuple():
            return "(" + ", ".join(map(value_text, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)
