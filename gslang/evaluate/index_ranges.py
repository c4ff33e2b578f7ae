"""Which integers an input may hold: indices lie within the axis that they choose from, masks are zero or one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import PROJ, Graph

# Operator → operands that are indices into operand 0, along `axis`.
_GATHERS: Final = {
    "take": (1,), "gather": (1,), "Gather": (1,), "GatherElements": (1,), "ScatterElements": (1,), "Scatter": (1,),
    "GatherND": (1,), "ScatterND": (1,), "gather_nd": (1,),
}  # fmt: skip
_EMBEDDINGS: Final = {0: 2, 1: 4, 8: 3}  # operands of EmbedLayerNormalization → their tables
_LENGTHS: Final = {"Expand": (1,), "Tile": (1,), "ConstantOfShape": (0,)}  # sizes and counts
_CARRIED: Final = frozenset({  # the same integers, elsewhere
    "Cast", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Identity", "Flatten", "Slice", "Concat", "Expand", "Tile", "Split",
    "reshape", "expand_dims", "squeeze", "transpose", "cast", "strided_slice", "concatenate", "split",
})  # fmt: skip


def bounds_of(graph: Graph, node: int, dims: Mapping[str, int] | None, symbolic: int) -> tuple[int, int] | None:
    """The range [low, high) of an integer input's values, or None where nothing is said. Symbolic dimensions are `dims` or `symbolic`."""
    high: int | None = None
    seen = {node}
    stack = [node]
    while stack:
        value = stack.pop()
        for user in sorted(graph.users[value]):
            op, operands = graph.op[user], graph.operands[user]
            for k, operand in enumerate(operands):
                if operand != value:
                    continue
                found = _limit(graph, user, op, k, dims, symbolic)
                if found is not None:
                    high = found if high is None else min(high, found)
                if (op in _CARRIED and (k == 0 or op in ("Concat", "concatenate")) or op is PROJ) and user not in seen:
                    seen.add(user)
                    stack.append(user)
            if any(k < len(operands) and operands[k] == value for k in _LENGTHS.get(op, ())):
                return 1, 2
    if high is not None:
        return 0, max(high, 1)
    return (0, 2) if "mask" in (graph.names[node] or "").lower() else None


def _limit(graph: Graph, user: int, op: str, k: int, dims: Mapping[str, int] | None, symbolic: int) -> int | None:
    """The size of the axis that operand `k` chooses from; None if it does not."""
    operands, attrs = graph.operands[user], graph.attrs[user]
    name = op.rpartition(".")[2]
    if name == "EmbedLayerNormalization" and k in _EMBEDDINGS and _EMBEDDINGS[k] < len(operands):
        return _size(graph, operands[_EMBEDDINGS[k]], 0, dims, symbolic)
    if name in ("one_hot", "OneHot") and k == 0:
        depth = graph.value(operands[1]) if len(operands) > 1 and operands[1] >= 0 else attrs.get("depth")
        return None if depth is None else int(depth)
    if k not in _GATHERS.get(name, ()):
        return None
    if name in ("GatherND", "ScatterND", "gather_nd"):
        type = graph.types[operands[0]]
        sizes = [_size(graph, operands[0], axis, dims, symbolic) for axis in range(len(type.shape or ()) if isinstance(type, TensorType) else 0)]
        return min([size for size in sizes if size is not None], default=None)
    axis = attrs.get("axis", 0)
    return _size(graph, operands[0], axis if isinstance(axis, int) else 0, dims, symbolic)


def _size(graph: Graph, node: int, axis: int, dims: Mapping[str, int] | None, symbolic: int) -> int | None:
    type = graph.types[node] if node >= 0 else None
    if not isinstance(type, TensorType) or not type.shape or not -len(type.shape) <= axis < len(type.shape):
        return None
    dimension = type.shape[axis]
    return dimension if isinstance(dimension, int) else (dims or {}).get(str(dimension), symbolic)
