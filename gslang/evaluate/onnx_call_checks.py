"""Calls that ONNX gives no meaning, which the reference implementation computes all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.dialect.domain import contains
from gslang.dialect.domain_text import domain_text
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.fitting_shapes import why_unfit
from gslang.dialect.onnx.shape_misfits import Shapes
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError
from gslang.graph.graph import Graph

Operands = list[Any]
"""Arrays, None where an operand is absent."""


def check_call(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` for a call that has no value."""
    operator, attrs = graph.op[node], graph.attrs[node]
    shapes = [getattr(operand, "shape", None) for operand in operands]
    why = why_unfit(operator, shapes, attrs) or _outside_axes(operator, shapes, attrs)
    if why is None and (check := _CHECKS.get(operator)) is not None:
        why = check(operator, operands, attrs)
    if why is not None:
        raise EvaluationError(f"`{operator}` of {graph.label(node)} cannot be computed: {why}")


def _outside_axes(operator: str, shapes: Shapes, attrs: Attrs) -> str | None:
    """Why `axis` is no axis of the data: NumPy takes a scalar for a vector. (With one scale for all, it says
    nothing.)
    """
    signature = load_dialect("onnx").operators.get(operator)
    if signature is None or operator in _SCALED:
        return None
    if (spec := signature.attributes.get("axis")) is None:
        return None
    call = signature.call(
        tuple([None if shape is None else TensorType(shape, None) for shape in shapes]), attrs
    )
    axis, data = call.attributes["axis"], next((shape for shape in shapes if shape is not None), ())
    if axis is None or contains(spec.domain, axis, call) is not False:
        return None
    return f"`axis` is {axis}, not {domain_text(spec.domain)} for data of {list(data)}"


def _is_given(operands: Operands, k: int) -> bool:
    return len(operands) > k and operands[k] is not None


def _not_the_whole(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why the parts of a split are not the whole, or have less than no elements, which the reference does not
    mind. The parts of a sequence may be told by one size for all.
    """
    whole = operands[0].shape[attrs.get("axis", 0)]
    if not _is_given(operands, 1):
        count = attrs.get("num_outputs") or 1
        fits = operator != "Split" or -(-whole // count) * (count - 1) <= whole
        return None if fits else f"{whole} elements cannot be split into {count} parts"
    sizes = operands[1].reshape(-1).tolist()
    if min(sizes, default=0) < (0 if operands[1].ndim else 1):
        return f"one of its parts has {min(sizes)} elements"
    if operands[1].ndim and sum(sizes) != whole:
        return f"its parts are not {whole} elements altogether"
    return None


def _not_attended(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why there is no attention: across batches, which the reference broadcasts, or with a scale that is not
    above 0, of which it takes the root.
    """
    scale = attrs.get("scale")
    if scale is not None and scale <= 0:
        return f"`scale` is {scale}, not above 0"
    if len({operand.shape[:1] for operand in operands[:3]}) > 1:
        return "its operands are of different batches"
    return None


def _no_size(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why a dimension is below -1: NumPy takes each of these for the one that is left."""
    if _is_given(operands, 1) and (operands[1] < -1).any():
        return f"a dimension is {operands[1].min()}"
    return None


def _not_padded(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why more is cut off than there is, nothing is left to be repeated, or a reflection is longer than what
    is reflected.
    """
    data, pads = operands[0], operands[1].reshape(-1).tolist()
    axes = operands[3].reshape(-1).tolist() if _is_given(operands, 3) else list(range(len(pads) // 2))
    mode = attrs.get("mode", "constant")
    for axis, before, behind in zip(axes, pads, pads[len(axes) :]):
        size = data.shape[axis]
        kept, added = size + min(before, 0) + min(behind, 0), max(before, behind, 0)
        if (
            size + before + behind < 0 or mode != "constant" and kept <= 0 < size
            or mode == "reflect" and added > max(kept - 1, 0)
        ):
            return f"pads of {before} and {behind} in mode `{mode}` do not fit an axis of size {size}"
    return None


def _not_reversed(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why sequences are longer than their axis, or along that of batches."""
    if attrs.get("time_axis", 0) == attrs.get("batch_axis", 1):
        return "`time_axis` and `batch_axis` are the same axis"
    size, lengths = operands[0].shape[attrs.get("time_axis", 0)], operands[1]
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= size:
        return f"sequence lengths must be from 0 to {size}"
    return None


def _no_window(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why a window is larger than what it moves over: by division that rounds to zero, the reference counts
    one place there; or why one of a pool may lie in the padding as a whole, which onnxruntime refuses and the
    reference gives no meaning.
    """
    x, weight = operands[0], _WEIGHTS.get(operator)
    window = attrs.get("kernel_shape", ()) if weight is None else operands[weight].shape[2:]
    if attrs.get("auto_pad") in ("SAME_UPPER", "SAME_LOWER"):
        beside = weight is None and _is_beside(x.shape[2:], attrs)
        return "one of its windows lies entirely in the padding" if beside else None
    rank = len(window)
    pads = _pads(attrs, rank)
    for k, dilation in enumerate(attrs.get("dilations") or (1,) * rank):
        if (window[k] - 1) * dilation >= x.shape[k + 2] + pads[k] + pads[k + rank]:
            return "its window exceeds the padded input"
        if weight is None and max(pads[k], pads[k + rank]) >= window[k]:
            return f"its padding of axis {k + 2} is not smaller than its window, {window[k]}"
    return None


def _pads(attrs: Attrs, rank: int) -> Sequence[int]:
    """The stated padding, before all axes and then behind them."""
    stated = attrs.get("pads") if attrs.get("auto_pad") != "VALID" else None
    return stated or (0,) * 2 * rank


def _out_of_reach(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why a transposed convolution cuts off all that it makes, or states a size beyond what its windows
    reach.
    """
    x, weight = operands[0], operands[1]
    stated, rank = attrs.get("output_shape"), x.ndim - 2
    if stated is None and attrs.get("auto_pad") in ("SAME_UPPER", "SAME_LOWER"):
        return None
    pads = _pads(attrs, rank)
    strides, dilations = attrs.get("strides") or (1,) * rank, attrs.get("dilations") or (1,) * rank
    more = attrs.get("output_padding") or (0,) * rank
    for k in range(rank):
        whole = strides[k] * (x.shape[k + 2] - 1) + more[k] + (weight.shape[k + 2] - 1) * dilations[k] + 1
        if stated is None and whole <= pads[k] + pads[k + rank]:
            return f"`pads` cuts off all of axis {k + 2}"
        if stated is not None and stated[k] >= whole + strides[k]:
            return f"its windows reach {whole} elements of axis {k + 2}, and `output_shape` is {stated[k]}"
    return None


def _is_beside(sizes: tuple[int, ...], attrs: Attrs) -> bool:
    """True if along some axis a window of a pool whose padding keeps sizes has no place inside. Such a window
    is dilated; onnxruntime pads otherwise then, fails, or gives the lowest number.
    """
    rank = len(sizes)
    strides, dilations = attrs.get("strides") or (1,) * rank, attrs.get("dilations") or (1,) * rank
    for size, window, stride, dilation in zip(sizes, attrs.get("kernel_shape", ()), strides, dilations):
        count = -(-size // stride)
        added = max((count - 1) * stride + (window - 1) * dilation + 1 - size, 0)
        before = (added + (attrs["auto_pad"] == "SAME_LOWER")) // 2
        starts = range(-before, count * stride - before, stride)
        if any(all(not 0 <= k + dilation * j < size for j in range(window)) for k in starts):
            return True
    return False


def _no_grid(operator: str, operands: Operands, attrs: Attrs) -> str | None:
    """Why maps are not those of as many images as are stated, which NumPy would broadcast."""
    maps, size = operands[0].shape, operands[1].reshape(-1).tolist()
    axes = len(size) - 2
    fits = maps == (*size[:1], axes, axes + 1)
    return None if fits else f"maps of {list(maps)} are not those of a result of {size}"


_SCALED: Final = frozenset({
    "QuantizeLinear", "DequantizeLinear", "com.microsoft.QuantizeLinear", "com.microsoft.DequantizeLinear",
})
_WEIGHTS: Final = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 3, "com.microsoft.FusedConv": 1}  # places
_CHECKS: Final[Mapping[str, Callable[[str, Operands, Attrs], str | None]]] = {
    "AffineGrid": _no_grid,
    "Attention": _not_attended,
    "AveragePool": _no_window,
    "ConvTranspose": _out_of_reach,
    "LpPool": _no_window,
    "MaxPool": _no_window,
    "Pad": _not_padded,
    "Reshape": _no_size,
    "ReverseSequence": _not_reversed,
    "Split": _not_the_whole,
    "SplitToSequence": _not_the_whole,
    **dict.fromkeys(_WEIGHTS, _no_window),
}
