"""Shapes, attributes and constant operands for ONNX operators that move elements (as `onnx_samplers`)."""

from __future__ import annotations

from math import prod
from random import Random
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.samplers import (
    Answer,
    Sampler,
    Shapes,
    any_axis,
    data_shape,
    factors,
    fill,
    least_rank,
    some_shape,
)


def _flatten(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    data = data_shape(rng, known, least_rank(axis))
    return fill(known, data), {"axis": rng.randint(-len(data), len(data)) if data else 0}


def _transpose(rng: Random, known: Shapes, given: Attrs) -> Answer:
    perm = given.get("perm")
    data = some_shape(rng, len(perm)) if perm and known[0] is None else data_shape(rng, known, 2)
    order = rng.sample(range(len(data)), len(data))
    return fill(known, data), {
        "perm": rng.choice((tuple(order), tuple(order), tuple(range(len(data))), None))
    }


def _concat(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    base = next((s for s in known if s is not None), None)
    base = (
        base if base is not None
        else some_shape(rng, rng.choice([r for r in (1, 2, 3, 4) if r >= least_rank(axis)] or [4]))
    )
    axis = axis if axis is not None else any_axis(rng, len(base))
    shapes = []
    for s in known:
        at = axis % len(base) if base else 0
        shapes.append(
            s if s is not None
            else tuple(rng.choice((1, 2, 3, d)) if k == at else d for k, d in enumerate(base))
        )
    return shapes, {"axis": axis}


def _split(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis, parts, lengths = given.get("axis"), given.get("num_outputs"), given.get("%1")
    data = data_shape(rng, known, least_rank(axis))
    axis = axis if axis is not None else any_axis(rng, len(data))
    at = axis % len(data) if data else 0
    if known[0] is None:
        size = sum(lengths) if lengths is not None else (parts or 2) * rng.choice((1, 2))
        data = tuple(size if k == at else d for k, d in enumerate(data))
    size = data[at] if data else 1
    if len(known) > 1:  # lengths as an operand
        first = rng.randint(1, size - 1) if size > 1 else size
        return fill(known, data, (2 if size > 1 else 1,)), {
            "axis": axis,
            "%1": (first, size - first) if size > 1 else (size,),
        }
    return fill(known, data), {"axis": axis, "num_outputs": rng.choice([n for n in (2, 3, 1) if n <= size])}


def _squeeze(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes = given.get("%1")
    data = data_shape(rng, known, max(2, least_rank(axes)))
    if known[0] is None:
        places = [a % len(data) for a in axes] if axes else [rng.randrange(len(data))]
        data = tuple(1 if k in places else d for k, d in enumerate(data))
    ones = tuple(k for k, d in enumerate(data) if d == 1)
    chosen = rng.choice((ones, ones[:1], tuple(a - len(data) for a in ones)))
    return fill(known, data, (len(chosen),)), {"%1": chosen} if chosen else {}


def _unsqueeze(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = known[0] if known[0] is not None else some_shape(rng, rng.choice((1, 2, 2, 3)))
    count = rng.choice((1, 1, 2))
    places = tuple(sorted(rng.sample(range(len(data) + count), count)))
    chosen = rng.choice((places, tuple(a - len(data) - count for a in places)))
    return fill(known, data, (len(chosen),)), {"%1": chosen}


def _reshape(rng: Random, known: Shapes, given: Attrs) -> Answer:
    wanted = given.get("%1")
    if known[0] is None and wanted and all(isinstance(d, int) for d in wanted):
        total = prod(d for d in wanted if d > 0) * (2 if -1 in wanted else 1)
        data = (
            tuple(rng.choice((2, 3)) if d == 0 else 2 if d == -1 else d for d in wanted)
            if 0 in wanted or rng.random() < 0.4
            else factors(rng, total)
        )
        return fill(known, data, (len(wanted),)), {}
    if given.get("%rank") == 4 and (known[0] is None or len(known[0]) == 3) and wanted is None:  # heads
        data = known[0] or (rng.choice((1, 2)), rng.choice((3, 3, 4)), rng.choice((4, 4, 6)))
        return fill(known, data, (4,)), {"%1": (rng.choice((0, data[0])), data[1], 2, data[2] // 2)}
    data = data_shape(rng, known)
    kept = rng.choice((0, 0, 0, 1, 2))  # conditions often keep the first dimensions
    target = rng.choice(((*data[:kept], *factors(rng, prod(data[kept:]))), data))
    if len(data) == 4 and rng.random() < 0.3:
        target = (*data[:2], data[2] * data[3])
    if target and rng.random() < 0.3:
        k = rng.randrange(len(target))
        target = (*target[:k], -1, *target[k + 1 :])
    elif len(data) > 1 and rng.random() < 0.2:
        target = (0, -1)
    return fill(known, data, (len(target),)), {"%1": target}


def _expand(rng: Random, known: Shapes, given: Attrs) -> Answer:
    wanted = given.get("%1")
    if known[0] is None and wanted and all(isinstance(d, int) for d in wanted):
        return fill(known, tuple(1 if rng.random() < 0.4 else d for d in wanted), (len(wanted),)), {}
    data = data_shape(rng, known)
    target = (*rng.choice(((), (), (2,))), *[d if d != 1 else rng.choice((1, 3)) for d in data])
    return fill(known, data, (len(target),)), {"%1": target}


def _tile(rng: Random, known: Shapes, given: Attrs) -> Answer:
    times = given.get("%1")
    data = some_shape(rng, len(times)) if times and known[0] is None else data_shape(rng, known)
    return fill(known, data, (len(data),)), {"%1": tuple(rng.choice((1, 1, 2)) for _ in data)}


def _pad(rng: Random, known: Shapes, given: Attrs) -> Answer:
    pads = given.get("%1")
    data = (
        known[0] if known[0] is not None
        else some_shape(rng, len(pads) // 2) if pads
        else data_shape(rng, known, 2)
    )
    kind = rng.random()
    widths = [
        0 if kind < 0.2 or (kind < 0.7 and k % len(data) < 2 < len(data)) else rng.randrange(3)
        for k in range(2 * len(data))
    ]
    return fill(known, data, (2 * len(data),)), {
        "%1": tuple(widths),
        "%3": tuple(range(len(data))),
        "mode": "constant",
    }


def _slice(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes = given.get("%3")
    starts, ends = given.get("%1"), given.get("%2")
    count = next((len(bound) for bound in (starts, ends) if bound is not None), None)
    least = max(least_rank(axes), count or 1)
    data = (
        known[0] if known[0] is not None
        else tuple(
            d + 2 for d in some_shape(rng, rng.choice([r for r in (1, 2, 2, 3) if r >= least] or [least]))
        )
    )
    if axes is None:
        number = count or (
            len(data) if len(known) < 4 or known[3] == () else rng.randint(1, max(1, len(data)))
        )
        axes = (
            tuple(range(len(data)))[:number] if len(known) < 4
            else tuple(sorted(rng.sample(range(len(data)), min(number, len(data)))))
        )
    whole = rng.random() < 0.25
    sizes = [data[a % len(data)] for a in axes] if data else []
    plain = rng.random() < 0.6
    steps = given.get("%4") or tuple(1 if plain else rng.choice((1, 2, 3, -1, -2)) for _ in axes)
    bounds = [_bounds(rng, size, steps[k] if k < len(steps) else 1, whole) for k, size in enumerate(sizes)]
    shape = (len(axes),)
    return fill(known, data, shape, shape, shape, shape), {
        "%1": tuple(b for b, _ in bounds),
        "%2": tuple(e for _, e in bounds),
        "%3": axes,
        "%4": steps,
    }


def _bounds(rng: Random, size: int, step: int, whole: bool) -> tuple[int, int]:
    """(start, end) of a slice with some elements: all if `whole`, sometimes counted from the end, or beyond
    it.
    """
    first = 0 if whole else rng.randrange(max(1, size // 2))
    behind = size if whole or rng.random() < 0.3 else rng.randint(first + 1, max(first + 1, size))
    if step < 0:
        first, behind = size - 1 - first, size - 1 - behind  # -1 here is what is before the first element
        return first, behind - size if behind < 0 else behind
    match rng.randrange(8):
        case 0:
            return first - size, behind if behind == size else behind - size
        case 1 if behind == size:
            return first, 2**31 - 1
    return first, behind


def _gather(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis, indices = given.get("axis"), given.get("%1")
    data = data_shape(rng, known, least_rank(axis))
    axis = axis if axis is not None else any_axis(rng, len(data))
    size = data[axis % len(data)] if data else 1
    least = -size if rng.random() < 0.3 else 0  # indices below 0 count from the end
    chosen: Any = rng.choice(
        (rng.randrange(least, size), tuple(rng.randrange(least, size) for _ in range(rng.choice((1, 2, 3)))))
    )
    chosen = indices if indices is not None else chosen
    return fill(known, data, () if isinstance(chosen, int) else (len(chosen),)), {"axis": axis, "%1": chosen}


def _gather_nd(rng: Random, known: Shapes, given: Attrs) -> Answer:
    batch = given.get("batch_dims")
    batch = rng.choice((0, 0, 1, 2)) if batch is None else batch
    data = data_shape(rng, known, batch + 1)
    batch = max(min(batch, len(data) - 1), 0)
    depth = rng.randint(1, max(len(data) - batch, 1))
    return fill(known, data, (*data[:batch], rng.choice((1, 2, 3)), depth)), {"batch_dims": batch}


def _blocks(to_space: bool) -> Sampler:
    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        block = given.get("blocksize", 2)
        data = (
            (rng.choice((1, 2)), block * block * 2, 2, 3) if to_space
            else (rng.choice((1, 2)), 2, block * 2, block * 3)
        )
        return fill(known, data), {"blocksize": block, "mode": rng.choice(("DCR", "CRD"))}

    return sample


ONNX_MOVEMENT_SAMPLERS: dict[str, Sampler] = {
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Concat": _concat,
    "Split": _split,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Reshape": _reshape,
    "Expand": _expand,
    "Tile": _tile,
    "Pad": _pad,
    "Slice": _slice,
    "Gather": _gather,
    "GatherND": _gather_nd,
    "DepthToSpace": _blocks(True),
    "SpaceToDepth": _blocks(False),
}
