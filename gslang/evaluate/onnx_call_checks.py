"""Calls that ONNX gives no meaning, which the reference implementation computes all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gslang.evaluate.errors import EvaluationError
from gslang.graph.graph import Graph


def check_call(graph: Graph, node: int, operands: list[Any]) -> None:
    """Raise `EvaluationError` for a call that has no value."""
    if (check := _CHECKS.get(graph.op[node])) is not None:
        check(graph, node, operands)


def _is_given(operands: list[Any], k: int) -> bool:
    return len(operands) > k and operands[k] is not None


def _check_convolution(graph: Graph, node: int, operands: list[Any]) -> None:
    _check_bias(graph, node, operands)
    _check_window(graph, node, operands)


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
    """Raise `EvaluationError` for an attention across batches, and for other numbers of keys than of values,
    which the reference broadcasts.
    """
    if len({operand.shape[:1] for operand in operands[:3]}) > 1:
        raise EvaluationError(
            f"`Attention` of {graph.label(node)} cannot be computed: its operands are of different batches"
        )
    keys, values = (operand.shape[-2:-1] for operand in operands[1:3])
    if keys != values:
        raise EvaluationError(
            f"`Attention` of {graph.label(node)} cannot be computed: keys and values are not broadcast"
        )


def _check_bias(graph: Graph, node: int, operands: list[Any]) -> None:
    """Raise `EvaluationError` for a bias of other channels than the result has, which NumPy broadcasts."""
    if not _is_given(operands, 2):
        return
    weight, op = operands[1], graph.op[node]
    channels = weight.shape[0] if op == "Conv" else weight.shape[1] * graph.attrs[node].get("group", 1)
    if operands[2].shape != (channels,):
        raise EvaluationError(
            f"`{op}` of {graph.label(node)} cannot be computed: a bias of {list(operands[2].shape)} does not "
            f"broadcast to {channels} channels"
        )


def _check_addend(graph: Graph, node: int, operands: list[Any]) -> None:
    """Raise `EvaluationError` for a sum of other dimensions than the product, which the reference leaves out
    where its factor is 0.
    """
    if not _is_given(operands, 2):
        return
    rows, columns = graph.attrs[node].get("transA", 0), 1 - graph.attrs[node].get("transB", 0)
    shape, added = (operands[0].shape[rows], operands[1].shape[columns]), operands[2].shape
    if len(added) > 2 or any(n not in (1, m) for n, m in zip(reversed(added), reversed(shape))):
        raise EvaluationError(
            f"`Gemm` of {graph.label(node)} cannot be computed: "
            f"{list(added)} does not broadcast to {list(shape)}"
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
    window = operands[1].shape[2:] if graph.op[node] == "Conv" else attrs.get("kernel_shape", ())
    if attrs.get("auto_pad") in ("SAME_UPPER", "SAME_LOWER"):
        if graph.op[node] != "Conv" and _is_beside(x.shape[2:], attrs):
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
        if graph.op[node] != "Conv" and max(pads[k], pads[k + rank]) >= window[k]:
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


_CHECKS: Final[Mapping[str, Callable[[Graph, int, list[Any]], None]]] = {
    "Attention": _check_batches,
    "AveragePool": _check_window,
    "Conv": _check_convolution,
    "ConvTranspose": _check_bias,
    "Gemm": _check_addend,
    "LpPool": _check_window,
    "MaxPool": _check_window,
    "Reshape": _check_sizes,
    "Split": _check_parts,
    "SplitToSequence": _check_parts,
}
