"""Calls that ONNX gives no meaning, which the reference implementation computes all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

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
    shapes = [getattr(operand, "shape", None) for operand in operands]
    if (why := why_unfit(graph.op[node], shapes, graph.attrs[node])) is not None:
        raise EvaluationError(f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: {why}")
    _check_axis(graph, node, shapes)
    if (check := _CHECKS.get(graph.op[node])) is not None:
        check(graph, node, operands)


def _check_axis(graph: Graph, node: int, shapes: Shapes) -> None:
    """Raise `EvaluationError` where `axis` is no axis of the data: NumPy takes a scalar for a vector. (With
    one scale for all, it says nothing.)
    """
    signature = load_dialect("onnx").operators.get(graph.op[node])
    if signature is None or graph.op[node] in _SCALED:
        return
    if (spec := signature.attributes.get("axis")) is None:
        return
    call = signature.call(
        tuple([None if shape is None else TensorType(shape, None) for shape in shapes]), graph.attrs[node]
    )
    axis, data = call.attributes["axis"], next((shape for shape in shapes if shape is not None), ())
    if axis is not None and contains(spec.domain, axis, call) is False:
        raise EvaluationError(
            f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: `axis` is {axis}, "
            f"not {domain_text(spec.domain)} for data of {list(data)}"
        )


def _is_given(operands: Operands, k: int) -> bool:
    return len(operands) > k and operands[k] is not None


def _check_parts(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` where the parts of a split are not the whole, or have less than no elements,
    which the reference does not mind. The parts of a sequence may be told by one size for all.
    """
    op, axis = graph.op[node], graph.attrs[node].get("axis", 0)
    if not _is_given(operands, 1):
        count, whole = graph.attrs[node].get("num_outputs") or 1, operands[0].shape[axis]
        if op == "Split" and -(-whole // count) * (count - 1) > whole:
            raise EvaluationError(
                f"`Split` of {graph.label(node)} cannot be computed: {whole} elements are not {count} parts"
            )
        return
    sizes, whole = operands[1].reshape(-1).tolist(), operands[0].shape[axis]
    if min(sizes, default=0) < (0 if operands[1].ndim else 1):
        raise EvaluationError(
            f"`{op}` of {graph.label(node)} cannot be computed: one of its parts has {min(sizes)} elements"
        )
    if operands[1].ndim and sum(sizes) != whole:
        raise EvaluationError(
            f"`{op}` of {graph.label(node)} cannot be computed: its parts are not {whole} elements altogether"
        )


def _check_attention(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` for an attention across batches, which the reference broadcasts, and for a
    scale that is not above 0, of which it takes the root.
    """
    scale = graph.attrs[node].get("scale")
    if scale is not None and scale <= 0:
        raise EvaluationError(
            f"`Attention` of {graph.label(node)} cannot be computed: `scale` is {scale}"
        )
    if len({operand.shape[:1] for operand in operands[:3]}) > 1:
        raise EvaluationError(
            f"`Attention` of {graph.label(node)} cannot be computed: its operands are of different batches"
        )


def _check_sizes(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` for dimensions below -1, each of which NumPy takes for the one that is left."""
    if _is_given(operands, 1) and (operands[1] < -1).any():
        raise EvaluationError(
            f"`Reshape` of {graph.label(node)} cannot be computed: a dimension is {operands[1].min()}"
        )


def _check_padding(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` where more is cut off than there is, where nothing is left to be repeated, or
    where a reflection is longer than what is reflected.
    """
    data, pads = operands[0], operands[1].reshape(-1).tolist()
    axes = operands[3].reshape(-1).tolist() if _is_given(operands, 3) else list(range(len(pads) // 2))
    mode = graph.attrs[node].get("mode", "constant")
    for axis, before, behind in zip(axes, pads, pads[len(axes) :]):
        size = data.shape[axis]
        kept, added = size + min(before, 0) + min(behind, 0), max(before, behind, 0)
        if (
            size + before + behind < 0 or mode != "constant" and kept <= 0 < size
            or mode == "reflect" and added > max(kept - 1, 0)
        ):
            raise EvaluationError(
                f"`Pad` of {graph.label(node)} cannot be computed: "
                f"{before} and {behind} elements around {size}"
            )


def _check_lengths(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` for sequences that are longer than their axis, or along that of batches."""
    if graph.attrs[node].get("time_axis", 0) == graph.attrs[node].get("batch_axis", 1):
        raise EvaluationError(
            f"`ReverseSequence` of {graph.label(node)} cannot be computed: `time_axis` is `batch_axis`"
        )
    size, lengths = operands[0].shape[graph.attrs[node].get("time_axis", 0)], operands[1]
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= size:
        raise EvaluationError(
            f"`ReverseSequence` of {graph.label(node)} cannot be computed: a sequence of {lengths.max()} "
            f"elements in an axis of {size}"
        )


def _check_window(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` where a window is larger than what it moves over: by division that rounds to
    zero, the reference counts one place there; and where one of a pool may lie in the padding as a whole,
    which onnxruntime refuses and the reference gives no meaning.
    """
    x, attrs = operands[0], graph.attrs[node]
    weight = _WEIGHTS.get(graph.op[node])
    window = attrs.get("kernel_shape", ()) if weight is None else operands[weight].shape[2:]
    if attrs.get("auto_pad") in ("SAME_UPPER", "SAME_LOWER"):
        if weight is None and _is_beside(x.shape[2:], attrs):
            raise EvaluationError(
                f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: "
                "one of its windows lies entirely in the padding"
            )
        return
    rank = len(window)
    pads = (attrs.get("pads") or (0,) * 2 * rank) if attrs.get("auto_pad") != "VALID" else (0,) * 2 * rank
    for k, dilation in enumerate(attrs.get("dilations") or (1,) * rank):
        if (window[k] - 1) * dilation >= x.shape[k + 2] + pads[k] + pads[k + rank]:
            raise EvaluationError(
                f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: "
                "its window exceeds the padded input"
            )
        if weight is None and max(pads[k], pads[k + rank]) >= window[k]:
            raise EvaluationError(
                f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: its padding of axis {k + 2} "
                f"is not smaller than its window, {window[k]}"
            )


def _check_result(graph: Graph, node: int, operands: Operands) -> None:
    """Raise `EvaluationError` for a transposed convolution that cuts off all that it makes, or whose stated
    size is beyond what its windows reach.
    """
    x, weight, attrs = operands[0], operands[1], graph.attrs[node]
    stated, rank = attrs.get("output_shape"), x.ndim - 2
    if stated is None and attrs.get("auto_pad") in ("SAME_UPPER", "SAME_LOWER"):
        return
    pads = (attrs.get("pads") or (0,) * 2 * rank) if attrs.get("auto_pad") != "VALID" else (0,) * 2 * rank
    strides, dilations = attrs.get("strides") or (1,) * rank, attrs.get("dilations") or (1,) * rank
    more = attrs.get("output_padding") or (0,) * rank
    for k in range(rank):
        whole = strides[k] * (x.shape[k + 2] - 1) + more[k] + (weight.shape[k + 2] - 1) * dilations[k] + 1
        if stated is None and whole <= pads[k] + pads[k + rank]:
            raise EvaluationError(
                f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: "
                f"`pads` cuts off all of axis {k + 2}"
            )
        if stated is not None and stated[k] >= whole + strides[k]:
            raise EvaluationError(
                f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: its windows reach {whole} "
                f"places of axis {k + 2}, not {stated[k]}"
            )


def _is_beside(sizes: tuple[int, ...], attrs: Mapping[str, Any]) -> bool:
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


_SCALED: Final = frozenset({
    "QuantizeLinear", "DequantizeLinear", "com.microsoft.QuantizeLinear", "com.microsoft.DequantizeLinear",
})
_WEIGHTS: Final = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 3, "com.microsoft.FusedConv": 1}  # places
_CHECKS: Final[Mapping[str, Callable[[Graph, int, Operands], None]]] = {
    "Attention": _check_attention,
    "AveragePool": _check_window,
    "ConvTranspose": _check_result,
    "LpPool": _check_window,
    "MaxPool": _check_window,
    "Pad": _check_padding,
    "Reshape": _check_sizes,
    "ReverseSequence": _check_lengths,
    "Split": _check_parts,
    "SplitToSequence": _check_parts,
    **dict.fromkeys(_WEIGHTS, _check_window),
}
