"""Shapes of what convolutions and pools compute, where some dimensions are symbols."""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Shape
from gslang.evaluate import dimensions as dim


def slid(attrs: Attrs, sizes: Shape, windows: Shape) -> Shape:
    """The number of places of each window on an axis of that size, padding included."""
    return tuple([
        UNKNOWN if attrs.get("ceil_mode") and stride != 1 else _places(mode, size, pads, stride, reach)
        for mode, size, pads, stride, reach in _axes(attrs, sizes, windows)
    ])


def spread(attrs: Attrs, sizes: Shape, windows: Shape) -> Shape:
    """The sizes of axes after a transposed convolution."""
    if attrs.get("output_shape") is not None:
        return tuple(attrs["output_shape"])
    more = attrs.get("output_padding") or (0,) * len(sizes)
    return tuple([
        UNKNOWN if mode != "NOTSET"
        else dim.plus(dim.times(stride, dim.minus(size, 1)), dim.plus(reach, extra - pads))
        for extra, (mode, size, pads, stride, reach) in zip(more, _axes(attrs, sizes, windows), strict=True)
    ])


def _axes(
    attrs: Attrs, sizes: Shape, windows: Shape
) -> list[tuple[str, Dimension, int, int, Dimension]]:
    """For each axis: how it is padded, its size, its padding at both ends, the stride, and how far a window
    reaches.
    """
    rank = len(sizes)
    mode = attrs.get("auto_pad") or "NOTSET"
    pads = (attrs.get("pads") if mode == "NOTSET" else None) or (0,) * (2 * rank)
    strides, dilations = attrs.get("strides") or (1,) * rank, attrs.get("dilations") or (1,) * rank
    reaches = [
        dim.plus(dim.times(dilation, dim.minus(window, 1)), 1)
        for window, dilation in zip(windows, dilations, strict=True)
    ]
    both = [pads[k] + pads[rank + k] for k in range(rank)]
    return [(mode, *axis) for axis in zip(sizes, both, strides, reaches, strict=True)]


def _places(mode: str, size: Dimension, pads: int, stride: int, reach: Dimension) -> Dimension:
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        return dim.over(dim.plus(size, stride - 1), stride)
    return dim.plus(dim.over(dim.minus(dim.plus(size, pads), reach), stride), 1)
