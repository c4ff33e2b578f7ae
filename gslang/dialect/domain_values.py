"""Values of domains: `choices` lists some that cover one, `draw` picks one at random.

Both in every spelling: negative axes, mixed signs, absent, empty, each literal, the ends of each range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product
from random import Random
from typing import Any, Final

from gslang.dialect.bounds import NOTHING, Call, Number, resolve
from gslang.dialect.domain import (
    Anything,
    Domain,
    Exactly,
    Interval,
    Layout,
    ListOf,
    OneOf,
    TupleOf,
    in_interval,
    modulus,
)
from gslang.dialect.dtypes import PLAIN, in_class

_FLOATS: Final = (0.0, 1.0, -1.0, 0.5, -0.5, 0.25, 2.0, -2.5, 3.0, 2.0**-17, 10.0)  # their products are exact
_DTYPES: Final = ("float32", "int32", "int64", "bool", "float16", "float64", "int8", "uint8")
_UNUSUAL: Final = 0.25  # share of layouts with two axes swapped
_MOST: Final = 96  # values that `choices` lists


def choices(domain: Domain, call: Call = NOTHING) -> tuple[Any, ...]:
    """Values that cover the domain, at most `_MOST`; none where no value is known to lie in it."""
    found: dict[str, object] = {}
    for value in _listed(domain, call):
        found.setdefault(repr(value), value)
        if len(found) == _MOST:
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


def _in_turn(sources: list[Iterator[object]]) -> Iterator[object]:
    while sources:
        for source in list(sources):
            try:
                yield next(source)
            except StopIteration:
                sources.remove(source)


def _examples(base: str, classes: tuple[str, ...]) -> tuple[object, ...]:
    if base == "bool":
        return (False, True)
    if base != "dtype":
        return ()
    named = [c for c in classes if c in PLAIN and c not in _DTYPES]
    return (*(d for d in _DTYPES if not classes or any(in_class(d, c) for c in classes)), *named)


def _points(domain: Interval, call: Call) -> Iterator[Number]:
    """Both ends, what lies beside them, and points between."""
    lower = None if domain.lower is None else resolve(domain.lower, call)
    upper = None if domain.upper is None else resolve(domain.upper, call)
    if domain.lower is not None and lower is None or domain.upper is not None and upper is None:
        return
    if domain.base == "float":
        ends = [float(e) for e in (lower, upper) if e is not None]
        middle = [(ends[0] + ends[1]) / 2] if len(ends) == 2 else []
        yield from (v for v in (*ends, *middle, *_FLOATS) if in_interval(domain, v, call))
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
            if domain.distinct and (size := modulus(domain.item, call)) is not None:
                most = min(most, size)
            found += range(length[0], min(most, length[0] + 4) + 1)
        elif isinstance(known := resolve(length, call), int) and known >= 0:
            found.append(known)
    return list(dict.fromkeys(found))


def _spread(columns: list[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
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


def _arrangements(item: Domain, length: int, call: Call) -> Iterator[tuple[object, ...]]:
    """Lists of different items; axes from the front, from the back, and mixed."""
    size = modulus(item, call)
    pool = choices(item, call) if size is None else tuple(range(size))
    for k, chosen in enumerate(permutations(pool, length)):
        if k == 24:
            break
        yield chosen
        if size is not None and length:
            yield tuple(a - size for a in chosen)
            yield tuple(a - size if place == k % length else a for place, a in enumerate(chosen))


def draw(domain: Domain, rng: Random, call: Call = NOTHING) -> Any:
    """A value of the domain, each literal and each end of a range as likely as what lies between; of layouts
    mostly a usual one.

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
            size = modulus(item, call)
            pool = choices(item, call) if size is None else range(size)
            if length > len(pool):
                raise LookupError("not so many different items")
            return _spelled(rng, rng.sample(pool, length), size)
        case Layout(usual) if rng.random() < _UNUSUAL:
            return _swapped(rng, rng.choice(usual))
    return rng.choice(choices(domain, call))


def _swapped(rng: Random, layout: str) -> str:
    """A layout with two of its axes swapped; itself where some are split."""
    if not layout.isupper() or not layout.isalpha():
        return layout
    a, b = rng.sample(range(len(layout)), 2)
    order = list(layout)
    order[a], order[b] = order[b], order[a]
    return "".join(order)


def _spelled(rng: Random, axes: list[Any], size: int | None) -> tuple[Any, ...]:
    """Axes counted from the front, from the back, or each as it comes."""
    style = rng.randrange(3) if size is not None else 0
    return tuple([a - (size or 0) if style == 1 or style == 2 and rng.random() < 0.5 else a for a in axes])


def _is_inhabited(domain: Domain, call: Call) -> bool:
    return next(_listed(domain, call), domain) is not domain
