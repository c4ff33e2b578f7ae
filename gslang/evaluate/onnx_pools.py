"""Pools of ONNX whose reference implementations are wrong: `MaxPool` overlooks padding where all strides are
1, `LpPool` counts windows otherwise in `ceil_mode`, `GlobalMaxPool` takes axes away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array


def max_pool(operands: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Array, Array]:
    """The largest element of each window, and its place in the flat input. Raises `ValueError` for tensors
    without axes to move windows along.
    """
    x = operands[0]
    windows, within, inside = _windows(x, attrs)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    windows = np.where(inside, windows, np.asarray(lowest, x.dtype))
    chosen = windows.argmax(axis=-1)[..., np.newaxis]
    sizes = x.shape[2:]
    images = np.arange(x.shape[0] * x.shape[1], dtype=np.int64) * int(np.prod(sizes))
    indices = np.take_along_axis(np.broadcast_to(within, windows.shape), chosen, -1)[..., 0]
    return (
        np.take_along_axis(windows, chosen, -1)[..., 0],
        indices + images.reshape(x.shape[:2] + (1,) * len(sizes)),
    )


def lp_pool(operands: Sequence[Any], attrs: Mapping[str, Any]) -> Array:
    """The p-norm of each window. Raises `ValueError` like `max_pool`."""
    windows, _, inside = _windows(operands[0], attrs)
    return _norm(np.where(inside, windows, np.zeros((), windows.dtype)), attrs, (-1,))[..., 0]


def global_lp_pool(operands: Sequence[Any], attrs: Mapping[str, Any]) -> Array:
    """The p-norm of all elements of a channel."""
    return _norm(operands[0], attrs, tuple(range(2, operands[0].ndim)))


def global_max_pool(operands: Sequence[Any], attrs: Mapping[str, Any]) -> Array:
    """The largest element of each channel."""
    x: Array = operands[0]
    return x.max(axis=tuple(range(2, x.ndim)), keepdims=True)  # type: ignore[no-any-return]


def _norm(x: Array, attrs: Mapping[str, Any], axes: tuple[int, ...]) -> Array:
    p = attrs.get("p", 2)
    return ((np.abs(x) ** p).sum(axis=axes, keepdims=True) ** (1 / p)).astype(x.dtype)  # type: ignore[no-any-return]


def _windows(x: Any, attrs: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    """The elements of each window along a last axis, where they stand in an image, and which of them are
    inside.
    """
    if x.ndim < 3 or len(attrs["kernel_shape"]) != x.ndim - 2:
        raise ValueError(f"no windows move over an input of {x.ndim} axes")
    sizes = x.shape[2:]
    places = [_places(size, k, attrs) for k, size in enumerate(sizes)]
    windows, flat, inside = x, np.zeros((), np.int64), np.ones((), bool)
    steps = _steps(sizes, attrs.get("storage_order", 0))
    for k, (at, step) in enumerate(zip(places, steps)):  # each axis becomes two: windows, and places in one
        windows = windows.take(at.clip(0, sizes[k] - 1), axis=2 + 2 * k)
        along = at.reshape(at.shape + (1, 1) * (len(sizes) - 1 - k))
        flat, inside = flat + along * step, inside & (0 <= along) & (along < sizes[k])
    return _last(windows, 2, len(sizes)), _last(flat, 0, len(sizes)), _last(inside, 0, len(sizes))


def _places(size: int, k: int, attrs: Mapping[str, Any]) -> Array:
    """The places along axis `k` that each window reads: one row for each."""
    rank = len(attrs["kernel_shape"])
    count = attrs["kernel_shape"][k]
    stride, dilation = ((attrs.get(name) or (1,) * rank)[k] for name in ("strides", "dilations"))
    extent = (count - 1) * dilation + 1
    before, after = (attrs.get("pads") or (0,) * 2 * rank)[k::rank]
    how = attrs.get("auto_pad", "NOTSET")
    if how in ("SAME_UPPER", "SAME_LOWER"):
        windows = -(-size // stride)
        padding = max((windows - 1) * stride + extent - size, 0)
        before = padding // 2 if how == "SAME_UPPER" else padding - padding // 2
    else:
        before, after = (before, after) if how == "NOTSET" else (0, 0)
        room = size + before + after - extent
        windows = (-(-room // stride) if attrs.get("ceil_mode", 0) else room // stride) + 1
        if attrs.get("ceil_mode", 0) and (windows - 1) * stride >= size + before:
            windows -= 1  # it would begin behind all elements
    starts = np.arange(windows, dtype=np.int64) * stride - before
    places: Array = starts[:, np.newaxis] + np.arange(count, dtype=np.int64) * dilation
    return places


def _steps(sizes: Sequence[int], columns_first: int) -> list[int]:
    """The distances in the flat input of neighbours along each axis."""
    if columns_first:
        return [int(np.prod(sizes[:k], dtype=int)) for k in range(len(sizes))]
    return [int(np.prod(sizes[k + 1 :], dtype=int)) for k in range(len(sizes))]


def _last(array: Array, first: int, rank: int) -> Array:
    """Axes in pairs of windows and their places, from `first`: the places become one axis, the last one."""
    windows = range(first, first + 2 * rank, 2)
    order = [*range(first), *windows, *[axis + 1 for axis in windows]]
    turned = array.transpose(order)
    flat: Array = turned.reshape(*turned.shape[: first + rank], -1)
    return flat
