"""Samplers of ONNX operators on coded numbers: scales, zero points."""

from __future__ import annotations

from math import prod
from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.onnx_layer import convolution, matmul
from gslang.verify.samplers.sample import (
    Answer,
    Only,
    Shape,
    Shapes,
    any_axis,
    data_shape,
    fill,
    least_rank,
    nested,
)


def quantize(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """With one scale, with one for each place along an axis, or for each block of them."""
    axis = given.get("axis")
    factors_ = next((s for s in known[1:3] if s is not None), None)
    data = data_shape(rng, known, max(least_rank(axis), len(factors_ or ())))
    if axis is None:
        axis = rng.choice((1, 1, any_axis(rng, len(data)))) if len(data) > 1 else 0
        if known[0] is not None and factors_ is not None and len(factors_) == 1:
            axis = rng.choice([a for a in range(-len(data), len(data)) if data[a] == factors_[0]] or [axis])
    at = axis % len(data) if data else 0
    size, answer = data[at] if data else 1, {"axis": axis}
    if factors_ is None:
        factors_ = rng.choice(((), (), (size,)))
        if given.get("block_size", 1) and len(data) > 1 and rng.random() < 0.2:
            answer["block_size"] = given.get("block_size") or rng.choice((1, 2))
            blocks = -(-size // answer["block_size"])
            factors_ = tuple(blocks if k == at else d for k, d in enumerate(data))
    if known[0] is None and len(factors_) == 1:
        data = tuple(factors_[0] if k == at else d for k, d in enumerate(data))
    return fill(known, data, factors_, factors_), {
        **answer, "%1": Only(scales(rng, factors_)), "%2": Only(zero_points(rng, factors_)),
    }  # fmt: skip


def scales(rng: Random, shape: Shape = ()) -> object:
    """Scales of a shape. Nothing forbids one below 0: some are, in a third of the cases."""
    signs = rng.choice(((1,), (1,), (1, -1)))
    drawn = [size * sign for size in (0.5, 0.25, 0.125, 2.0) for sign in signs]
    return nested(shape, rng.choices(drawn, k=prod(shape)))


def zero_points(rng: Random, shape: Shape = ()) -> object:
    """Numbers that stand for 0: that is 0 too, or small, or below it (large then, of a type without sign)."""
    return nested(shape, rng.choices((0, 0, 3, 1, -2), k=prod(shape)))


def quantized_matmul(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Matrices of small whole numbers, scales and zero points of one element."""
    apart = 3 if len(known) > 4 else 1  # from one matrix to the other
    (a, b), _ = matmul(rng, [known[0], known[apart]], {})
    shapes = fill(known, *[()] * len(known))
    shapes[0], shapes[apart] = a, b
    return shapes, _quantities(rng, len(known), apart > 1)


def quantized_convolution(rng: Random, known: Shapes, given: Attrs) -> Answer:
    apart = 3 if len(known) > 4 else 1
    (data, weight), attrs = convolution(False)(rng, [known[0], known[apart]], given)
    shapes = fill(known, *[()] * len(known))
    shapes[0], shapes[apart] = data, weight
    if len(known) > 8:
        shapes[8] = known[8] if known[8] is not None else (weight[0],)
    return shapes, {**attrs, **_quantities(rng, len(known), apart > 1)}


def _quantities(rng: Random, count: int, scaled: bool) -> dict[str, object]:
    """Scales and zero points by place: `x, scale, zero, w, scale, zero, scale, zero` or `x, w, zero, zero`.
    """
    places = {1: 2, 4: 5, 6: 7} if scaled else {-1: 2, -2: 3}
    result: dict[str, object] = {}
    for scale, zero in places.items():
        if scale > 0:
            result[f"%{scale}"] = Only(scales(rng))
        if zero < count:
            result[f"%{zero}"] = Only(zero_points(rng))
    return result
