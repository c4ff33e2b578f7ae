"""Folding: what depends on constants and parameters only is computed; limits and kinds."""

from __future__ import annotations

import numpy as np

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.fold import fold
from gslang.evaluate.run import evaluate
from gslang.graph.compare import count_operators
from gslang.graph.graph import CONST, PARAM, Graph
from gslang.graph.inference import infer_types
from gslang.graph.invariants import check_invariants

RELAY = load_dialect("relay")
F32 = "float32"


def network() -> Graph:
    graph = Graph()
    x = graph.add_input("x", TensorType((2, 2), F32))
    w = graph.add_param("w", TensorType((2, 2), F32), np.array([[1, 2], [3, 4]], F32))
    v = graph.add_param("v", TensorType((2, 2), F32), np.array([[5, 6], [7, 8]], F32))
    k = graph.add_const(np.array(2, F32), TensorType((), F32))
    both = graph.add("concatenate", (graph.add_tuple((w, v)),), {"axis": 0})
    scaled = graph.add("multiply", (both, k))
    power = graph.add("exp", (k,))
    y = graph.add("add", (graph.add("nn.dense", (x, scaled)), power))
    graph.set_outputs([y])
    assert infer_types(graph, RELAY) == []
    return graph


def test_parameters_and_constants() -> None:
    graph = network()
    before = evaluate(graph, RELAY, {"x": np.eye(2, dtype=F32)})
    assert fold(graph, RELAY) == 2
    assert check_invariants(graph) == []
    assert count_operators(graph) == {"add": 1, "constants": 1, "nn.dense": 1, "variables": 2}
    assert sorted(graph.op[n] for n in graph.nodes() if n in graph.values) == sorted([PARAM, CONST])
    np.testing.assert_array_equal(evaluate(graph, RELAY, {"x": np.eye(2, dtype=F32)})[0], before[0])


def test_a_parameter_without_value_stays() -> None:
    graph = network()
    w = next(n for n in graph.nodes() if graph.names[n] == "w")
    del graph.values[w]
    fold(graph, RELAY)
    assert count_operators(graph)["concatenate"] == 1


def test_large_results_stay() -> None:
    graph = Graph()
    graph.set_outputs([graph.add("zeros", (), {"shape": (4096, 4096), "dtype": F32})])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 0
    assert fold(graph, RELAY, limit_bytes=None) == 1


def test_stateful_operators_stay() -> None:
    graph = Graph()
    k = graph.add_const(np.array([1.0], F32), TensorType((1,), F32))
    graph.set_outputs([graph.add_proj(graph.add("nn.dropout", (k,)), 0)])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 0
