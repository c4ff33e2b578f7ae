"""Types that follow from what rules and folding have put into a graph: where an operand's shape has become known, so may those behind it.

Rules type the nodes that they make; whoever reads these keeps the type that it had. Between the steps of a pass it gets what is known now.
In ONNX graphs that is also what follows from shapes of which some numbers are known (`partial_values`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import TensorType, TupleType, Type, is_static
from gslang.evaluate.partial_values import Partial, partial_value, shape_by_values
from gslang.graph.graph import LEAVES, Graph
from gslang.graph.inference import contradiction, infer_node, refine


def refiner(dialect: Dialect) -> Callable[[Graph], int]:
    """What refines the types of a graph and returns how many it did refine; nodes whose operands are as before are passed over."""
    seen: dict[Graph, dict[int, tuple[Any, ...]]] = {}
    found: dict[object, Type | None] = {}  # layers repeat: the same operator, attributes and operands

    def inferred(graph: Graph, node: int, given: tuple[Any, ...], parts: dict[int, Partial]) -> Type | None:
        """What the operands say together with what is stated."""
        stated = graph.types[node]
        try:
            key = (graph.op[node], tuple(graph.attrs[node].items()), stated, *given)
            if key in found:
                return found[key]
        except TypeError:  # an array among the attributes
            key = ()
        looked_at: list[int] = []
        try:
            result = stated
            for more in (infer_node(graph, dialect, node, looked_at), shape_by_values(graph, node, parts)):
                if contradiction(result, more) is None:
                    result = refine(result, more)
        except TypeInferenceError:
            result = stated
        if key and not looked_at:
            found[key] = result
        return result

    def run(graph: Graph) -> int:
        if all([is_settled(type_) for type_ in {id(type_): type_ for type_ in graph.types}.values()]):
            return 0
        known = seen.setdefault(graph, {})
        op, operands, types = graph.op, graph.operands, graph.types
        parts: dict[int, Partial] = {}
        count = 0
        for node in graph.in_order():
            if graph.dialect == "onnx" and (part := partial_value(graph, node, parts)) is not None:
                parts[node] = part
            if op[node] in LEAVES or is_settled(type_ := types[node]):
                continue
            given = tuple([(types[o], parts.get(o)) if o >= 0 else None for o in operands[node]])
            now = (operands[node], given)
            if known.get(node) == now:
                continue
            known[node] = now
            refined = inferred(graph, node, given, parts)
            if refined is not type_ and refined != type_:
                types[node] = refined
                count += 1
        return count

    return run


def is_settled(type_: Type | None) -> bool:
    """Whether nothing is left to be known."""
    if isinstance(type_, TupleType):
        return all([is_settled(field) for field in type_.fields])
    return isinstance(type_, TensorType) and type_.dtype is not None and is_static(type_.shape)
