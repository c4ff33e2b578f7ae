"""ONNX operators that the reference implementation lacks, or computes otherwise than the standard says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gslang.base.open_types import Attrs
from gslang.evaluate.onnx_max_pool import max_pool

Operands = Sequence[Any]


def corrected(operator: str, operands: Operands, attrs: Attrs) -> Callable[[Operands, Attrs], object] | None:
    """The function that computes an operator for these operands; None where the reference is right."""
    pads = operands[1] if operator == "Pad" and len(operands) > 1 else None
    if operator == "Pad" and (pads is None or (np.asarray(pads) >= 0).all()):
        return None
    if operator == "ReduceMean" and (operands[0].dtype not in ("int64", "uint64") or not operands[0].size):
        return None
    if operator == "ReduceLogSumExp" and operands[0].ndim:
        return None
    if operator in ("Gemm", "Pow") and operands[0].dtype.kind not in "iu":
        return None
    if operator == "RMSNormalization" and (
        operands[0].dtype != "float16" or attrs.get("stash_type", 1) != 1 or not operands[0].ndim
    ):
        return None
    if operator == "QuantizeLinear" and not _has_small_codes(operands, attrs):
        return None
    return _FUNCTIONS.get(operator)


def _unique(operands: Operands, attrs: Attrs) -> object:
    """Values, the places where each comes first, the inverse, counts. The reference sorts the values even
    where it is told not to."""
    values, first, inverse, counts = np.unique(
        operands[0], return_index=True, return_inverse=True, return_counts=True, axis=attrs.get("axis")
    )
    inverse = inverse.reshape(-1)
    if attrs.get("sorted", 1) == 0:
        order = np.argsort(first, kind="stable")
        values = values.take(order, attrs.get("axis") or 0)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    return values, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


def _global_lp_pool(operands: Operands, attrs: Attrs) -> object:
    x, p = operands[0], attrs.get("p", 2)
    return (np.abs(x) ** p).sum(axis=tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)


def _rms_normalization(operands: Operands, attrs: Attrs) -> object:
    """Of half precision, computed in float32 as `stash_type` says; the reference squares what overflows."""
    x, scale = operands[:2]
    wide = x.astype(np.float32)
    axes = tuple(range(attrs.get("axis", -1) % x.ndim, x.ndim))
    mean = (wide * wide).mean(axis=axes, keepdims=True)
    return (wide / np.sqrt(mean + np.float32(attrs.get("epsilon", 1e-5)))).astype(x.dtype) * scale


def _pad(operands: Operands, attrs: Attrs) -> object:
    """With pads below 0, which cut elements off before anything is added; the reference refuses them."""
    x, pads = operands[0], [int(p) for p in np.asarray(operands[1]).reshape(-1)]
    axes = operands[3] if len(operands) > 3 and operands[3] is not None else range(x.ndim)
    widths = [(0, 0)] * x.ndim
    for k, axis in enumerate(axes):
        before, behind = pads[k], pads[k + len(pads) // 2]
        x = x.take(range(max(-before, 0), x.shape[axis] - max(-behind, 0)), int(axis))
        widths[int(axis)] = max(before, 0), max(behind, 0)
    mode: Any = attrs.get("mode", "constant")
    if mode != "constant":
        return np.pad(x, widths, mode=mode)
    value = operands[2] if len(operands) > 2 and operands[2] is not None else 0
    return np.pad(x, widths, constant_values=np.asarray(value, x.dtype).reshape(()))


def _mean(operands: Operands, attrs: Attrs) -> object:
    """Of whole numbers, cut off after the point; the reference takes it in floats, which do not hold all
    numbers of 64 bits."""
    x, given = operands[0], operands[1] if len(operands) > 1 else attrs.get("axes")
    axes = None if given is None or not len(given) else tuple(map(int, given))
    if axes is None and attrs.get("noop_with_empty_axes", 0):
        return x
    total = np.asarray(x.astype(object).sum(axis=axes, keepdims=bool(attrs.get("keepdims", 1))))
    count = x.size // max(total.size, 1)
    found = [abs(n) // count * (1 if n >= 0 else -1) for n in total.reshape(-1)]
    return np.array(found, x.dtype).reshape(total.shape)


def _power(operands: Operands, attrs: Attrs) -> object:
    """Of whole numbers, which wrap where exponents are whole, whatever their type; the reference computes in
    floats if the exponent is one, which do not hold all numbers of 64 bits."""
    x, exponent = operands
    if exponent.dtype.kind == "f" and (exponent >= 0).all() and (exponent == np.floor(exponent)).all():
        exponent = exponent.astype(np.int64)
    if exponent.dtype.kind in "iu" and (exponent >= 0).all():
        return np.power(x, exponent.astype(x.dtype))
    return np.power(x, exponent.astype(np.float64)).astype(x.dtype)


def _gemm(operands: Operands, attrs: Attrs) -> object:
    """Of whole numbers, which wrap where the factors are whole; the reference multiplies floats then, too."""
    a, b = [
        np.transpose(x) if attrs.get(name, 0) else x for x, name in zip(operands, ("transA", "transB"))
    ]
    product = _times(np.matmul(a, b), attrs.get("alpha", 1.0))
    if len(operands) < 3 or operands[2] is None:
        return product
    return np.add(product, _times(operands[2], attrs.get("beta", 1.0)))


def _times(x: Any, factor: Any) -> Any:
    """Whole numbers times a factor; cut off after the point if that is not whole."""
    if factor == int(factor):
        return np.multiply(x, np.asarray(int(factor)).astype(x.dtype))
    return (x * factor).astype(x.dtype)


def _softsign(operands: Operands, attrs: Attrs) -> object:
    """Also of a number without dimensions, which the reference refuses."""
    x = operands[0]
    return np.asarray(x / (1 + np.abs(x)), x.dtype)


def _gather_elements(operands: Operands, attrs: Attrs) -> object:
    """An index outside of the axis is an error; the reference goes round the axis until it is inside, which
    for numbers far off does not end. So are more indices along another axis than there are elements.
    """
    x, indices = operands[0], np.asarray(operands[1]).astype(np.int64)
    axis = attrs.get("axis", 0)
    size = x.shape[axis]
    if indices.size and not -size <= int(indices.min()) <= int(indices.max()) < size:
        raise ValueError(f"an index is outside of an axis of {size} elements")
    if any(k != axis % x.ndim and n > m for k, (n, m) in enumerate(zip(indices.shape, x.shape))):
        raise ValueError(f"elements of {list(x.shape)} do not broadcast to {list(indices.shape)}")
    parts = [slice(None if k == axis % x.ndim else end) for k, end in enumerate(indices.shape)]
    return np.take_along_axis(x[tuple(parts)], indices, axis)


def _recurrent(operator: str) -> Callable[[Operands, Attrs], object]:
    """The function of a recurrent operator, loaded when it is called: few models have one to compute."""

    def run(operands: Operands, attrs: Attrs) -> object:
        from gslang.evaluate import onnx_recurrent

        result: object = getattr(onnx_recurrent, operator)(operands, attrs)
        return result

    return run


def _qlinear_matmul(operands: Operands, attrs: Attrs) -> object:
    """Rounded (ties to even), then moved by the zero point; the reference moves it first, so that ties go the
    other way where the zero point is odd."""
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = operands
    left, right = a.astype(np.int32) - a_zero.astype(np.int32), b.astype(np.int32) - b_zero.astype(np.int32)
    return _coded(np.matmul(left, right), a_scale * b_scale / scale, zero)


def _qlinear_conv(operands: Operands, attrs: Attrs) -> object:
    """The same; the reference takes scales of channels for images of two dimensions only, too."""
    from onnx.helper import make_node
    from onnx.reference import ReferenceEvaluator

    x, x_scale, x_zero, w, w_scale, w_zero, scale, zero, bias = (*operands, None)[:9]
    rest = (1,) * (x.ndim - 2)
    node = make_node("Conv", ["x", "w"], ["y"], **{k: v for k, v in attrs.items() if v is not None})
    sizes = {"x": x.astype(float) - x_zero, "w": w.astype(float) - w_zero.reshape(-1, 1, *rest)}
    (product,) = ReferenceEvaluator(node).run(None, sizes)  # of whole numbers, so exact
    if bias is not None:
        product = product + bias.reshape(-1, *rest)
    return _coded(product, (x_scale * w_scale / scale).reshape(-1, *rest), zero)


def _has_small_codes(operands: Operands, attrs: Attrs) -> bool:
    """True if the codes of a quantization are whole numbers of 8 or 16 bits."""
    if len(operands) > 2 and operands[2] is not None:
        return operands[2].dtype in (np.uint8, np.int8, np.uint16, np.int16)
    return (attrs.get("output_dtype") or 2) in (2, 3, 4, 5)  # the same in ONNX's numbering


def _quantize(operands: Operands, attrs: Attrs) -> object:
    """Limited to its type before it is a whole number; the reference makes the smallest code of what is too
    large for 32 bits."""
    from onnx.helper import tensor_dtype_to_np_dtype
    from onnx.reference.ops._quant_utils import reshape_input

    x, scale, zero = (*operands, None)[:3]
    axis, block = attrs.get("axis", 1), attrs.get("block_size") or None
    precision, output = attrs.get("precision"), attrs.get("output_dtype")
    wide = x.dtype if not precision else tensor_dtype_to_np_dtype(precision)
    if zero is None:
        zero = np.zeros((), tensor_dtype_to_np_dtype(output) if output else np.uint8)
    scale, zero = (reshape_input(parameter, x.shape, axis, block) for parameter in (scale, zero))
    with np.errstate(all="ignore"):
        quotient = x.astype(wide) / scale.astype(wide)
    return _coded(quotient.astype(np.float64), 1, zero)


def _coded(value: Any, scale: Any, zero: Any) -> Any:
    """Scaled, rounded, moved by the zero point, and limited to its type."""
    limits = np.iinfo(zero.dtype)
    return np.clip(np.rint(value * scale) + zero, limits.min, limits.max).astype(zero.dtype)


_FUNCTIONS: Final[Mapping[str, Callable[[Operands, Attrs], object]]] = {
    "Unique": _unique,
    "GatherElements": _gather_elements,
    "Gemm": _gemm,
    "GlobalLpPool": _global_lp_pool,
    "MaxPool": max_pool,
    "Pad": _pad,
    "Pow": _power,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize,
    "ReduceLogSumExp": lambda operands, attrs: operands[0],  # of a number without dimensions
    "ReduceMean": _mean,
    "RMSNormalization": _rms_normalization,
    "Softsign": _softsign,
    "RNN": _recurrent("rnn"),
    "GRU": _recurrent("gru"),
    "LSTM": _recurrent("lstm"),
}
