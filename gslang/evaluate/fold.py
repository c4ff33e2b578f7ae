"""Constant and parameter folding (semantics.md §8): what depends on constants and parameters only is computed now."""

from __future__ import annotations

from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.evaluate.spill import LARGE, Spilled, SpillFile, loaded
from gslang.graph.graph import CONST, DEAD, LEAVES, PARAM, PROJ, TUPLE, Graph
from gslang.graph.inference import contradiction, infer_node, refine

LIMIT = 1 << 20
STAYING = frozenset({"DequantizeLinear", "qnn.dequantize"})  # their results would take four times the room, and hide what is quantized


def fold(graph: Graph, dialect: Dialect, *, limit_bytes: int | None = LIMIT) -> int:
    """Replace calls whose operands are all constants, or parameters with values, by their values. Returns how many.

    Only constants below: a constant; some parameter below: a new parameter. A result that is more than `limit_bytes`
    larger than its operands stays a call. Stateful operators, those without evaluator, and dequantization stay. Unused
    parameters go. What follows from the new values for types behind them is known afterwards.
    """
    from gslang.evaluate.run import EvaluationError, evaluate_node

    known: dict[int, Any] = {}  # node → value, intermediate ones included; None: a constant or parameter that is loaded when needed
    file = SpillFile()
    origin: dict[int, str] = {}  # node → CONST or PARAM
    order = graph.reverse_post_order()
    folded = []
    all_operands, values = graph.operands, graph.values

    def value_of(node: int) -> Any:
        value = known[node]
        if value is not None:
            return loaded(value)
        value = graph.value(node)
        if value is not None and value.nbytes < LARGE:
            known[node] = value
        return value

    for node in order:
        op = graph.op[node]
        if op is CONST or op is PARAM:
            if node in values:
                known[node], origin[node] = None, op
            continue
        operands = all_operands[node]
        if not all([o < 0 or o in known for o in operands]):
            continue
        if op[0] == "%":
            if op is not TUPLE and op is not PROJ:
                continue
        elif (signature := dialect.get(op)) is None or "stateful" in signature.traits or op in STAYING:
            continue
        given = [value_of(o) if o >= 0 else None for o in operands]
        try:
            value = evaluate_node(graph, dialect, node, given)
        except EvaluationError:
            continue
        if not _is_plain(value):
            continue
        if limit_bytes is not None and (nbytes := _nbytes(value)) > limit_bytes:
            if nbytes > limit_bytes + sum(_nbytes(value) for value in dict(zip(operands, given)).values() if value is not None):
                continue
        whole = known[operands[0]] if op is PROJ else None
        known[node] = whole[graph.attrs[node]["index"]] if isinstance(whole, tuple) else file.keep(value)
        origin[node] = PARAM if any([origin[o] is PARAM for o in operands if o >= 0]) else CONST
        folded.append(node)
    computed = set(folded)
    names = {name for name in graph.names if name}
    done: list[int] = []
    for node in folded:
        needed = node in graph.output_uses or any(user not in computed for user in graph.users[node])
        if not needed or isinstance(known[node], tuple):
            continue
        _replace(graph, node, origin[node], known[node], names)
        done.append(node)
    graph.remove_dead([n for n in order if not graph.users[n]])
    _infer_behind(graph, dialect, done, order)
    return len(done)


def _infer_behind(graph: Graph, dialect: Dialect, changed: list[int], order: list[int]) -> None:
    """Types that were not known and follow now: a reshape's result has a shape once the shape is a constant."""
    news = set(changed)
    op, operands, types = graph.op, graph.operands, graph.types
    for node in order if news else ():
        if op[node] is DEAD or op[node] in LEAVES or news.isdisjoint(operands[node]) or (isinstance(type_ := types[node], TensorType) and is_static(type_.shape)):
            continue
        try:
            inferred = infer_node(graph, dialect, node)
        except TypeInferenceError:
            continue
        if contradiction(types[node], inferred) is None and (refined := refine(types[node], inferred)) is not types[node]:
            types[node] = refined
            news.add(node)


def _is_plain(value: Any) -> bool:
    """Arrays and tuples of arrays; not the sequences and optional values of ONNX."""
    return all(map(_is_plain, value)) if isinstance(value, tuple) else hasattr(value, "nbytes")


def _nbytes(value: Any) -> int:
    return sum(_nbytes(v) for v in value) if isinstance(value, tuple) else int(value.nbytes)


def _replace(graph: Graph, node: int, kind: str, value: Any, names: set[str]) -> None:
    import numpy

    old = graph.types[node]
    dtype = old.dtype if isinstance(old, TensorType) and old.dtype else value.dtype.name
    array = value if isinstance(value, Spilled) else numpy.ascontiguousarray(value).reshape(value.shape)
    below = [o for o in graph.operands[node] if o >= 0]
    graph.set_value(node, kind, array, TensorType(tuple(array.shape), dtype))
    if kind is PARAM and graph.names[node] is None:
        count = len(names)
        while f"folded{count}" in names:
            count += 1
        graph.names[node] = f"folded{count}"
        names.add(f"folded{count}")
    graph.remove_dead(below)
