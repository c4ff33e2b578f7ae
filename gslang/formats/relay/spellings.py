"""Attributes that Relay's versions spell differently: what an omitted one means, and which say nothing.

TVM prints only what differs from the default in its C++ sources. `nn.batch_matmul` has no `transpose_b` up to
TVM 0.8, where the second operand is always transposed; from 0.9 on the omitted attribute means that it is
not. The file does not say which version wrote it, but the operands' shapes nearly always do, and so do other
calls of the same text.
"""

from __future__ import annotations

from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.dialect.tensor_type import TensorType, Type
from gslang.graph.graph import Graph

BATCH_MATMUL: Final = "nn.batch_matmul"
# in `extras` of a call that does not say it, and is written so: what tells it
UNSTATED: Final = "transposition"
GUESS: Final = (
    "`nn.batch_matmul` without `transpose_b` is read as TVM 0.8 and older mean it: the second operand is "
    "transposed"
)
# attributes that are written even if they are the default
STATED: Final = frozenset(((BATCH_MATMUL, "transpose_b"),))

# Attributes of 0.6 and 0.7 that only repeat what the operator is.
_REPEATED: Final = {("reshape", "reverse"): False, ("contrib_reverse_reshape", "reverse"): True}


def without_repetitions(op: str, attrs: dict[str, object]) -> None:
    """Take out attributes that say only what the operator's name says."""
    if "reverse" in attrs and _REPEATED.get((op, "reverse")) is bool(attrs["reverse"]):
        del attrs["reverse"]


def states_transposition(graph: Graph) -> bool:
    """True if some batch product of the text says that its second operand is transposed, as TVM prints it
    from 0.9 on.
    """
    return any(
        op == BATCH_MATMUL and ("transpose_b" in attrs or "transpose_a" in attrs)
        for op, attrs in zip(graph.op, graph.attrs)
    )


def settle_transposition(graph: Graph, node: int, claim: Type | None, stated_elsewhere: bool) -> None:
    """Say in a batch product without `transpose_b` whether it transposes; where only a guess tells, `extras`
    have `GUESS`.
    """
    if "transpose_b" in graph.attrs[node] or len(graph.operands[node]) != 2:
        return
    plain, transposed = (_fits(graph, node, claim, flag) for flag in (False, True))
    sure = plain != transposed
    if transposed if sure else not stated_elsewhere:
        graph.extras.setdefault(node, {})[UNSTATED] = "shapes" if sure else GUESS
    else:
        graph.attrs[node] = {**graph.attrs[node], "transpose_b": False}


def stated_attributes(graph: Graph, node: int) -> Attrs:
    """A call's attributes as they are written: a batch product that was not read from a text says whether it
    transposes.
    """
    attrs = graph.attrs[node]
    if graph.op[node] != BATCH_MATMUL or "transpose_b" in attrs or graph.extras.get(node, {}).get(UNSTATED):
        return attrs
    return {**attrs, "transpose_b": True}


def _fits(graph: Graph, node: int, claim: Type | None, transposed: bool) -> bool:
    """True if the operands' shapes, and the stated result, allow this reading."""
    left, right = (_shape(graph.types[operand]) for operand in graph.operands[node])
    if right is None:
        return True
    depth, columns = (right[2], right[1]) if transposed else (right[1], right[2])
    rows_of_left = 1 if graph.attrs[node].get("transpose_a") else 2
    result = _shape(claim)
    return _may_equal(None if left is None else left[rows_of_left], depth) and _may_equal(
        None if result is None else result[2], columns
    )


def _shape(type: Type | None) -> tuple[Any, ...] | None:
    return (
        type.shape if isinstance(type, TensorType) and type.shape is not None and len(type.shape) == 3
        else None
    )


def _may_equal(a: object, b: object) -> bool:
    return not (isinstance(a, int) and isinstance(b, int)) or a == b
