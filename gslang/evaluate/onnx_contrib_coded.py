"""Contrib operators on coded numbers (`com.microsoft`): integers that stand for floats by a scale and a zero
point. Their functions take and return what those of `onnx_contrib` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.evaluate.elementwise import sigmoid
from gslang.evaluate.reduction import softmax

Operands = list[Any]


def _real(value: Array, scale: Array, zero: Array | None) -> Any:
    moved = value.astype(np.float32) - (0 if zero is None else _number(zero).astype(np.float32))
    return moved * _number(scale)


def _number(parameter: Any) -> Any:
    """A scale or zero point of one element as a scalar: its dimensions are not the result's."""
    return parameter.reshape(()) if parameter.size == 1 else parameter


def _coded(value: Array, scale: Array, zero: Array | None, dtype: Any) -> Any:
    limits = np.iinfo(dtype)
    return np.clip(
        np.rint(value / _number(scale)) + (0 if zero is None else _number(zero).astype(np.float32)),
        limits.min, limits.max,
    ).astype(dtype)


def _q_binary(function: Callable[[Any, Any], Any]) -> Callable[[Operands, Attrs], object]:
    def run(operands: Operands, attrs: Attrs) -> object:
        a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = (*operands, None)[:8]
        return _coded(function(_real(a, a_scale, a_zero), _real(b, b_scale, b_zero)), scale, zero, a.dtype)

    return run


def _q_unary(function: Callable[[Any, Attrs], Any]) -> Callable[[Operands, Attrs], object]:
    def run(operands: Operands, attrs: Attrs) -> object:
        x, x_scale, x_zero, scale, zero = (*operands, None)[:5]
        return _coded(function(_real(x, x_scale, x_zero), attrs), scale, zero, x.dtype)

    return run


def _softmax_in(x: Array, attrs: Attrs) -> Any:
    """Before operator set 13, along all axes from `axis` on together."""
    if attrs["opset"] >= 13:
        return softmax(x, attrs["axis"])
    rows = x.reshape(*x.shape[: attrs["axis"] % x.ndim], -1)
    return softmax(rows).reshape(x.shape)


def _global_average(x: Array, attrs: Attrs) -> Any:
    return x.mean(
        axis=tuple(range(1, x.ndim - 1) if attrs["channels_last"] else range(2, x.ndim)), keepdims=True
    )


def _reduced_mean(x: Array, attrs: Attrs) -> Any:
    return x.mean(axis=tuple(attrs["axes"]), keepdims=bool(attrs["keepdims"]))


def q_concat(operands: Operands, attrs: Attrs) -> object:
    scale, zero, *parts = operands
    values = [_real(*parts[k : k + 3]) for k in range(0, len(parts), 3)]
    return _coded(np.concatenate(values, axis=attrs["axis"]), scale, zero, zero.dtype)


def along(parameter: Array, x: Array, axis: int) -> Any:
    if parameter is None or parameter.size == 1:
        return parameter
    return parameter.reshape(*(-1 if k == axis % x.ndim else 1 for k in range(x.ndim)))


def quantize(operands: Operands, attrs: Attrs) -> object:
    x, scale, zero = (*operands, None)[:3]
    dtype = np.dtype(np.uint8) if zero is None else zero.dtype
    return _coded(x, along(scale, x, attrs["axis"]), along(zero, x, attrs["axis"]), dtype)


def dequantize(operands: Operands, attrs: Attrs) -> object:
    x, scale, zero = (*operands, None)[:3]
    return _real(x, along(scale, x, attrs["axis"]), along(zero, x, attrs["axis"]))


def q_gemm(operands: Operands, attrs: Attrs) -> object:
    a, a_scale, a_zero, b, b_scale, b_zero, c, scale, zero = (*operands, None, None, None)[:9]
    rows = attrs["transB"]  # scales of columns stand along the rows of what is transposed
    left = _real(a, a_scale, a_zero)
    right = _real(
        b, *((p.reshape(-1, 1) if rows and p is not None and p.size > 1 else p) for p in (b_scale, b_zero))
    )
    product = attrs["alpha"] * np.matmul(left.T if attrs["transA"] else left, right.T if rows else right)
    if c is not None:
        product = product + attrs["alpha"] * c * (a_scale * b_scale)
    return product.astype(np.float32) if scale is None else _coded(product, scale, zero, zero.dtype)


def integer_product(operands: Operands, attrs: Attrs) -> object:
    a, b, a_scale, b_scale, a_zero, b_zero, bias = (*operands, *(None,) * 3)[:7]
    wide = [
        x.astype(np.int32) - (0 if zero is None else _number(zero).astype(np.int32))
        for x, zero in ((a, a_zero), (b, b_zero))
    ]
    product = np.matmul(*wide).astype(np.float32) * (_number(a_scale) * _number(b_scale))
    return product if bias is None else product + bias


def quantizing_product(operands: Operands, attrs: Attrs) -> object:
    x, b, b_scale, b_zero, bias = (*operands, None, None)[:5]
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    scale = (high - low) / np.float32(255)
    zero = np.clip(np.rint(-low / scale), 0, 255).astype(np.uint8) if scale else np.uint8(0)
    return integer_product([_coded(x, scale, zero, np.uint8), b, scale, b_scale, zero, b_zero, bias], attrs)


CODED: Final[Mapping[str, Callable[[Operands, Attrs], object]]] = {
    "QLinearAdd": _q_binary(np.add),
    "QLinearMul": _q_binary(np.multiply),
    "QLinearSigmoid": _q_unary(lambda x, a: sigmoid(x)),
    "QLinearLeakyRelu": _q_unary(lambda x, a: np.where(x < 0, x * a["alpha"], x)),
    "QLinearSoftmax": _q_unary(_softmax_in),
    "QLinearGlobalAveragePool": _q_unary(_global_average),
    "QLinearReduceMean": _q_unary(_reduced_mean),
    "QLinearConcat": q_concat,
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "QGemm": q_gemm,
    "MatMulIntegerToFloat": integer_product,
    "DynamicQuantizeMatMul": quantizing_product,
}
