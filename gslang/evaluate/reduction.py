"""Reductions, normalisations, softmax, sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import numpy_dtype
from gslang.dialect.relay.reduction import reduced_axes
from gslang.evaluate.elementwise import Evaluator, along


def _reduce(function: Callable[..., object]) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> Array:
        x = operands[0]
        axes = reduced_axes(attrs, x.ndim)
        wide = x.astype(np.float32) if x.dtype == np.float16 else x
        return np.asarray(function(wide, axis=axes, keepdims=attrs["keepdims"])).astype(x.dtype)

    return evaluate


def _arg(function: Callable[..., object]) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        x = operands[0]
        axes = reduced_axes(attrs, x.ndim)
        rest = [k for k in range(x.ndim) if k not in axes]
        flat = x.transpose(*rest, *axes).reshape([x.shape[k] for k in rest] + [-1])
        if attrs["select_last_index"]:
            result = flat.shape[-1] - 1 - function(flat[..., ::-1], axis=-1)
        else:
            result = function(flat, axis=-1)
        if attrs["keepdims"]:
            result = result.reshape([1 if k in axes else d for k, d in enumerate(x.shape)])
        return np.asarray(result).astype(np.int32)

    return evaluate


def _variance(operands: Sequence[Array], attrs: Attrs) -> object:
    x, mean = operands
    axes = reduced_axes(attrs, x.ndim)
    count = int(np.prod([x.shape[a] for a in axes])) - (1 if attrs["unbiased"] else 0)
    return (((x - mean) ** 2).sum(axis=axes, keepdims=attrs["keepdims"]) / count).astype(x.dtype)


def softmax(x: Array, axis: int = -1) -> Array:
    shifted: Array = np.exp(x - x.max(axis=axis, keepdims=True))
    result: Array = shifted / shifted.sum(axis=axis, keepdims=True)
    return result.astype(x.dtype)


def _softmax(operands: Sequence[Array], attrs: Attrs) -> object:
    return softmax(operands[0], attrs["axis"])


def _log_softmax(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    shifted = x - x.max(axis=attrs["axis"], keepdims=True)
    return (shifted - np.log(np.exp(shifted).sum(axis=attrs["axis"], keepdims=True))).astype(x.dtype)


def _batch_norm(operands: Sequence[Array], attrs: Attrs) -> object:
    x, gamma, beta, mean, variance = operands
    axis = attrs["axis"]
    scale = 1 / np.sqrt(variance + variance.dtype.type(attrs["epsilon"]))
    if attrs["scale"]:
        scale = scale * gamma
    shift = -mean * scale
    if attrs["center"]:
        shift = shift + beta
    y = x * along(scale, x.ndim, axis) + along(shift, x.ndim, axis)
    return y.astype(x.dtype), mean, variance


def _scaled(x: Array, y: Array, operands: Sequence[Array], attrs: Attrs) -> Any:
    axis = attrs["axis"]
    if attrs["scale"]:
        y = y * along(operands[1], x.ndim, axis)
    if attrs["center"]:
        y = y + along(operands[2], x.ndim, axis)
    return y.astype(x.dtype)


def _standard(x: Array, axes: tuple[int, ...], epsilon: float) -> Any:
    mean = x.mean(axis=axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + x.dtype.type(epsilon))


def _layer_norm(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    return _scaled(x, _standard(x, (attrs["axis"] % x.ndim,), attrs["epsilon"]), operands, attrs)


def _instance_norm(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    axes = tuple(k for k in range(1, x.ndim) if k != attrs["axis"] % x.ndim)
    return _scaled(x, _standard(x, axes, attrs["epsilon"]), operands, attrs)


def _group_norm(operands: Sequence[Array], attrs: Attrs) -> object:
    """Statistics over a group's channels and all axes but the batch and the channel."""
    x = operands[0]
    axis, groups = attrs["axis"] % x.ndim, attrs["num_groups"]
    shape = x.shape[:axis] + (groups, x.shape[axis] // groups) + x.shape[axis + 1 :]
    y = x.reshape(shape)
    axes = tuple(k for k in range(1, y.ndim) if k != axis)
    return _scaled(x, _standard(y, axes, attrs["epsilon"]).reshape(x.shape), operands, attrs)


def _l2_normalize(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    total = (x * x).sum(axis=reduced_axes({**attrs, "exclude": False}, x.ndim), keepdims=True)
    return (x / np.sqrt(np.maximum(total, x.dtype.type(attrs["eps"])))).astype(x.dtype)


def _lrn(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    axis, size = attrs["axis"] % x.ndim, attrs["size"]
    squares = np.moveaxis(x * x, axis, 0)
    total = np.zeros_like(squares)
    for k in range(squares.shape[0]):
        total[k] = squares[max(0, k - size // 2) : k + size // 2 + 1].sum(axis=0)
    total = np.moveaxis(total, 0, axis)
    return (x / (attrs["bias"] + attrs["alpha"] * total / size) ** attrs["beta"]).astype(x.dtype)


def _cumsum(operands: Sequence[Array], attrs: Attrs) -> Array:
    x = operands[0].astype(numpy_dtype(attrs["dtype"])) if attrs["dtype"] else operands[0]
    result = np.cumsum(x, axis=attrs["axis"], dtype=x.dtype)
    return result - (x if attrs["axis"] is not None else x.reshape(-1)) if attrs["exclusive"] else result


def _order(x: Array, attrs: Attrs) -> Array:
    # of whole numbers the complement turns the order round, too, and is exact for the largest and least ones
    key = x if attrs["is_ascend"] else -x if x.dtype.kind == "f" else ~x
    return np.argsort(key, axis=attrs["axis"], kind="stable")


def _topk(operands: Sequence[Array], attrs: Attrs) -> object:
    x, axis = operands[0], attrs["axis"]
    indices = _order(x, attrs)
    if attrs["k"] is not None and attrs["k"] >= 1:
        indices = np.take(indices, range(attrs["k"]), axis=axis)
    values = np.take_along_axis(x, indices, axis)
    indices = indices.astype(numpy_dtype(attrs["dtype"]))
    return {"both": (values, indices), "values": values, "indices": indices}[attrs["ret_type"]]


EVALUATE: dict[str, Evaluator] = {
    "sum": _reduce(np.sum),
    "mean": _reduce(np.mean),
    "max": _reduce(np.max),
    "min": _reduce(np.min),
    "prod": _reduce(np.prod),
    "all": _reduce(np.all),
    "any": _reduce(np.any),
    "argmax": _arg(np.argmax),
    "argmin": _arg(np.argmin),
    "variance": _variance,
    "nn.softmax": _softmax,
    "nn.fast_softmax": _softmax,
    "nn.log_softmax": _log_softmax,
    "nn.batch_norm": _batch_norm,
    "nn.layer_norm": _layer_norm,
    "nn.instance_norm": _instance_norm,
    "nn.group_norm": _group_norm,
    "nn.l2_normalize": _l2_normalize,
    "nn.lrn": _lrn,
    "nn.dropout": lambda o, a: (o[0], np.ones_like(o[0])),
    "cumsum": _cumsum,
    "topk": _topk,
    "sort": lambda o, a: np.take_along_axis(o[0], _order(o[0], a), a["axis"]),
    "argsort": lambda o, a: _order(o[0], a).astype(numpy_dtype(a["dtype"])),
}
