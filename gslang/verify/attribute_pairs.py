"""Several attributes of one call changed together: some matter only where others have rare values."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TypeGuard

from gslang.check import checked as ir
from gslang.dialect.domain import contains
from gslang.dialect.domain_values import choices
from gslang.verify.neighbours import Point, Wishes, operators_of

_FEWEST = 3  # attributes of a call that leave room for what single ones do not show
_TOGETHER = (2, 2, 3)
_STEPS = (1, 2, 3)  # strides, kernels, dilations
_OFTEN = 0.6
_MOST = 8  # values of one attribute


def several_attributes(rule: ir.CheckedRule, point: Point, random: Random) -> Iterator[Wishes]:
    """Two or three attributes of a call with other values, at random, without end; mostly with one size that
    is larger, since some matter only where a size is even.
    """
    options = {
        key: values for key in point.attributes if len(values := _options(rule, point, key)) > 1
    }
    calls = [
        names for call in dict.fromkeys(call for call, _ in options)
        if len(names := [key for key in options if key[0] == call]) >= _FEWEST
    ]
    while calls:
        names = random.choice(calls)
        change: Wishes = {
            key: random.choice(options[key]) for key in random.sample(names, random.choice(_TOGETHER))
        }
        yield change | (_larger(point, random) if random.random() < _OFTEN else {})


def _larger(point: Point, random: Random) -> Wishes:
    """One input with one or two more elements along an axis."""
    shapes = [(leaf, shape) for leaf, shape in point.shapes.items() if shape and leaf not in point.values]
    if not shapes:
        return {}
    leaf, shape = random.choice(shapes)
    axis = random.randrange(len(shape))
    return {(leaf, "shape"): (*shape[:axis], shape[axis] + random.choice((1, 2)), *shape[axis + 1 :])}


def _options(rule: ir.CheckedRule, point: Point, key: tuple[int, str]) -> list[object]:
    """The present value of an attribute, and others."""
    now, operators = point.attributes[key], operators_of(rule, key[0])
    if _is_list(now):
        return [now, *[(step,) * len(now) for step in _STEPS]]
    spec = rule.dialect.operators[operators[0]].attributes.get(key[1]) if len(operators) == 1 else None
    if spec is None or isinstance(now, tuple):
        return []
    if now is None and any(contains(spec.domain, (step,)) is not False for step in _STEPS):
        given = [value for other, value in point.attributes.items() if other[0] == key[0]]
        lengths = {len(value) for value in given if _is_list(value)}
        return [now, *[(step,) * length for length in sorted(lengths) for step in _STEPS]]
    return list(choices(spec.domain)[:_MOST])


def _is_list(value: object) -> TypeGuard[tuple[int, ...]]:
    return isinstance(value, tuple) and value != () and all(type(item) is int for item in value)
