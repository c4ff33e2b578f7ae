"""Shapes for Relay's `reshape`, whose codes say which dimensions are copied, split or merged."""

from __future__ import annotations

from math import prod
from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.sample import Answer, Shape, Shapes, factors, some_shape

_BY_CODE = 0.35  # share of reshapes that say which dimensions stay or are merged
_REST = 0.3  # share of these that say of the last dimensions only that they stay
_LEFT_OPEN = 0.4  # share of such shapes with one size that is to be found


def reshape(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """Shapes of the data, and a new shape: one size left open, codes, or all sizes."""
    new = attrs.get("newshape")
    if known[0] is None and new and min(new) < -1:
        return [_before_reshape(rng, new)], {}
    if known[0] is None and new and all(isinstance(d, int) for d in new):
        stated = tuple(d for d in new if d > 0)
        total = prod(stated)
        shape = (
            tuple(rng.choice((2, 3)) if d == 0 else d for d in new if d >= 0) if 0 in new
            else factors(rng, total * (2 if -1 in new else 1))
        )
        return [shape if rng.random() < 0.7 else (*shape, 2) if -1 in new else shape], {}
    shape = known[0] if known[0] is not None else some_shape(rng, rng.choice((1, 2, 3, 3, 4, 4, 5)))
    target, way = factors(rng, prod(shape)), rng.random()
    if target and way < 0.25:
        k = rng.randrange(len(target))
        target = (*target[:k], -1, *target[k + 1 :])
    elif shape and way < 0.4:
        target = (0, -1) if len(shape) > 1 else (-1,)
    elif shape and way < 0.4 + _BY_CODE:
        parts = rng.choice(((1, -1), (-1, shape[0])))
        rest = rng.choice(((-2,), (0, -2), (-4, *parts, -2), (-3, -2)[-len(shape) :]))
        target = rest if rng.random() < _REST else _coded(rng, shape)
    return [shape], {"newshape": target}


def _coded(rng: Random, shape: Shape) -> Shape:
    """A new shape in which dimensions are copied, split, merged or kept, one of them perhaps left open."""
    target: list[int] = []
    left, codes = list(shape), rng.choice(((0,), (-3,), (-4,), (0, -3, -4)))
    while left:
        size, code = left.pop(0), rng.choice((None, *codes))
        if code == -3 and left:
            left.pop(0)
            target.append(-3)
        elif code == -4:
            first = rng.choice([n for n in range(1, max(size, 1) + 1) if size % n == 0])
            target += [-4, first, rng.choice((size // first, -1))]
        else:
            target.append(0 if code == 0 else size)
    open_sizes = [k for k, n in enumerate(target) if n > 0 and -4 not in target[max(k - 2, 0) : k]]
    if open_sizes and -1 not in target and rng.random() < _LEFT_OPEN:
        target[rng.choice(open_sizes)] = -1
    return tuple(target)


def _before_reshape(rng: Random, new: Shape) -> Shape:
    """A shape that a reshape by codes fits: -3 takes two dimensions, -2 the rest, -4 parts of one."""
    shape: list[int] = []
    left = iter(new)
    for code in left:
        if code == -4:
            parts = (next(left, 1), next(left, 1))
            shape.append(prod([d if d > 0 else rng.choice((2, 3)) for d in parts]))
        else:
            count = rng.choice((0, 1, 2)) if code == -2 else 2 if code == -3 else 1
            shape += [code] if code > 0 else some_shape(rng, count)
    return tuple(shape)
