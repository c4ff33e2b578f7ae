"""Operand shapes and numbers of slices: starts, ends, axes and steps, as ONNX's `Slice` has them."""

from __future__ import annotations

from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.sample import Answer, Shapes, fill, least_rank, some_shape, written

_WHOLE = (0.25, 0.5, 0.75)  # share of slices to the end: nothing is stated, a start or a step, both
_WRAPPED = 0.03  # share of slices from the last element to the first, which are empty


def slices(rng: Random, known: Shapes, given: Attrs) -> Answer:
    absent = {k for k in (3, 4) if k >= len(known) or k in given.get("%absent", ())}
    axes = given.get("%3")
    starts, ends = given.get("%1"), given.get("%2")
    count = next((len(bound) for bound in (starts, ends) if bound is not None), None) or next(
        (shape[0] for shape in known[1:4] if shape), None
    )
    least = max(least_rank(axes), count or 1)
    data = (
        known[0] if known[0] is not None
        else tuple(
            d + 2 for d in some_shape(rng, rng.choice([r for r in (1, 2, 2, 3) if r >= least] or [least]))
        )
    )
    if axes is None:
        number = count or (
            len(data) if 3 in absent or known[3] == () else rng.randint(1, max(1, len(data)))
        )
        axes = (
            tuple(range(len(data)))[:number] if 3 in absent
            else written(rng, sorted(rng.sample(range(len(data)), min(number, len(data)))), len(data))
        )
    # from a start that is stated mostly to the end
    whole = rng.random() < _WHOLE[sum(bound is not None for bound in (starts, given.get("%4")))]
    sizes = [data[a % len(data)] for a in axes] if data else []
    plain = 4 in absent or rng.random() < 0.6
    steps = given.get("%4") or tuple(1 if plain else rng.choice((1, 2, 3, -1, -2)) for _ in axes)
    bounds = [
        _bounds(rng, size, _item(steps, k) or 1, whole, _item(starts, k)) for k, size in enumerate(sizes)
    ]
    shape = (len(axes),)
    return fill(known, data, shape, shape, shape, shape), {
        "%1": tuple(b for b, _ in bounds),
        "%2": tuple(e for _, e in bounds),
        "%3": axes,
        "%4": steps,
    }


def _item(values: tuple[int, ...] | None, k: int) -> int | None:
    return values[k] if values is not None and k < len(values) else None


def _bounds(rng: Random, size: int, step: int, whole: bool, start: int | None) -> tuple[int, int]:
    """(start, end) of a slice with some elements: to the last (from the start, if one is stated) if `whole`,
    sometimes counted from the end, or beyond it. Seldom one without any, from -1 to the 0 that follows it.
    """
    if start in (None, -1) and step == 1 and rng.random() < _WRAPPED:
        return -1, 0
    # every second element has two starts: a slice to the end has as many elements from either
    first = rng.randrange(max(1, min(abs(step), size) if whole else size // 2))
    if start is not None and -size <= start < size:
        first = start % size if step > 0 else size - 1 - start % size
    behind = size if whole or rng.random() < 0.3 else rng.randint(first + 1, max(first + 1, size))
    if step < 0:
        first, behind = size - 1 - first, size - 1 - behind  # -1 here is what is before the first element
        return first, behind - size if behind < 0 else behind
    match rng.randrange(8):
        case 0 | 2:
            return first - size, behind if behind == size else behind - size
        case 1 if behind == size:
            return first, rng.choice((2**31 - 1, 2**63 - 1))
    return first, behind
