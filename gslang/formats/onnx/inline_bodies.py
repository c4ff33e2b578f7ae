"""Bodies that are sure to run take the places of their calls: the branch of an `If` whose condition is a
constant, and each round of a `Loop` of few rounds whose number is a constant and whose condition stays true.
A loop without a round is replaced by what it carries.

Part of `fold`: what constants decide is decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import PLAIN
from gslang.dialect.onnx.attributes import Body
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, TupleType, Type
from gslang.engine.edits import edits_of
from gslang.formats.onnx.model_graph import read_message
from gslang.formats.onnx.outside import Outside
from gslang.formats.onnx.records import KEY, NodeRecord, model_record, node_record
from gslang.graph.graph import CONST, PROJ, VARIABLES, Graph
from gslang.graph.inference import infer_node

MOST_ROUNDS: Final = 16  # of a loop
MOST_NODES: Final = 1024  # that all rounds of a loop may have together


def inline_bodies(graph: Graph, dialect: Dialect) -> int:
    """Let bodies that are sure to run take the places of their calls; returns how many calls went."""
    gone = 0
    for node in graph.in_order():
        if graph.op[node] in ("If", "Loop") and (results := _results(graph, node)):
            edits = edits_of(graph, dialect)
            first = len(graph.op)
            nows = (_branch if graph.op[node] == "If" else _rounds)(graph, dialect, node)
            if nows is None or any(k >= len(nows) or nows[k] < 0 for k in results):
                graph.discard_from(first)
                continue
            olds, new = list(results.values()), [nows[k] for k in results]
            if edits.type_mismatch(olds, new) is not None:
                graph.discard_from(first)
                continue
            edits.replace(olds, new, first, None, True, (), [])
            gone += 1
    return gone


def _results(graph: Graph, node: int) -> dict[int, int]:
    """The results of a call that are read, by number; none where it is read as a whole."""
    readers = list(graph.users[node])
    if all(graph.op[user] is PROJ for user in readers) and node not in graph.output_uses:
        return {int(graph.attrs[user]["index"]): user for user in sorted(readers)}
    return {} if isinstance(graph.types[node], TupleType) else {0: node}


def _branch(graph: Graph, dialect: Dialect, node: int) -> list[int] | None:
    condition = _constant(graph, graph.operands[node][0])
    if condition is None or condition.size != 1:
        return None
    body = graph.attrs[node].get("then_branch" if bool(condition.reshape(-1)[0]) else "else_branch")
    outside = _outside(graph, dialect, node)
    if not isinstance(body, Body) or outside is None:
        return None
    return _Splice(graph, outside, body).run({})


def _rounds(graph: Graph, dialect: Dialect, node: int) -> list[int] | None:
    """The unrolled body of a loop; None if the number of rounds is unknown or large."""
    body, outside = graph.attrs[node].get("body"), _outside(graph, dialect, node)
    if not isinstance(body, Body) or outside is None:
        return None
    formal = graph.operands[node][: len(graph.operands[node]) - len(outside.values)]
    if len(formal) < 2:
        return None
    carried, splice = list(formal[2:]), _Splice(graph, outside, body)
    inputs, count = splice.inputs, _count(graph, formal[0], formal[1], splice)
    if (
        count is None or count > MOST_ROUNDS or count * len(splice.inner) > MOST_NODES
        or len(inputs) != 2 + len(carried)
    ):
        return None
    collected = splice.inner.outputs[1 + len(carried) :]
    if count == 0:
        return [*carried, *[_nothing(graph, splice.inner.types[item]) for item in collected]]
    scans: list[list[int]] = [[] for _ in collected]
    for k in range(count):
        given = dict(
            zip(inputs, (_number(graph, k, "int64", ()), _number(graph, True, "bool", ()), *carried))
        )
        made = splice.run(given)
        if not made:
            return None
        carried = made[1 : 1 + len(carried)]
        for items, item in zip(scans, made[1 + len(carried) :]):
            items.append(item)
    return [*carried, *(_stacked(graph, dialect, items) for items in scans)]


def _count(graph: Graph, trips: int, condition: int, splice: _Splice) -> int | None:
    """The number of rounds of a loop whose operands these are; None if it is not known."""
    most, start = _constant(graph, trips), _constant(graph, condition)
    if most is not None and most.size != 1 or start is not None and start.size != 1:
        return None
    count = None if most is None else max(int(most.reshape(-1)[0]), 0)
    if count == 0 or start is not None and not start.all():
        return 0
    return count if (condition < 0 or start is not None) and splice.goes_on() else None


def _nothing(graph: Graph, type_: Type | None) -> int:
    """The collected results of this type of no round; -1 where its sizes are not known."""
    match type_:
        case TensorType(tuple(shape), dtype) if dtype in PLAIN:
            sizes = tuple([d for d in shape if isinstance(d, int)])
            if len(sizes) == len(shape):
                return _number(graph, (), dtype, (0, *sizes))
    return -1


def _stacked(graph: Graph, dialect: Dialect, items: list[int]) -> int:
    """The results of all rounds along a new first axis."""
    axes = _number(graph, [0], "int64", (1,))
    parts = [_typed(graph, dialect, graph.add("Unsqueeze", (item, axes))) for item in items]
    return parts[0] if len(parts) == 1 else _typed(graph, dialect, graph.add("Concat", parts, {"axis": 0}))


def _typed(graph: Graph, dialect: Dialect, node: int) -> int:
    try:
        graph.types[node] = infer_node(graph, dialect, node)
    except TypeInferenceError:
        graph.types[node] = None
    return node


def _number(graph: Graph, value: object, dtype: str, shape: tuple[int, ...]) -> int:
    import numpy

    return graph.add_const(numpy.asarray(value, dtype).reshape(shape), TensorType(shape, dtype))


def _constant(graph: Graph, node: int) -> Any:
    return graph.value(node) if node >= 0 and graph.op[node] is CONST else None


def _outside(graph: Graph, dialect: Dialect, node: int) -> Outside | None:
    record = model_record(graph)
    return None if record is None else Outside(read_message, graph, node, record, dialect)


class _Splice:
    """A body, and copies of it in the graph around it."""

    def __init__(self, graph: Graph, outside: Outside, body: Body) -> None:
        self.graph, self.outside = graph, outside
        self.shown: set[str] = set()
        self.inner = outside.read(body, self.shown)
        inner = self.inner
        self.inputs = [
            str(inner.names[n])
            for n in inner.nodes() if inner.op[n] in VARIABLES and inner.names[n] not in self.shown
        ]
        self.known = {d for o in outside.values.values() for d in _symbols(graph.types[o])}

    def goes_on(self) -> bool:
        """True if a loop's body is sure to leave its condition true."""
        inner, out = self.inner, self.inner.outputs[0]
        while inner.op[out] == "Identity":
            out = inner.operands[out][0]
        if inner.op[out] is CONST:
            value = inner.value(out)
            return value is not None and bool(value.all())
        return inner.op[out] in VARIABLES and inner.names[out] == self.inputs[1]

    def run(self, given: Mapping[str, int]) -> list[int]:
        """Add the body's nodes; its results, none if an input is not given. `given`: its own inputs."""
        graph, inner, made = self.graph, self.inner, dict[int, int]()
        where = {**{name: self.outside.values[name] for name in self.shown}, **given}
        for node in inner.in_order():
            name, op = inner.names[node], inner.op[node]
            if (op in VARIABLES or op is CONST) and name in where:
                made[node] = where[name]
                continue
            if op in VARIABLES and node not in inner.values:
                return []  # an input that nobody gives
            op = CONST if op in VARIABLES else op
            operands = tuple(made[o] if o >= 0 else o for o in inner.operands[node])
            new = graph.add(op, operands, inner.attrs[node], self._type(inner.types[node]))
            if node in inner.values:
                graph.values[new] = inner.values[node]
            record = node_record(inner, node)
            if op is CONST and record is not None:
                graph.extras[new] = {KEY: NodeRecord(-1, None, None, record.value)}
            made[node] = new
        return [made[node] for node in inner.outputs]

    def _type(self, type_: Type | None) -> Type | None:
        """Names of sizes mean something in the body only, but those of values that it reads."""
        match type_:
            case TensorType(shape, dtype) if shape is not None:
                return TensorType(
                    tuple(UNKNOWN if isinstance(d, Symbol) and d not in self.known else d for d in shape),
                    dtype,
                )
            case TupleType(fields):
                return TupleType(tuple(map(self._type, fields)))
        return type_


def _symbols(type_: Type | None) -> set[Symbol]:
    shape = type_.shape if isinstance(type_, TensorType) else None
    return {d for d in shape or () if isinstance(d, Symbol)}
