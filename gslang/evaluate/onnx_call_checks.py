"""Calls that ONNX gives no meaning, which the reference implementation computes all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gslang.dialect.onnx.fitting_shapes import why_unfit
from gslang.evaluate.errors import EvaluationError
from gslang.graph.graph import Graph


def check_call(graph: Graph, node: int, operands: list[Any]) -> None:
    """Raise `EvaluationError` for a call that has no value."""
    shapes = [getattr(operand, "shape", None) for operand in operands]
    if (why := why_unfit(graph.op[node], shapes, graph.attrs[node])) is not None:
        raise EvaluationError(f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: {why}")
    if (check := _CHECKS.get(graph.op[node])) is not None:
        check(graph, node, operands)


def _is_given(operands: list[Any], k: int) -> bool:
    return len(operands) > k and operands[k] is not None


def _check_parts(graph: Graph, node: int, operands: list[Any]) -> None:
    """Raise `EvaluationError` where the parts of a split are not the whole, or have less than no elements,
    which the reference does not mind. The parts of a sequence may be told by one size for all.
    """
    op, axis = graph.op[node], graph.attrs[node].get("axis", 0)
    if not _is_given(operands, 1):
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


def _check_batches(graph: Graph, node: int, operands: list[Any]) -> None:
    """Raise `EvaluationError` for an attention across batches, which the reference broadcasts."""
    if len({operand.shape[:1] for operand in operands[:3]}) > 1:
        raise EvaluationError(
            f"`Attention` of {graph.label(node)} cannot be computed: its operands are of different batches"
        )


def _check_sizes(graph: Graph, node: int, operands: list[Any]) -> None:
    """Raise `EvaluationError` for dimensions below -1, each of which NumPy takes for the one that is left."""
    if _is_given(operands, 1) and (operands[1] < -1).any():
        raise EvaluationError(
            f"`Reshape` of {graph.label(node)} cannot be computed: a dimension is {operands[1].min()}"
        )


def _check_window(graph: Graph, node: int, operands: list[Any]) -> None:
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


_WEIGHTS: Final = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 3, "com.microsoft.FusedConv": 1}  # places
_CHECKS: Final[Mapping[str, Callable[[Graph, int, list[Any]], None]]] = {
    "Attention": _check_batches,
    "AveragePool": _check_window,
    "LpPool": _check_window,
    "MaxPool": _check_window,
    "Reshape": _check_sizes,
    "Split": _check_parts,
    "SplitToSequence": _check_parts,
    **dict.fromkeys(_WEIGHTS, _check_window),
}
