"""Samplers of Relay's operators on quantized integers, with a scale and a zero point of one number or one for
each place of an axis, and of those that replace elements.
"""

from __future__ import annotations

from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.onnx_place import scatter_elements
from gslang.verify.samplers.sample import Answer, Sampler, Shape, Shapes, any_axis, some_shape

_ALONG = 0.3  # share of scales with a number for each place of an axis


def _scaled(scalars: int) -> Sampler:
    """A tensor with a scale and a zero point along an axis, and so many more operands of one number."""

    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        data = known[0] if known[0] is not None else some_shape(rng, rng.choice((1, 2, 3, 4)))
        axis = given.get("axis", any_axis(rng, len(data)) if data else -1)
        size: Shape = (data[axis],) if data and rng.random() < _ALONG else ()
        shapes = [data, *(size if s is None else s for s in known[1:3])]
        return [*shapes, *(s or () for s in known[3 : 3 + scalars])], {"axis": axis}

    return sample


def _pair(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Two tensors of one shape, with scales and zero points of one number."""
    shape = next((s for s in known[:2] if s is not None), None)
    shape = some_shape(rng, rng.choice((1, 2, 3))) if shape is None else shape
    return [*(shape if s is None else s for s in known[:2]), *(s or () for s in known[2:])], {}


def _sequence_mask(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Rows of which the first elements count, as many as the lengths say."""
    axis = given.get("axis", rng.choice((0, 1)))
    data = known[0] if known[0] is not None else some_shape(rng, rng.choice((2, 2, 3)))
    lengths = (data[1 - axis],) if len(data) > 1 and axis in (0, 1) else (1,)
    return [data, lengths if known[1] is None else known[1]], {"axis": axis}


QUANTIZED_SAMPLERS: dict[str, Sampler] = {
    "qnn.quantize": _scaled(0),
    "qnn.dequantize": _scaled(0),
    "qnn.requantize": _scaled(2),
    **dict.fromkeys(("qnn.add", "qnn.subtract", "qnn.multiply"), _pair),
    "sequence_mask": _sequence_mask,
    **dict.fromkeys(("scatter", "scatter_elements"), scatter_elements),
}
