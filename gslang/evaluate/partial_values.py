"""What is known of the integers that say shapes, where some of them are symbols: `[batch, 4, ?]`; and the shapes that follow for ONNX operators.

The `onnx` package knows this only of a whole model; here it is told node by node, operands first, while rules change the graph.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from gslang.dialect.tensor_type import UNKNOWN, Dimension, Symbol, TensorType, Type, UnknownValue
from gslang.engine.builtins import broadcast
from gslang.graph.graph import CONST, Graph

Partial = tuple[Dimension, ...]
"""Elements of a vector, or the one of a scalar."""

_LONGEST: Final = 32  # elements: more dimensions no tensor has
_SAME: Final = frozenset({"Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape"})  # the elements of their first operand, in order


def partial_value(graph: Graph, node: int, known: Mapping[int, Partial]) -> Partial | None:
    """The elements of a node's value; None if it is no short vector of integers. `known`: those of its operands."""
    type_, op, operands = graph.types[node], graph.op[node], graph.operands[node]
    if not isinstance(type_, TensorType) or type_.dtype not in ("int64", "int32") or type_.shape is None or len(type_.shape) > 1:
        return None
    length = type_.shape[0] if type_.shape else 1
    if type(length) is not int or length > _LONGEST:
        return None
    if op is CONST:
        value = graph.value(node)
        return None if value is None else tuple([int(v) for v in value.reshape(-1)])
    try:
        found = _computed(graph, node, op, [known.get(o) for o in operands], graph.attrs[node])
    except (IndexError, ValueError, TypeError, UnknownValue):
        found = None
    return found if found is not None and len(found) == length else (UNKNOWN,) * length


def _computed(graph: Graph, node: int, op: str, given: list[Partial | None], attrs: Mapping[str, Any]) -> Partial | None:
    if op == "Shape":
        shape = _shape_of(graph, graph.operands[node][0])
        return None if shape is None else shape[attrs.get("start") or 0 : attrs.get("end")]
    first = given[0] if given else None
    if first is None:
        return None
    if op in _SAME:
        return first
    match op:
        case "Concat":
            return None if None in given else tuple([d for part in given for d in part or ()])
        case "Gather":
            return tuple([first[int(i)] for i in given[1] or ()])  # type: ignore[arg-type]
        case "Slice":
            starts, ends = _whole(given[1]), _whole(given[2])
            steps = _whole(given[4]) if len(given) > 4 else (1,)
            return first[starts[0] : ends[0] : steps[0]]
        case "Add" | "Sub" | "Mul" if given[1] is not None:
            return tuple([_arithmetic(op, a, b) for a, b in _paired(first, given[1])])
    return None


def _shape_of(graph: Graph, node: int) -> Partial | None:
    type_ = graph.types[node]
    return type_.shape if isinstance(type_, TensorType) else None


def _whole(part: Partial | None) -> tuple[int, ...]:
    """Numbers that are all known. Raises `UnknownValue`."""
    if part is None or not all([type(d) is int for d in part]):
        raise UnknownValue("not all numbers are known")
    return part  # type: ignore[return-value]


def _paired(a: Partial, b: Partial) -> list[tuple[Dimension, Dimension]]:
    length = max(len(a), len(b))
    return list(zip(a * length if len(a) == 1 else a, b * length if len(b) == 1 else b, strict=True))


def _arithmetic(op: str, a: Dimension, b: Dimension) -> Dimension:
    if type(a) is int and type(b) is int:
        return a + b if op == "Add" else a - b if op == "Sub" else a * b
    neutral = 1 if op == "Mul" else 0
    return a if type(b) is int and b == neutral else b if type(a) is int and a == neutral and op != "Sub" else UNKNOWN


def shape_by_values(graph: Graph, node: int, known: Mapping[int, Partial]) -> Type | None:
    """The type that follows for an operator whose operand says a shape; None where nothing does."""
    op, operands = graph.op[node], graph.operands[node]
    if op not in ("Reshape", "Expand", "ConstantOfShape"):
        return None
    target = known.get(operands[-1])
    stated = graph.types[node]
    dtype = stated.dtype if isinstance(stated, TensorType) else None
    if target is None or dtype is None:
        return None
    if op == "ConstantOfShape":
        return TensorType(target, dtype)
    shape = _shape_of(graph, operands[0])
    if op == "Reshape":
        return TensorType(_reshaped(shape, target, bool(graph.attrs[node].get("allowzero"))), dtype)
    try:
        return None if shape is None else TensorType(tuple(broadcast(shape, target)), dtype)
    except UnknownValue:
        return None


def _reshaped(shape: Partial | None, target: Partial, zero_stays: bool) -> Partial:
    """The result's shape: 0 copies a dimension, -1 is what the others leave."""
    result: list[Dimension] = []
    for k, d in enumerate(target):
        if type(d) is int and d == 0 and not zero_stays:
            d = shape[k] if shape is not None and k < len(shape) else UNKNOWN
        result.append(UNKNOWN if type(d) is int and d < 0 else d)
    if target.count(-1) == 1 and shape is not None:
        place = target.index(-1)
        result[place] = _left_over(shape, [d for k, d in enumerate(result) if k != place])
    return tuple(result)


def _left_over(whole: Partial, part: list[Dimension]) -> Dimension:
    """The product of `whole` divided by that of `part`, if it is a number or a symbol."""
    if any(d is UNKNOWN for d in (*whole, *part)):
        return UNKNOWN
    symbols = Counter([d for d in whole if isinstance(d, Symbol)])
    symbols.subtract([d for d in part if isinstance(d, Symbol)])
    above, below = (math.prod([d for d in dims if isinstance(d, int)]) for dims in (whole, part))
    left = [symbol for symbol, count in symbols.items() for _ in range(count)]
    if not below or not above or above % below or any(count < 0 for count in symbols.values()):
        return UNKNOWN
    if not left:
        return above // below
    return left[0] if len(left) == 1 and above == below else UNKNOWN
