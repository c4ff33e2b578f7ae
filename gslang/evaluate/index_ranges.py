"""Ranges of integer inputs: indices are within the axis that they index, masks are zero or one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.graph.graph import CONST, PARAM, PROJ, TUPLE, Graph

# Operator → operand that is indices → (operand that they choose from, its axis; None: the attribute `axis`).
_INDICES: Final[Mapping[str, Mapping[int, tuple[int, int | None]]]] = {
    "take": {1: (0, None)},
    "gather": {1: (0, None)},
    "Gather": {1: (0, None)},
    "GatherElements": {1: (0, None)},
    "ScatterElements": {1: (0, None)},
    "Scatter": {1: (0, None)},
    "TensorScatter": {2: (0, None)},
    "scatter": {1: (0, None)},
    "scatter_elements": {1: (0, None)},
    "scatter_add": {1: (0, None)},
    "ArrayFeatureExtractor": {1: (0, -1)},
    "embedding": {1: (0, 0)},
    "NegativeLogLikelihoodLoss": {1: (0, 1)},
    "SoftmaxCrossEntropyLoss": {1: (0, 1)},
    "EmbedLayerNormalization": {0: (2, 0), 1: (3, 0), 8: (3, 0)},
    "com.microsoft.RotaryEmbedding": {1: (2, 0)},
    "RotaryEmbedding": {3: (1, 0)},
    "GatherBlockQuantized": {1: (0, None)},
}
# operator → the operand in which −1 is the last place
COUNT_FROM_THE_END: Final[Mapping[str, int]] = {
    "Gather": 1, "GatherElements": 1, "GatherND": 1, "ScatterElements": 1, "ScatterND": 1,
    "gather": 1, "gather_nd": 1, "scatter": 1, "scatter_elements": 1,
}  # fmt: skip
# operand 1 is places in operand 0
_POINTS: Final = frozenset({"GatherND", "ScatterND", "gather_nd"})
_LENGTHS: Final = {  # sizes and counts
    "Expand": (1,), "Tile": (1,), "ConstantOfShape": (0,), "dyn.full": (1,), "dyn.tile": (1,),
    "dyn.zeros": (0,), "dyn.ones": (0,), "dyn.broadcast_to": (1,),
}  # fmt: skip
_ENDS: Final = {"Range": (0, 1), "arange": (0, 1)}  # of ranges, which may begin below 0
_TIMES: Final = {"sequence_mask": "axis", "ReverseSequence": "time_axis"}  # operand 1: lengths along it
# other operands that are sizes, counts, or bounds of places
_BOUNDS: Final = {
    "Slice": (1, 2), "TopK": (1,), "Trilu": (1,), "ReverseSequence": (1,), "Pad": (1,), "Split": (1,),
    "dyn.strided_slice": (1, 2), "dyn.reshape": (1,), "sequence_mask": (1,),
}  # fmt: skip
_MOVED: Final = frozenset(
    {  # the same integers, elsewhere
        "Cast", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Identity", "Flatten", "Slice", "Expand",
        "Tile", "Split", "Gather", "GatherElements", "GatherND", "Pad", "Clip", "Abs", "Dropout",
        "DepthToSpace", "SpaceToDepth", "ReverseSequence", "Trilu", "ReduceMax", "ReduceMin", "reshape",
        "expand_dims", "squeeze", "transpose", "cast", "strided_slice", "split", "take", "gather",
        "gather_nd", "clip", "abs", "tile", "repeat", "reverse", "copy", "broadcast_to", "broadcast_to_like",
        "reshape_like", "layout_transform", "nn.batch_flatten", "nn.dropout", "max", "min", "Mod", "mod",
        "floor_mod", "trunc_mod",
    }
)
# any operand's integers, elsewhere
_JOINED: Final = frozenset({"Concat", "concatenate", "stack", "Max", "Min", "maximum", "minimum"})
_CHOSEN: Final = frozenset({"Where", "where"})
# with a constant: indices that are counted from elsewhere
_SUMS: Final = {"Add": 1, "add": 1, "Sub": -1, "subtract": -1}


@dataclass(frozen=True, slots=True)
class _Value:
    """A node whose integers are those of the input, and a number from `least` to `most` more."""

    node: int
    least: int = 0
    most: int = 0


def bounds_of(graph: Graph, node: int, sizes: Mapping[str, int]) -> tuple[int, int] | None:
    """The range [low, high) of an integer input's values, or None where nothing is said.

    `sizes`: of symbolic dimensions.
    """
    low = high = None
    for value, user, k in _readers(graph, node):
        if k in _LENGTHS.get(graph.op[user], ()):
            return 1, 2
        if k in _ENDS.get(graph.op[user], ()):
            type_ = graph.types[node]
            unsigned = isinstance(type_, TensorType) and (type_.dtype or "").startswith("u")
            return 0 if unsigned else -3, 5
        if graph.op[user] == "Loop" and k == 0:
            return 1, 5
        if k == 1 and (along := _TIMES.get(graph.op[user])) is not None:
            axis = graph.attrs[user].get(along, 0)
            return 0, _size(graph, graph.operands[user][0], axis if isinstance(axis, int) else 0, sizes) + 1
        size = _limit(graph, user, k, sizes)
        if size is not None:
            low = max(-value.least, 0 if low is None else low)
            high = min(size - value.most, size if high is None else high)
    if low is not None and high is not None:
        return low, max(high, low + 1)
    return (0, 2) if "mask" in (graph.names[node] or "").lower() else None


def are_counted_from_both_ends(graph: Graph, node: int) -> bool:
    """True if an input's integers are positions, of which −1 is the last one wherever they are read."""
    places = read_as_positions(graph, node)
    return bool(places) and all(COUNT_FROM_THE_END.get(graph.op[user]) == k for user, k in places)


def read_as_positions(graph: Graph, node: int) -> list[tuple[int, int]]:
    """The calls that read an input's integers as positions, also behind others, and their operands."""
    return [
        (user, k) for _, user, k in _readers(graph, node) if _limit(graph, user, k, {}) is not None
    ]


def are_counts(graph: Graph, node: int) -> bool:
    """True if an input's integers are sizes, counts, or bounds of places, also behind other calls."""
    return any(
        k in places.get(graph.op[user].rpartition("com.microsoft.")[2], ())
        for _, user, k in _readers(graph, node) for places in (_LENGTHS, _ENDS, _BOUNDS)
    )


def _readers(graph: Graph, node: int) -> Iterator[tuple[_Value, int, int]]:
    """Where an input's integers are read: the value that they are there, a user of it, and the number of its
    operand.
    """
    start = _Value(node)
    seen, stack = {start}, [start]
    while stack:
        value = stack.pop()
        for user in sorted(graph.users[value.node]):
            for k in [k for k, operand in enumerate(graph.operands[user]) if operand == value.node]:
                yield value, user, k
                after = _behind(graph, user, k, value)
                if after is not None and after not in seen and abs(after.most) + abs(after.least) < 1 << 40:
                    seen.add(after)
                    stack.append(after)


def _behind(graph: Graph, user: int, k: int, value: _Value) -> _Value | None:
    """The user, if the integers of its operand `k` go on in it."""
    op, operands = graph.op[user], graph.operands[user]
    if op is PROJ or op is TUPLE or op in _JOINED or op in _MOVED and k == 0 or op in _CHOSEN and k > 0:
        return _Value(user, value.least, value.most)
    sign = _SUMS.get(op)
    other = operands[1 - k] if sign is not None and len(operands) == 2 and (sign > 0 or k == 0) else -1
    if sign is None or other < 0 or graph.op[other] not in (CONST, PARAM):
        return None
    added = graph.value(other)
    if added is None or added.size == 0 or added.dtype.kind not in "iu":
        return None
    ends = sorted((sign * int(added.min()), sign * int(added.max())))
    return _Value(user, value.least + ends[0], value.most + ends[1])


def _limit(graph: Graph, user: int, k: int, sizes: Mapping[str, int]) -> int | None:
    """The size of the axis that operand `k` chooses from; None if it does not."""
    operands, attrs, op = graph.operands[user], graph.attrs[user], graph.op[user]
    name = op if op in _INDICES else op.rpartition(".")[2]
    if name in ("one_hot", "OneHot") and k == 0:
        depth = (
            graph.value(operands[1]) if name == "OneHot" and len(operands) > 1 and operands[1] >= 0
            else attrs.get("depth")
        )
        return None if depth is None else int(depth if isinstance(depth, int) else depth.reshape(-1)[0])
    if name in _POINTS and k == 1:
        type_ = graph.types[operands[0]]
        shape = type_.shape or () if isinstance(type_, TensorType) else ()
        return min([_size(graph, operands[0], axis, sizes) for axis in range(len(shape))], default=None)
    if name not in _INDICES or k not in _INDICES[name]:
        return None
    table, axis = _INDICES[name][k]
    if table >= len(operands) or operands[table] < 0:
        return None
    stated = attrs.get("axis", None if name == "take" else 0) if axis is None else axis
    if stated is None:
        return _elements(graph, operands[table], sizes)
    return _size(graph, operands[table], stated if isinstance(stated, int) else 0, sizes)


def _size(graph: Graph, node: int, axis: int, sizes: Mapping[str, int]) -> int:
    """The size of an axis; 1 where it is not known: there is an element 0."""
    type_ = graph.types[node]
    if (
        not isinstance(type_, TensorType) or not type_.shape
        or not -len(type_.shape) <= axis < len(type_.shape)
    ):
        return 1
    dimension = type_.shape[axis]
    return (
        dimension if isinstance(dimension, int)
        else sizes.get(dimension.name, 1) if isinstance(dimension, Symbol)
        else 1
    )


def _elements(graph: Graph, node: int, sizes: Mapping[str, int]) -> int:
    """The number of elements of a tensor, as far as known: Relay's `take` without an axis indexes all of
    them."""
    type_ = graph.types[node]
    shape = type_.shape or () if isinstance(type_, TensorType) else ()
    count = 1
    for axis in range(len(shape)):
        count *= _size(graph, node, axis, sizes)
    return count
