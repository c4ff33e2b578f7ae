"""The cost of a graph: its calls priced one by one, with parameters and the peak of activation memory."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from math import fsum, prod
from typing import Any, Final

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import Dimension, Symbol, TensorType, TupleType, Type, is_static
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.known_types import is_read_settled, is_settled, refiner
from gslang.evaluate.memory import Memory
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import leaf_value, node_evaluator
from gslang.evaluate.value_types import type_of
from gslang.graph.graph import CONST, INPUT, LEAVES, PARAM, PROJ, TUPLE, Graph
from gslang.graph.known_calls import true_name
from gslang.search.cost.tables import CostTable
from gslang.search.cost.work import RENAMES, Call, UnknownCost, UnknownSize, Work, bytes_of, work_of

_JOINS: Final = frozenset(("concatenate", "Concat"))


@dataclass(frozen=True, slots=True)
class CallCost:
    """`work` is None where only the table knows the operator."""

    node: int
    operator: str
    cost: float
    work: Work | None


@dataclass(frozen=True, slots=True)
class GraphCost:
    """`parameters`: elements of weights that are read; `peak`: bytes of values that are needed at one time,
    weights aside (None if a size is not known).
    """

    calls: tuple[CallCost, ...]
    cost: float
    macs: int
    operations: int
    moved: int
    parameters: int
    peak: int | None


def with_sizes(graph: Graph, dialect: Dialect, sizes: Mapping[str, int]) -> Graph:
    """A copy whose symbolic dimensions have these sizes, with types inferred again."""
    result = graph.copy()
    result.types = [_sized(type, sizes) for type in result.types]
    refiner(dialect)(result)
    _observe_types(result, dialect)
    return result


def symbolic_dimensions(graph: Graph) -> list[str]:
    """The names of the dimensions of inputs, parameters and constants that have no size."""
    types = [graph.types[node] for node in graph.nodes() if graph.op[node] in LEAVES]
    return list(dict.fromkeys(
        d.name for t in types if isinstance(t, TensorType) for d in t.shape or () if isinstance(d, Symbol)
    ))


def _observe_types(graph: Graph, dialect: Dialect) -> None:
    """Where sizes follow from computed values, which inference does not follow, compute the graph once on
    random inputs. Types stay unknown if that is impossible.
    """
    order = graph.reverse_post_order()
    leaves = [graph.types[n] for n in order if graph.op[n] in LEAVES]
    if all([is_settled(graph.types[n]) or is_read_settled(graph, n) for n in order]):
        return
    if not all(map(is_settled, leaves)):
        return
    import numpy

    values: dict[int, object] = {}
    try:
        inputs, memory = random_inputs(graph), Memory(graph)
        compute = node_evaluator(graph, dialect, memory.most)
        memory.check_types(graph)
        with numpy.errstate(all="ignore"):
            for node in order:
                operands = [values[o] if o >= 0 else None for o in graph.operands[node]]
                values[node] = (
                    leaf_value(graph, node, inputs) if graph.op[node] in LEAVES else compute(node, operands)
                )
                memory.keep(graph, node, values[node])
                if not is_settled(graph.types[node]):
                    graph.types[node] = type_of(values[node])
    except (EvaluationError, MemoryError, RecursionError):  # tuples may be thousands deep in one another
        return


def _sized(type: Type | None, sizes: Mapping[str, int]) -> Type | None:
    if isinstance(type, TupleType):
        return TupleType(tuple([_sized(field, sizes) for field in type.fields]))
    if isinstance(type, TensorType) and type.shape is not None:
        shape: tuple[Dimension, ...] = tuple(
            [sizes.get(d.name, d) if isinstance(d, Symbol) else d for d in type.shape]
        )
        return TensorType(shape, type.dtype)
    return type


def call_at(graph: Graph, dialect: Dialect, node: int, fixed: tuple[bool, ...] = ()) -> Call:
    """A node as something to price; `fixed`: which operands depend on weights only."""
    operands = graph.operands[node]
    types = tuple([graph.types[o] if o >= 0 else None for o in operands])
    values = {k: value for k, o in enumerate(operands) if (value := small_value(graph, o)) is not None}
    op = true_name(graph.op[node])
    return Call(op, types, graph.types[node], graph.attrs[node], dialect, fixed, values)


def small_value(graph: Graph, node: int) -> Any:
    """The value of a constant of at most 64 elements, which may tell how much a call does; else None."""
    if node < 0 or graph.op[node] is not CONST:
        return None
    value = graph.value(node)
    return value if getattr(value, "size", 65) <= 64 else None


def weight_nodes(graph: Graph, nodes: Iterable[int]) -> set[int]:
    """Those of some nodes, operands first, that depend on parameters and constants only."""
    found: set[int] = set()
    for node in nodes:
        if is_weight(graph, node, found):
            found.add(node)
    return found


def is_weight(graph: Graph, node: int, below: Container[int]) -> bool:
    """True if a node depends on parameters and constants only; `below`: those of its operands that do."""
    op = graph.op[node]
    return op in (PARAM, CONST) or op is not INPUT and all(
        [o < 0 or o in below for o in graph.operands[node]]
    )


def fixed_operands(graph: Graph, node: int, constant: Container[int]) -> tuple[bool, ...]:
    """For each operand, True if it is one of these nodes, or absent."""
    return tuple([o < 0 or o in constant for o in graph.operands[node]])


def price(
    graph: Graph, dialect: Dialect, table: CostTable, node: int, fixed: tuple[bool, ...], weights: str
) -> float:
    """The cost of a node: 0 if it is not a call, or depends on weights only (all operands are `fixed`) and
    these are free. Raises `UnknownCost`.
    """
    if not graph.is_call(node):
        return 0.0
    if all(fixed) and (weights == "free" or weights == "concat-free" and graph.op[node] in _JOINS):
        return 0.0
    return table.cost(call_at(graph, dialect, node, fixed))


def graph_cost(graph: Graph, dialect: Dialect, table: CostTable, weights: str | None = None) -> GraphCost:
    """The cost of each call that the outputs need, in order, and in total.

    Raises `UnknownCost` for the first without one, `UnknownSize` if symbolic dimensions need sizes.
    """
    try:
        return _graph_cost(graph, dialect, table, weights)
    except UnknownCost as error:
        if not (names := symbolic_dimensions(graph)):
            raise
        needed = " ".join(f"--dim {name}=N" for name in names)
        why = str(error).partition("\n")[0]
        raise UnknownSize(f"{why}\n  help: give symbolic dimensions a size: {needed}") from None


def _graph_cost(graph: Graph, dialect: Dialect, table: CostTable, weights: str | None) -> GraphCost:
    order = graph.reverse_post_order()
    constant = weight_nodes(graph, order)
    calls = []
    for node in order:
        if not graph.is_call(node):
            continue
        cost = price(
            graph, dialect, table, node, fixed_operands(graph, node, constant), weights or table.weights
        )
        try:
            work: Work | None = work_of(call_at(graph, dialect, node))
        except UnknownCost:
            work = None
        if node in constant:  # computed once, before the network runs
            work = None
        calls.append(CallCost(node, graph.op[node], cost, work))
    works = [call.work for call in calls if call.work is not None]
    return GraphCost(
        tuple(calls), fsum(call.cost for call in calls), sum(w.macs for w in works),
        sum(w.operations for w in works), sum(w.moved for w in works), parameters(graph, order),
        peak_memory(graph, order, constant),
    )


class Prices:
    """Total costs of the many graphs of one search: equal calls are priced once."""

    def __init__(self, dialect: Dialect, table: CostTable, weights: str | None) -> None:
        self.dialect, self.table, self.weights = dialect, table, weights or table.weights
        self._known: dict[object, tuple[object, float | None]] = {}

    def total(self, graph: Graph) -> float | None:
        """As `graph_cost(…).cost`; None if a call has no cost."""
        order = graph.reverse_post_order()
        constant = weight_nodes(graph, order)
        costs = [
            self.price(graph, node, fixed_operands(graph, node, constant))
            for node in order if graph.is_call(node)
        ]
        return None if None in costs else fsum(cost for cost in costs if cost is not None)

    def price(self, graph: Graph, node: int, fixed: tuple[bool, ...]) -> float | None:
        """The cost of a call; None if it has none."""
        attrs, types, operands = graph.attrs[node], graph.types, graph.operands[node]
        values = tuple(
            [None if (value := small_value(graph, o)) is None else value.tobytes() for o in operands]
        )
        given: object = tuple(attrs.items())
        try:
            hash(given)
        except TypeError:  # an array or a graph; graphs of a search share these
            given = id(attrs)
        key = (
            graph.op[node], given, tuple([types[o] if o >= 0 else None for o in operands]), types[node],
            fixed, values,
        )
        found = self._known.get(key)
        if found is None:
            try:
                cost: float | None = price(graph, self.dialect, self.table, node, fixed, self.weights)
            except UnknownCost:
                cost = None
            found = self._known[key] = (attrs, cost)  # what has an identity must stay alive
        return found[1]


def parameters(graph: Graph, order: Iterable[int]) -> int:
    """Elements of the parameters and constants of at least one dimension."""
    types = [graph.types[n] for n in order if graph.op[n] in (PARAM, CONST)]
    shapes = [t.shape for t in types if isinstance(t, TensorType) and is_static(t.shape)]
    return sum(prod(shape) for shape in shapes if shape)  # type: ignore[arg-type, misc]


def peak_memory(graph: Graph, order: list[int], constant: set[int]) -> int | None:
    """The most bytes of inputs and computed values alive at one time, each from where it is made to its last
    reader.
    """
    owner: dict[int, tuple[int, ...]] = {}  # node → those whose memory it is in
    last: dict[int, int] = {}
    for at, node in enumerate(order):
        renamed = graph.op[node] in RENAMES or graph.op[node] in (TUPLE, PROJ)
        below = [o for o in graph.operands[node] if o >= 0]
        owner[node] = (
            tuple(dict.fromkeys(x for o in below for x in owner[o])) if renamed and below else (node,)
        )
        for operand in below:
            for holder in owner[operand]:
                last[holder] = at
    for output in graph.outputs:
        for holder in owner[output]:
            last[holder] = len(order)
    ends: dict[int, list[int]] = {}
    now = peak = 0
    try:
        inputs = [n for n in order if graph.op[n] is INPUT]
        now = sum(_bytes(graph, n) for n in inputs)
        for node in inputs:
            ends.setdefault(last.get(node, len(order)), []).append(node)
        for at, node in enumerate(order):
            if owner[node] == (node,) and node not in constant and graph.op[node] is not INPUT:
                now += _bytes(graph, node)
                ends.setdefault(last.get(node, at), []).append(node)
            peak = max(peak, now)
            now -= sum(_bytes(graph, n) for n in ends.get(at, ()))
    except ValueError:
        return None
    return peak


def _bytes(graph: Graph, node: int) -> int:
    type = graph.types[node]
    if type is None:
        raise ValueError("a type is not known")
    return bytes_of(type)
