"""ONNX operators that the reference implementation lacks, or computes otherwise than the standard says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import PLAIN
from gslang.evaluate.onnx_conv_transpose import conv_transpose
from gslang.evaluate.onnx_kernels import kernel_value
from gslang.evaluate.onnx_pools import global_lp_pool, global_max_pool, lp_pool, max_pool

Operands = Sequence[Any]


def _of_no_axis(operands: Operands, attrs: Attrs) -> object:
    """A number without dimensions, reduced."""
    if len(operands) > 1 and operands[1] is not None and np.size(operands[1]):
        raise ValueError(f"axis {np.ravel(operands[1])[0]} is out of bounds for a number")
    return operands[0]


def corrected(operator: str, operands: Operands, attrs: Attrs) -> Callable[[Operands, Attrs], object] | None:
    """The function that computes an operator for these operands; None where the reference is right."""
    pads = operands[1] if operator == "Pad" and len(operands) > 1 else None
    if operator == "Pad" and (pads is None or (np.asarray(pads) >= 0).all()):
        return None
    if operator == "ReduceMean" and (operands[0].dtype not in ("int64", "uint64") or not operands[0].size):
        return None
    if operator == "ReduceLogSumExp" and operands[0].ndim:
        return None
    if operator == "LogSoftmax" and not operands[0].size:
        return None
    if operator == "CastLike" and operands[1].dtype.name not in PLAIN:
        return None
    if operator in ("Gemm", "Pow") and operands[0].dtype.kind not in "iu":
        return None
    if operator in ("LayerNormalization", "RMSNormalization") and (
        attrs.get("stash_type", 1) != 1 or not operands[0].ndim
        or not is_narrow(operands[0]) and (operator[0] == "R" or operands[0].dtype != np.float64)
    ):
        return None
    if operator == "QuantizeLinear" and not _has_small_codes(operands, attrs):
        return None
    return _FUNCTIONS.get(operator)


def _insert(operands: Operands, attrs: Attrs) -> object:
    """A sequence with one more tensor. The reference puts one behind the last before all others."""
    items, item = list(operands[0]), operands[1]
    place = len(items) if len(operands) < 3 or operands[2] is None else int(operands[2])
    if not -len(items) <= place <= len(items):
        raise ValueError(f"no place {place} in a sequence of {len(items)}")
    items.insert(place if place >= 0 else place + len(items), item)
    return items


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


def is_narrow(x: Any) -> bool:
    """True for an array of half precision."""
    return getattr(x, "dtype", None) is not None and x.dtype.name in ("float16", "bfloat16")


def _rms_normalization(operands: Operands, attrs: Attrs) -> object:
    """Of half precision, computed in float32 as `stash_type` says; the reference squares what overflows."""
    x, scale = operands[:2]
    normed, _ = _normed(x.astype(np.float32), attrs)
    return normed.astype(x.dtype) * scale


def _layer_normalization(operands: Operands, attrs: Attrs) -> object:
    """The same, of deviations from the mean; of double precision, too, of which the reference does not round
    mean and inverse."""
    x, scale, bias = (*operands, None)[:3]
    wide = x.astype(np.float32) if is_narrow(x) else x
    mean = wide.mean(axis=_last_axes(x, attrs), keepdims=True)
    normed, inverse = _normed(wide - mean, attrs)
    result = normed.astype(x.dtype) * scale
    result = result if bias is None else result + bias
    return result, mean.astype(np.float32), inverse.astype(np.float32)


def _normed(x: Any, attrs: Attrs) -> tuple[Any, Any]:
    """Numbers divided by the root of their mean square, and that root's inverse."""
    square = (x * x).mean(axis=_last_axes(x, attrs), keepdims=True)
    inverse = 1 / np.sqrt(square + np.float32(attrs.get("epsilon", 1e-5)))
    return x * inverse, inverse


def _last_axes(x: Any, attrs: Attrs) -> tuple[int, ...]:
    return tuple(range(attrs.get("axis", -1) % x.ndim, x.ndim))


def _log_softmax(operands: Operands, attrs: Attrs) -> object:
    """Without a logarithm of what is rounded to 0, which the reference takes."""
    x, axis = operands[0], attrs.get("axis", -1)
    wide = x.astype(np.float32) if is_narrow(x) else x
    shifted = wide - wide.max(axis=axis, keepdims=True)
    return (shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))).astype(x.dtype)


def _lp_normalization(operands: Operands, attrs: Attrs) -> object:
    """Divided by the sum of absolute values, where the reference leaves signs, or by the root of squares."""
    x, axis = operands[0], attrs.get("axis", -1)
    size = np.abs(x) if attrs.get("p", 2) == 1 else x * x
    norm = size.sum(axis=axis, keepdims=True)
    if attrs.get("p", 2) != 1:
        norm = np.sqrt(norm)
    return np.where(norm == 0, np.zeros((), x.dtype), x / norm).astype(x.dtype)


def _normalizer(operands: Operands, attrs: Attrs) -> object:
    """Rows divided by their norm, in float32; the reference takes signs and the type along."""
    x, norm = operands[0].astype(np.float32), attrs.get("norm", "MAX")
    if norm == "MAX":
        size = x.max(axis=-1, keepdims=True)
    else:
        size = np.linalg.norm(x, 1 if norm == "L1" else 2, axis=-1, keepdims=True)
    return np.where(size == 0, x, x / size)


def _lrn(operands: Operands, attrs: Attrs) -> object:
    """Divided by a power of the squares of channels nearby; the reference counts batches for channels."""
    x, size = operands[0], attrs["size"]
    squares, before = x * x, (size - 1) // 2
    nearby = [
        squares[:, max(c - before, 0) : c + size - before].sum(axis=1) for c in range(x.shape[1])
    ]
    scale = attrs.get("bias", 1.0) + attrs.get("alpha", 1e-4) / size * np.stack(nearby, axis=1)
    return (x / scale ** attrs.get("beta", 0.75)).astype(x.dtype)


def _one_hot(operands: Operands, attrs: Attrs) -> object:
    """Indices of floats are cut off after the point; the reference compares them as they are."""
    indices, depth, (off, on) = operands[0].astype(np.int64), int(operands[1].reshape(-1)[0]), operands[2]
    found = (indices[..., np.newaxis] % depth == np.arange(depth)) & (
        (-depth <= indices) & (indices < depth)
    )[..., np.newaxis]
    axis = attrs.get("axis", -1)
    return np.moveaxis(np.where(found, on, off), -1, axis)


def _cast_like(operands: Operands, attrs: Attrs) -> object:
    """To the type of the second operand; the reference does not know `round_mode`."""
    return kernel_value("Cast", operands[:1], {**attrs, "to": operands[1].dtype.name})


def _pad(operands: Operands, attrs: Attrs) -> object:
    """With pads below 0, which cut elements off: what is copied to the ends is what is left; the reference
    refuses them.
    """
    x, pads = operands[0], [int(p) for p in np.asarray(operands[1]).reshape(-1)]
    axes = operands[3] if len(operands) > 3 and operands[3] is not None else range(x.ndim)
    before, behind = [0] * x.ndim, [0] * x.ndim
    for k, axis in enumerate(axes):
        before[int(axis)], behind[int(axis)] = pads[k], pads[k + len(pads) // 2]
    widths = [(max(p, 0), max(q, 0)) for p, q in zip(before, behind)]
    mode: Any = attrs.get("mode", "constant")
    if mode != "constant":
        return np.pad(_cut(x, before, behind), widths, mode=mode)
    value = operands[2] if len(operands) > 2 and operands[2] is not None else 0
    fill = np.asarray(value, x.dtype).reshape(())
    return _cut(np.pad(x, widths, constant_values=fill), before, behind)


def _cut(x: Any, before: Sequence[int], behind: Sequence[int]) -> Any:
    """Without as many elements at each end of each axis as the pads below 0 say."""
    return x[tuple(slice(max(-p, 0), n - max(-q, 0)) for n, p, q in zip(x.shape, before, behind))]


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
        raise ValueError(f"an index is out of range for an axis of {size} elements")
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


def _affine_grid(operands: Operands, attrs: Attrs) -> object:
    """Places of the elements of images under maps, in the type of these; the reference has float32 only."""
    maps, size = operands
    axes = [int(count) for count in size[2:]]
    if attrs.get("align_corners", 0):
        if 1 in axes:
            raise ValueError("an axis of one element has no two corners")
        points = [np.linspace(-1, 1, count) for count in axes]
    else:
        points = [(2 * np.arange(count) + 1) / count - 1 for count in axes]
    places = np.meshgrid(*points, indexing="ij")
    moved = np.stack([*places[::-1], np.ones(axes)], axis=-1)
    return np.einsum("nij,...j->n...i", maps, moved).astype(maps.dtype)


_FUNCTIONS: Final[Mapping[str, Callable[[Operands, Attrs], object]]] = {
    "SequenceInsert": _insert,
    "ai.onnx.ml.Normalizer": _normalizer,
    "AffineGrid": _affine_grid,
    "CastLike": _cast_like,
    "ConvTranspose": conv_transpose,
    "Unique": _unique,
    "GatherElements": _gather_elements,
    "Gemm": _gemm,
    "GlobalLpPool": global_lp_pool,
    "GlobalMaxPool": global_max_pool,
    "LayerNormalization": _layer_normalization,
    "LogSoftmax": _log_softmax,
    "LpNormalization": _lp_normalization,
    "LpPool": lp_pool,
    "LRN": _lrn,
    "MaxPool": max_pool,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Pow": _power,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize,
    "ReduceLogSumExp": _of_no_axis,
    "ReduceMean": _mean,
    "RMSNormalization": _rms_normalization,
    "Softsign": _softsign,
    "RNN": _recurrent("rnn"),
    "GRU": _recurrent("gru"),
    "LSTM": _recurrent("lstm"),
}
