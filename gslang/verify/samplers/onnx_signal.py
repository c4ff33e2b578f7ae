"""Operand shapes, attributes and constant operands that fit ONNX operators on signals, grids, boxes, caches
and sequences: their numbers depend on one another, and at random hardly ever fit.
"""

from __future__ import annotations

from math import prod
from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.sample import Answer, Only, Sampler, Shapes, fill, nested, some_shape


def _dft(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """A real signal, or a complex one, which alone can have half of a spectrum. Also longer and shorter ones
    than the transform takes."""
    inverse = given.get("inverse", rng.choice((0, 0, 1)))
    onesided = given.get("onesided", rng.choice((0, 0, 1)))
    parts = 2 if onesided and inverse else 1 if onesided else rng.choice((1, 2))
    data = known[0] or (*rng.choice(((2,), (1,), (2, 3))), rng.choice((4, 5, 6)), parts)
    rank = len(data)
    axis = given.get("%2")
    if not isinstance(axis, int):
        axis = -2 if 2 in given.get("%absent", ()) or len(known) < 3 else rng.choice([*range(rank - 1), -2])
    size = data[axis % rank] if rank else 1
    return fill(known, data, (), ()), {
        "%1": Only(max(1, size + rng.choice((0, 0, -1, 1, 2)))), "%2": Only(axis),
        "inverse": inverse, "onesided": onesided,
    }  # fmt: skip


def _stft(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Windows of a real signal that fit into it."""
    window, stated = known[2] if len(known) > 2 else None, given.get("%3")
    length = window[0] if window else stated if isinstance(stated, int) else rng.choice((4, 5))
    data = known[0] or (rng.choice((1, 2)), length + rng.choice((0, 3, 6)), 1)
    return fill(known, data, (), (length,), ()), {
        "%1": Only(rng.choice((1, 2, 3))), "%3": Only(length), "onesided": rng.choice((0, 1)),
    }  # fmt: skip


def _affine_grid(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """A map for each image or body."""
    axes = known[0][1] if known[0] and len(known[0]) > 1 else rng.choice((2, 2, 3))
    batch = known[0][0] if known[0] else rng.choice((1, 2, 3))
    size = (batch, rng.choice((1, 2)), *[rng.choice((2, 3, 4)) for _ in range(axes)])
    attrs = {"%1": size, "align_corners": rng.choice((0, 1))}
    return fill(known, (batch, axes, axes + 1), (len(size),)), attrs


def _suppression(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Some boxes, and scores of each for each class."""
    boxes, scores = known[0], known[1] if len(known) > 1 else None
    batch, count = boxes[:2] if boxes else (scores[0], scores[2]) if scores else (rng.choice((1, 2)), 5)
    return fill(known, (batch, count, 4), (batch, rng.choice((1, 2)), count), (1,), (1,), (1,)), {
        "%2": Only((rng.choice((1, 2, 5)),)), "%3": Only((rng.choice((0.25, 0.5)),)),
        "%4": Only((rng.choice((0.0, 0.25)),)), "center_point_box": rng.choice((0, 1)),
    }  # fmt: skip


def _tensor_scatter(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Fewer new places than there are, within them, or beyond their end and on from the first."""
    cache = known[0] or some_shape(rng, rng.choice((2, 3, 4)))
    axis = given.get("axis", rng.choice([*range(1, len(cache)), -1, -2] if len(cache) > 2 else (1, -1)))
    at, mode = axis % len(cache), given.get("mode", rng.choice(("linear", "circular")))
    count = known[1][at] if len(known) > 1 and known[1] else rng.randint(1, max(1, cache[at]))
    last = cache[at] - (count if mode == "linear" else 1)
    update = tuple(count if k == at else d for k, d in enumerate(cache))
    return fill(known, cache, update, (cache[0],)), {
        "%2": tuple(rng.randint(0, max(0, last)) for _ in range(cache[0])), "axis": axis, "mode": mode,
    }  # fmt: skip


def _unpool(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Different places for all elements."""
    data = known[0] or (rng.choice((1, 2)), rng.choice((1, 2)), *rng.choice(((2,), (2, 3), (3, 2))))
    rank = len(data) - 2
    window = given.get("kernel_shape") or (2,) * rank
    strides = given.get("strides") or (2,) * rank
    result = (*data[:2], *[(d - 1) * s + w for d, s, w in zip(data[2:], strides, window)])
    places = rng.sample(range(prod(result)), prod(data)) if prod(data) <= prod(result) else [0] * prod(data)
    return fill(known, data, data, (len(data),)), {
        "%1": nested(data, places), "%2": result, "kernel_shape": window, "strides": strides,
    }  # fmt: skip


def _upsample(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = known[0] or some_shape(rng, rng.choice((2, 3, 4, 4)))
    scales = tuple(rng.choice((1.0, 2.0, 3.0)) if k > 1 or len(data) < 3 else 1.0 for k in range(len(data)))
    return fill(known, data, (len(data),)), {"%1": Only(scales), "mode": "nearest"}


def _deformed(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Two offsets for each place of a window on each place of the result, and a factor."""
    data, weight = known[0], known[1] if len(known) > 1 else None
    channels = data[1] if data else weight[1] if weight else rng.choice((1, 2))
    weight = weight or (rng.choice((1, 3)), channels, *rng.choice(((1, 1), (2, 2), (1, 2))))
    data = data or (rng.choice((1, 2)), channels, rng.choice((3, 4)), rng.choice((4, 5)))
    window = prod(weight[2:])
    places = tuple(max(1, d - w + 1) for d, w in zip(data[2:], weight[2:]))
    shapes = (data[0], 2 * window, *places), (weight[0],), (data[0], window, *places)
    return fill(known, data, weight, *shapes), {}


def _place_in_sequence(operand: int) -> Sampler:
    """A place in a sequence of at least two tensors."""

    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        data = next((s for s in known[1:operand] if s is not None), None) or some_shape(rng)
        return fill(known, (), *[data] * (operand - 1), ()), {f"%{operand}": Only(rng.choice((0, 1, -1, -2)))}

    return sample


SIGNAL_SAMPLERS: dict[str, Sampler] = {
    "DFT": _dft,
    "STFT": _stft,
    "AffineGrid": _affine_grid,
    "NonMaxSuppression": _suppression,
    "TensorScatter": _tensor_scatter,
    "MaxUnpool": _unpool,
    "Upsample": _upsample,
    "DeformConv": _deformed,
    "SequenceAt": _place_in_sequence(1),
    "SequenceErase": _place_in_sequence(1),
    "SequenceInsert": _place_in_sequence(2),
}
