"""Operators on quantized integers, as TVM's documentation of `relay.qnn` and of `fixed_point_multiply` states
them: what they compute is (number − zero point) · scale, rounded and held to the range of the result's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import numpy_dtype
from gslang.evaluate.convolution import EVALUATE as PRODUCTS
from gslang.evaluate.elementwise import Evaluator, along

_BITS = 31  # of a multiplier


def _per_axis(value: Array, x: Array, axis: int) -> Array:
    """A scale or zero point beside a tensor: one number, or one for each place of an axis. Raises
    `ValueError`.
    """
    if value.ndim == 0 or value.shape == (1,):
        return value.reshape(())
    if value.ndim != 1 or x.ndim == 0 or value.size != x.shape[axis]:
        raise ValueError("scales and zero points are numbers, or as many as the axis is long")
    return along(value, x.ndim, axis % x.ndim)


def _saturated(x: Array, dtype: str) -> Array:
    """Whole numbers, held to the range of a type."""
    to = numpy_dtype(dtype)
    limits = np.iinfo(to)
    return np.clip(np.nan_to_num(x) if x.dtype.kind == "f" else x, limits.min, limits.max).astype(to)


def _away(x: Array) -> Array:
    """Rounded, halves away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _fixed_point(x: Array, multiplier: Array, shift: Array, upward: bool = True) -> Array:
    """x · multiplier · 2^(shift − 31), rounded: halves up, or away from zero."""
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0) + _BITS
    product: Any = (x.astype(np.int64) << left) * multiplier
    half = np.int64(1) << (right - 1)
    found: Array = (
        (product + half) >> right if upward else np.sign(product) * ((np.abs(product) + half) >> right)
    )
    return found


def _multiplied(x: Array, factors: Array, upward: bool) -> Array:
    """x times factors, each a multiplier of 31 bits and a power of two."""
    significands, exponents = np.frexp(factors.astype(np.float64))
    multipliers = np.floor(significands * 2.0**_BITS + 0.5).astype(np.int64)
    full = multipliers == 1 << _BITS
    return _fixed_point(
        x, np.where(full, multipliers // 2, multipliers), exponents.astype(np.int64) + full, upward
    )


def _fixed_point_multiply(operands: Sequence[Array], attrs: Attrs) -> object:
    multiplier, shift = np.int64(attrs["multiplier"]), np.int64(attrs["shift"])
    return _fixed_point(operands[0], multiplier, shift).astype(operands[0].dtype)


def _quantize(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    scale, zero = (_per_axis(o, x, attrs["axis"]) for o in operands[1:3])
    with np.errstate(all="ignore"):
        return _saturated(_away(x / scale).astype(np.float64) + zero, attrs["out_dtype"])


def _dequantize(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    scale, zero = (_per_axis(o, x, attrs["axis"]) for o in operands[1:3])
    number = (x.astype(np.int32) - zero.astype(np.int32)).astype(scale.dtype)
    return (number * scale).astype(numpy_dtype(attrs["out_dtype"]))


def _requantized(
    x: Array, before: tuple[Array, Array], after: tuple[Array, Array], dtype: str, how: Attrs
) -> Array:
    """Numbers with another scale and zero point."""
    axis = how.get("axis", -1)
    old, from_zero, new, to_zero = (_per_axis(v, x, axis) for v in (*before, *after))
    number = x.astype(np.int64) - from_zero.astype(np.int64)
    upward = how.get("rounding", "None") != "TONEAREST"
    if how.get("compute_dtype", "None").startswith("float"):
        exact = number.astype(how["compute_dtype"]) * (old / new).astype(how["compute_dtype"])
        scaled = (np.floor(exact + exact.dtype.type(0.5)) if upward else _away(exact)).astype(np.int64)
    elif old.shape == new.shape == () and old == new:
        scaled = number
    else:
        with np.errstate(all="ignore"):
            factors = np.nan_to_num(old.astype(np.float64) / new.astype(np.float64))
        scaled = _multiplied(number, factors, upward)
    return _saturated(scaled + to_zero.astype(np.int64), dtype)


def _requantize(operands: Sequence[Array], attrs: Attrs) -> object:
    x, scale, zero, new_scale, new_zero = operands
    return _requantized(x, (scale, zero), (new_scale, new_zero), attrs["out_dtype"], attrs)


def _sum(sign: int) -> Evaluator:
    """The sum or difference of both operands with the scale and zero point of the result."""

    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        scale, zero = operands[6:8]
        a, b = (
            _requantized(
                operands[k], (operands[2 + 2 * k], operands[3 + 2 * k]), (scale, zero), "int32",
                {"axis": attrs[name]},
            ).astype(np.int64)
            for k, name in enumerate(("lhs_axis", "rhs_axis"))
        )
        return _saturated(a + sign * b - sign * zero.astype(np.int64), operands[0].dtype.name)

    return evaluate


def _product(operands: Sequence[Array], attrs: Attrs) -> object:
    a, b = (
        operands[k].astype(np.int64) - _per_axis(operands[3 + 2 * k], operands[k], attrs[name])
        for k, name in enumerate(("lhs_axis", "rhs_axis"))
    )
    scale = operands[2] * operands[4]
    before = scale, np.zeros((), np.int32)
    return _requantized(a * b, before, (operands[6], operands[7]), operands[0].dtype.name, {})


def _linear(operator: str) -> Evaluator:
    """A product of whole numbers counted from their zero points; those of weights may be one for each place
    of the axis of the results. Padding is 0 as a number.
    """

    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        x, w, zero, weight_zero = operands[:4]
        axis = attrs["kernel_layout"].index("O") if "kernel_layout" in attrs else 0
        wide: Any = numpy_dtype(attrs["out_dtype"] or "int32")
        numbers = (
            x.astype(wide) - zero.astype(wide).reshape(()),
            w.astype(wide) - _per_axis(weight_zero, w, axis).astype(wide),
        )
        result: Any = PRODUCTS[operator](numbers, {**attrs, "out_dtype": wide.name})
        return result if attrs["out_dtype"] else result.astype(x.dtype)

    return evaluate


def _concatenate(operands: Sequence[Any], attrs: Attrs) -> object:
    parts, scales, zeros, scale, zero = operands
    return np.concatenate(
        [
            _requantized(x, (own, own_zero), (scale, zero), x.dtype.name, {})
            for x, own, own_zero in zip(parts, scales, zeros)
        ],
        attrs["axis"],
    )


EVALUATE: dict[str, Evaluator] = {
    "fixed_point_multiply": _fixed_point_multiply,
    "qnn.quantize": _quantize,
    "qnn.dequantize": _dequantize,
    "qnn.requantize": _requantize,
    "qnn.add": _sum(1),
    "qnn.subtract": _sum(-1),
    "qnn.multiply": _product,
    "qnn.dense": _linear("nn.dense"),
    "qnn.conv2d": _linear("nn.conv2d"),
    "qnn.concatenate": _concatenate,
}
