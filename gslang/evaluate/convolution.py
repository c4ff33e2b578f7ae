"""Convolutions, pooling, matrix products, resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import numpy_dtype
from gslang.dialect.relay.convolution import SPATIAL
from gslang.dialect.relay.dimensions import numbers, paddings, steps
from gslang.evaluate.elementwise import Evaluator
from gslang.evaluate.movement import transform_layout


def padded(x: Array, pads: Sequence[tuple[int, int]], value: object = 0) -> Array:
    """An array (N, C, spatial…) with `value` around it."""
    if not any(a or b for a, b in pads):
        return x
    wide = np.full((*x.shape[:2], *(a + d + b for d, (a, b) in zip(x.shape[2:], pads))), value, x.dtype)
    inside = (slice(None), slice(None)) + tuple(slice(a, a + d) for d, (a, _) in zip(x.shape[2:], pads))
    wide[inside] = x
    return wide


def windows(x: Array, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Any:
    """View of shape (N, C, out…, window…) of an array (N, C, spatial…)."""
    rank = len(sizes)
    spans = [d * (k - 1) + 1 for k, d in zip(sizes, dilations)]
    view = sliding_window_view(x, spans, tuple(range(2, 2 + rank)))
    index = (
        [slice(None)] * 2 + [slice(None, None, s) for s in strides]
        + [slice(None, None, d) for d in dilations]
    )
    return view[tuple(index)]


def _accumulator(x: Array, dtype: str) -> Any:
    """The dtype in which products are summed."""
    if dtype:
        return numpy_dtype(dtype)
    return np.dtype(np.float32) if x.dtype == np.float16 else x.dtype


def convolve(
    x: Array,
    w: Array,
    strides: Sequence[int],
    pads: Sequence[tuple[int, int]],
    dilations: Sequence[int],
    groups: int,
) -> Array:
    """x (N, C, spatial…) with w (O, C/groups, window…): the cross-correlation (N, O, out…)."""
    rank = x.ndim - 2
    view = windows(padded(x, pads), w.shape[2:], strides, dilations)
    n, c = view.shape[:2]
    out = view.shape[2 : 2 + rank]
    o, inner = w.shape[:2]
    # (N, G, out, C/G · window) times (G, C/G · window, O/G)
    view = view.reshape(n, groups, c // groups, *view.shape[2:])
    axes = (1, 0, *range(3, 3 + rank), 2, *range(3 + rank, 3 + 2 * rank))
    columns = view.transpose(axes).reshape(groups, n * int(np.prod(out)), -1)
    weights = w.reshape(groups, o // groups, -1).transpose(0, 2, 1)
    result = np.matmul(columns, weights)  # (G, N · out, O/G)
    result = result.reshape(groups, n, int(np.prod(out)), o // groups).transpose(1, 0, 3, 2)
    return np.ascontiguousarray(result).reshape(n, o, *out)


def _convolution(rank: int) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        letters = SPATIAL[rank]
        layout, kernel_layout = attrs["data_layout"], attrs["kernel_layout"]
        x = transform_layout(operands[0], layout, "NC" + letters)
        w = operands[1]
        groups = attrs["groups"]
        if kernel_layout == "HWOI" and groups > 1 and groups == x.shape[1] == w.shape[2]:
            h, k, channels, multiplier = w.shape
            w = w.transpose(2, 3, 0, 1).reshape(channels * multiplier, 1, h, k)
        else:
            w = transform_layout(w, kernel_layout, "OI" + letters)
        wide = _accumulator(x, attrs["out_dtype"])
        strides, dilations = steps(attrs, rank)
        result = convolve(
            x.astype(wide, copy=False), w.astype(wide, copy=False), strides,
            paddings(attrs["padding"], rank), dilations, groups,
        )
        if not attrs["out_dtype"]:
            result = result.astype(x.dtype, copy=False)
        return transform_layout(result, "NC" + letters, attrs["out_layout"] or layout)

    return evaluate


def _transposed(rank: int) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        letters = SPATIAL[rank]
        x = transform_layout(operands[0], attrs["data_layout"], "NC" + letters)
        w = transform_layout(operands[1], attrs["kernel_layout"], "IO" + letters)
        own, wide = x.dtype, _accumulator(x, attrs["out_dtype"])
        x, w = x.astype(wide, copy=False), w.astype(wide, copy=False)
        groups = attrs["groups"]
        strides, dilations = steps(attrs, rank)
        extra = numbers(attrs["output_padding"], rank, "output_padding")
        spread = np.zeros((*x.shape[:2], *[(d - 1) * s + 1 for d, s in zip(x.shape[2:], strides)]), x.dtype)
        every = tuple([slice(None), slice(None), *[slice(None, None, s) for s in strides]])
        spread[every] = x
        i, o = w.shape[:2]
        kernel = (
            w.reshape(groups, i // groups, o, *w.shape[2:])
            .swapaxes(1, 2)
            .reshape(groups * o, i // groups, *w.shape[2:])
        )
        flipped = tuple([slice(None), slice(None), *[slice(None, None, -1)] * rank])
        kernel = kernel[flipped]
        pads = []
        for (a, b), size, d, e in zip(paddings(attrs["padding"], rank), w.shape[2:], dilations, extra):
            reach = d * (size - 1)
            pads.append((reach - a, reach - b + e))
        if any(max(0, -a) + max(0, -b) > n for (a, b), n in zip(pads, spread.shape[2:])):
            raise ValueError("`padding` cuts off more than there is")
        cut = tuple(slice(max(0, -a), None if b >= 0 else b) for a, b in pads)
        inside = (slice(None), slice(None)) + cut
        spread = spread[inside]
        result = convolve(
            spread, kernel, (1,) * rank, [(max(0, a), max(0, b)) for a, b in pads], dilations, groups
        )
        if not attrs["out_dtype"]:
            result = result.astype(own, copy=False)
        return transform_layout(result, "NC" + letters, attrs["out_layout"] or attrs["data_layout"])

    return evaluate


def _pool(rank: int, largest: bool) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        letters = SPATIAL[rank]
        x = transform_layout(operands[0], attrs["layout"], "NC" + letters)
        sizes, (strides, dilations) = numbers(attrs["pool_size"], rank, "pool_size"), steps(attrs, rank)
        pads = paddings(attrs["padding"], rank)
        if attrs["ceil_mode"]:
            longer = []
            for size, k, s, d, (a, b) in zip(x.shape[2:], sizes, strides, dilations, pads):
                room = size + a + b - d * (k - 1) - 1
                longer.append((a, b + (-room % s)))
        else:
            longer = pads
        if largest:
            least = np.array(-np.inf, x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype).min
            result = windows(padded(x, longer, least), sizes, strides, dilations).max(
                axis=tuple(range(-rank, 0))
            )
        else:
            total = windows(padded(x, longer), sizes, strides, dilations).sum(axis=tuple(range(-rank, 0)))
            inside = np.ones((1, 1, *x.shape[2:]), x.dtype)
            if attrs["count_include_pad"]:
                inside = padded(inside, pads, 1)
                rest = [(0, long[1] - pad[1]) for long, pad in zip(longer, pads)]
                inside = padded(inside, rest)
            else:
                inside = padded(inside, longer)
            count = windows(inside, sizes, strides, dilations).sum(axis=tuple(range(-rank, 0)))
            result = total / np.maximum(count, 1) if x.dtype.kind == "f" else total // np.maximum(count, 1)
        return transform_layout(result.astype(x.dtype), "NC" + letters, attrs["layout"])

    return evaluate


def _pool_to(rank: int, largest: bool, fixed: bool = False) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        letters = SPATIAL[rank]
        x = transform_layout(operands[0], attrs["layout"], "NC" + letters)
        sizes = (
            (1,) * rank if fixed
            else x.shape[2:] if attrs["output_size"] == ()
            else numbers(attrs["output_size"], rank, "output_size")
        )
        for k, wanted in enumerate(sizes):
            axis, size = k + 2, x.shape[k + 2]
            parts = []
            for i in range(wanted):
                start, stop = i * size // wanted, -(-(i + 1) * size // wanted)
                part = x.take(range(start, stop), axis)
                parts.append(part.max(axis=axis) if largest else part.mean(axis=axis, dtype=x.dtype))
            x = np.stack(parts, axis)
        return transform_layout(x, "NC" + letters, attrs["layout"])

    return evaluate


def _dense(operands: Sequence[Array], attrs: Attrs) -> object:
    x, w = operands
    wide = _accumulator(x, attrs["out_dtype"])
    result = np.matmul(x.astype(wide, copy=False), w.astype(wide, copy=False).T)
    return result if attrs["out_dtype"] else result.astype(x.dtype, copy=False)


def _matmul(operands: Sequence[Array], attrs: Attrs) -> object:
    a, b = operands
    wide = _accumulator(a, attrs["out_dtype"])
    left = np.swapaxes(a, -1, -2) if attrs["transpose_a"] else a
    right = np.swapaxes(b, -1, -2) if attrs["transpose_b"] else b
    result = np.matmul(left.astype(wide, copy=False), right.astype(wide, copy=False))
    return result if attrs["out_dtype"] else result.astype(a.dtype, copy=False)


def _backward_weight(operands: Sequence[Array], attrs: Attrs) -> object:
    grad = transform_layout(operands[0], attrs["grad_layout"], "NCHW")
    x = transform_layout(operands[1], attrs["data_layout"], "NCHW")
    sizes = numbers(attrs["kernel_size"], 2, "kernel_size")
    view = windows(padded(x, paddings(attrs["padding"], 2)), sizes, *steps(attrs, 2))
    view = view[:, :, : grad.shape[2], : grad.shape[3]]
    groups = attrs["groups"]
    n, c = x.shape[:2]
    o = grad.shape[1]
    view = view.reshape(n, groups, c // groups, *view.shape[2:])
    gradient = grad.reshape(n, groups, o // groups, *grad.shape[2:])
    wide = _accumulator(grad, attrs["out_dtype"])
    result = np.einsum(
        "ngohw,ngihwkl->goikl", gradient.astype(wide), view.astype(wide), optimize=True
    ).reshape(o, c // groups, *sizes)
    return transform_layout(
        result if attrs["out_dtype"] else result.astype(grad.dtype), "OIHW", attrs["kernel_layout"]
    )


def _source_positions(out: int, size: int, mode: str) -> Array:
    k = np.arange(out, dtype=np.float64)
    if mode == "align_corners":
        return k * (size - 1) / max(out - 1, 1)
    if mode == "asymmetric":
        return k * size / out
    return (k + 0.5) * size / out - 0.5


def _resize_axis(x: Array, axis: int, out: int, method: str, mode: str, rounding: str) -> object:
    size = x.shape[axis]
    at = _source_positions(out, size, mode)
    if method in ("nearest_neighbor", "nearest"):
        if rounding == "floor" or rounding == "" and mode != "align_corners":
            index = np.floor(at + 1e-5)
        elif rounding == "ceil":
            index = np.ceil(at - 1e-5)
        elif rounding in ("round_prefer_floor",):
            index = np.ceil(at - 0.5)
        else:
            index = np.floor(at + 0.5)
        return x.take(np.clip(index, 0, size - 1).astype(np.int64), axis)
    if method not in ("linear", "bilinear"):
        raise NotImplementedError(f"resizing by `{method}`")
    low = np.floor(at)
    weight = (at - low).reshape([-1 if k == axis else 1 for k in range(x.ndim)])
    a = x.take(np.clip(low, 0, size - 1).astype(np.int64), axis)
    b = x.take(np.clip(low + 1, 0, size - 1).astype(np.int64), axis)
    return a * (1 - weight) + b * weight


def _resized(
    x: Array, layout: str, height: int, width: int, method: str, mode: str, rounding: str, dtype: str = ""
) -> Any:  # fmt: skip
    """An image of another size, of an element type, or that of `x`; what is interpolated is converted once.
    """
    y = transform_layout(x, layout, "NCHW")
    for axis, out in ((2, height), (3, width)):
        y = _resize_axis(y, axis, out, method, mode, rounding)
    return transform_layout(y.astype(numpy_dtype(dtype) if dtype else x.dtype), "NCHW", layout)


def _upsampling(operands: Sequence[Array], attrs: Attrs) -> object:
    x, layout = operands[0], attrs["layout"]
    height = int(round(x.shape[layout.index("H")] * attrs["scale_h"]))
    width = int(round(x.shape[layout.index("W")] * attrs["scale_w"]))
    mode = "align_corners" if attrs["align_corners"] else "asymmetric"
    return _resized(x, layout, height, width, attrs["method"], mode, "")


def _resize2d(operands: Sequence[Array], attrs: Attrs) -> object:
    height, width = numbers(attrs["size"], 2, "size")
    mode = attrs["coordinate_transformation_mode"]
    if mode not in ("half_pixel", "align_corners", "asymmetric"):
        raise NotImplementedError(f"resizing with `{mode}`")
    return _resized(
        operands[0], attrs["layout"], height, width, attrs["method"], mode, attrs["rounding_method"],
        attrs["out_dtype"],
    )


EVALUATE: dict[str, Evaluator] = {
    **{f"nn.conv{k}d": _convolution(k) for k in (1, 2, 3)},
    **{f"nn.conv{k}d_transpose": _transposed(k) for k in (1, 2, 3)},
    **{f"nn.max_pool{k}d": _pool(k, True) for k in (1, 2, 3)},
    **{f"nn.avg_pool{k}d": _pool(k, False) for k in (1, 2, 3)},
    **{f"nn.adaptive_max_pool{k}d": _pool_to(k, True) for k in (1, 2, 3)},
    **{f"nn.adaptive_avg_pool{k}d": _pool_to(k, False) for k in (1, 2, 3)},
    "nn.global_max_pool2d": _pool_to(2, True, True),
    "nn.global_avg_pool2d": _pool_to(2, False, True),
    "nn.dense": _dense,
    "nn.matmul": _matmul,
    "nn.batch_matmul": _matmul,
    "nn.conv2d_backward_weight": _backward_weight,
    "nn.upsampling": _upsampling,
    "image.resize2d": _resize2d,
}
