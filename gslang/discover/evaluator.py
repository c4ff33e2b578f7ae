"""Types and values of terms. Inputs are small fractions of powers of 2, on which sums and products of floats
are exact; other functions are compared to about eight digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from gslang.check.checked import Meaning
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import TensorType, Type
from gslang.discover.formers import SIZES, Former
from gslang.discover.terms import Tree
from gslang.engine.edits import BuildError
from gslang.engine.meaning import value_graph
from gslang.engine.values import FAILURES
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import node_evaluator
from gslang.graph.graph import CONST, INPUT, Graph
from gslang.graph.inference import infer_node

LARGEST = 1e9  # a number that a term may reach, so that eight digits of it are known


class Evaluator:
    """Types and values of calls of formers."""

    def __init__(self, formers: Sequence[Former], dialect: Dialect) -> None:
        self.formers, self.dialect = formers, dialect
        self._compute: dict[tuple[int, int, tuple[Type, ...]], Callable[[list[Any]], Any]] = {}
        self._types: dict[tuple[int, int, tuple[Type, ...]], Type | None] = {}

    def type_of(self, former: int, at: int, operands: tuple[Type, ...]) -> Type | None:
        """The result's type, None where operands do not fit. `at`: which of `SIZES` attributes are taken at.
        """
        key = (former, at, operands)
        if key not in self._types:
            graph, node = self.graph_of(former, SIZES[at], operands)
            self._types[key] = None if node is None else graph.types[node]
        return self._types[key]

    def graph_of(
        self, former: int, sizes: Mapping[str, int], operands: tuple[Type, ...]
    ) -> tuple[Graph, int | None]:
        """A graph with one call, and its result; None where it does not type-check."""
        what = self.formers[former]
        graph = Graph(self.dialect.name)
        nodes = [graph.add_input(f"x{k}", type_) for k, type_ in enumerate(operands)]
        return graph, add_call(graph, self.dialect, what, nodes, what.attributes(sizes))

    def compute(self, former: int, at: int, operands: tuple[Type, ...], values: list[object]) -> Any:
        """The value of a call that type-checks. Raises `EvaluationError`."""
        key = (former, at, operands)
        run = self._compute.get(key)
        if run is None:
            run = self._compute[key] = self._prepare(former, at, operands)
        return run(values)

    def _prepare(self, former: int, at: int, operands: tuple[Type, ...]) -> Callable[[list[Any]], Any]:
        what = self.formers[former]
        if what.constant is not None:
            value = np.asarray(what.constant)
            return lambda values: value
        graph, _ = self.graph_of(former, SIZES[at], operands)
        meaning = self.dialect.operators[what.op].meaning
        if meaning is not None and not what.packed and what.index is None:
            return self._by_meaning(meaning, what, at, operands)
        compute = node_evaluator(graph, self.dialect)
        node = len(graph.op) - 1 - (what.index is not None)
        index, packed = what.index, what.packed

        def run(values: list[Any]) -> Any:
            result = compute(node, [tuple(values)] if packed else values)
            return result if index is None else result[index]

        return run

    def _by_meaning(
        self, meaning: Meaning, what: Former, at: int, operands: tuple[Type, ...]
    ) -> Callable[[list[Any]], Any]:
        """A function that computes a declared operator: the graph of its declared value, made once."""
        attrs = self.dialect.operators[what.op].complete(what.attributes(SIZES[at]))
        try:
            graph = value_graph(meaning, self.dialect, operands, attrs)
        except (BuildError, *FAILURES) as error:
            raise EvaluationError(f"`{what.op}` cannot be computed: {error}") from error
        if graph is None:
            raise EvaluationError(f"`{what.op}` has no declared value")
        compute, order = node_evaluator(graph, self.dialect), list(graph.reverse_post_order())

        def run(values: list[Any]) -> Any:
            known: dict[int, object] = {}
            for node in order:
                if graph.op[node] is INPUT:
                    known[node] = values[int(graph.names[node] or 0)]
                elif graph.op[node] is CONST:
                    known[node] = graph.value(node)
                else:
                    known[node] = compute(
                        node, [known[o] if o >= 0 else None for o in graph.operands[node]]
                    )
            return known[graph.outputs[0]]

        return run


def add_call(
    graph: Graph, dialect: Dialect, former: Former, operands: Sequence[int], attrs: Mapping[str, object]
) -> int | None:
    """Add a former's call to a graph; its result, None where types contradict or are not known."""
    if former.constant is not None:
        return graph.add_const(np.asarray(former.constant, "float32"), TensorType((), "float32"))
    given = list(operands)
    if former.packed:
        given = [graph.add_tuple(given)]
        graph.types[given[0]] = infer_node(graph, dialect, given[0])
    node = graph.add(former.op, given, dict(attrs))
    try:
        graph.types[node] = infer_node(graph, dialect, node)
        if former.index is not None:
            node = graph.add_proj(node, former.index)
            graph.types[node] = infer_node(graph, dialect, node)
    except TypeInferenceError:
        return None
    type_ = graph.types[node]
    fits = (
        isinstance(type_, TensorType)
        and type_.shape is not None
        and all(isinstance(d, int) and d > 0 for d in type_.shape)
    )
    return node if fits else None


def build(
    graph: Graph,
    tree: Tree,
    inputs: Sequence[int],
    formers: Sequence[Former],
    dialect: Dialect,
    sizes: Mapping[str, int],
) -> int | None:
    """Add a term to a graph; its node, None where it does not type-check."""
    if isinstance(tree, int):
        return inputs[tree]
    operands = build_all(graph, tree[1:], inputs, formers, dialect, sizes)
    if operands is None:
        return None
    former = formers[tree[0]]
    return add_call(graph, dialect, former, operands, former.attributes(sizes))


def build_all(
    graph: Graph,
    trees: Sequence[Tree],
    inputs: Sequence[int],
    formers: Sequence[Former],
    dialect: Dialect,
    sizes: Mapping[str, int],
) -> list[int] | None:
    """Add several terms to a graph; None where one of them does not type-check."""
    found: list[int] = []
    for tree in trees:
        node = build(graph, tree, inputs, formers, dialect, sizes)
        if node is None:
            return None
        found.append(node)
    return found


@lru_cache(maxsize=4096)
def input_value(number: int, at: int, type_: Type) -> object:
    """The value of a variable: positive and negative quarters, for each variable and size others."""
    assert isinstance(type_, TensorType) and type_.shape is not None
    random = np.random.default_rng([17, number, at])
    quarters = random.integers(1, 14, type_.shape) * random.choice([-1, 1], type_.shape)
    return quarters / 4.0


def fingerprint(values: Sequence[Any]) -> bytes:
    """Equal for values that agree to about eight digits after the point."""
    print_ = blake2b(digest_size=16)
    for value in values:
        print_.update(repr((value.shape, value.dtype.kind)).encode())
        whole = (
            value
            if value.dtype.kind in "biu"
            else np.rint(np.where(np.isfinite(value), value, LARGEST) * 6.3e7 + 0.317).astype(np.int64)
        )
        print_.update(np.ascontiguousarray(whole).tobytes())
    return print_.digest()
