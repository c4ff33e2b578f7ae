"""Folding: what depends on constants and parameters only is computed; limits and kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.evaluate.fold import fold
from gslang.evaluate.run import evaluate
from gslang.evaluate.work import work_of
from gslang.formats.weights import attach_params
from gslang.graph.builder import Builder
from gslang.graph.compare import count_operators
from gslang.graph.graph import CONST, PARAM, Graph
from gslang.graph.inference import infer_types
from tests.graph.invariants import check_invariants

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


def test_what_follows_from_large_values_is_computed() -> None:
    """The sum of 4096 × 4096 zeros is one number; the zeros are never kept, and another large value made of
    them stays too.
    """
    graph = Graph()
    zeros = graph.add("zeros", (), {"shape": (4096, 4096), "dtype": F32})
    large = graph.add("exp", (zeros,))
    graph.set_outputs([graph.add("sum", (large,)), graph.add("tanh", (large,))])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 1 and check_invariants(graph) == []
    assert [graph.op[n] for n in graph.outputs] == [CONST, "tanh"] and graph.value(
        graph.outputs[0]
    ) == 4096 * 4096
    assert graph.op[zeros] == "zeros" and graph.op[large] == "exp"


def test_nothing_enormous_is_computed_on_the_way() -> None:
    graph = Graph()
    zeros = graph.add("zeros", (), {"shape": (1 << 20, 1 << 20), "dtype": F32})
    graph.set_outputs([graph.add("sum", (zeros,))])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 0


def test_a_result_as_large_as_its_operands_is_computed() -> None:
    graph = Graph()
    w = graph.add_const(np.ones((1024, 1024), F32), TensorType((1024, 1024), F32))
    half = graph.add("multiply", (w, graph.add_const(np.array(0.5, F32), TensorType((), F32))))
    wide = graph.add("concatenate", (graph.add_tuple((half, half)),), {"axis": 0})
    graph.set_outputs([half, wide])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 1 and [graph.op[n] for n in graph.outputs] == [CONST, "concatenate"]
    # the half is an output and stays: nothing goes for the eight
    assert fold(graph, RELAY, limit_bytes=4 << 20) == 0
    assert fold(graph, RELAY, limit_bytes=8 << 20) == 1


@pytest.mark.parametrize("shared", [True, False])
def test_a_large_constant_is_not_stored_twice(shared: bool) -> None:
    """An embedding that the last product reads transposed stays one constant; what nothing else reads is
    transposed.
    """
    graph = Graph()
    x, y = (graph.add_input(name, TensorType((2, 1024), F32)) for name in "xy")
    w = graph.add_const(np.ones((1024, 1024), F32), TensorType((1024, 1024), F32))
    turned = graph.add("transpose", (w,), {"axes": (1, 0)})
    graph.set_outputs([graph.add("nn.dense", (x, w if shared else y)), graph.add("nn.dense", (y, turned))])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == (not shared)
    assert fold(graph, RELAY, limit_bytes=None) == shared


def test_stateful_operators_stay() -> None:
    graph = Graph()
    k = graph.add_const(np.array([1.0], F32), TensorType((1,), F32))
    graph.set_outputs([graph.add_proj(graph.add("nn.dropout", (k,)), 0)])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 0


def test_types_behind_what_was_computed_are_known() -> None:
    onnx = load_dialect("onnx")
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((2, 3), F32))
    parts = [graph.add_const(np.array([size], np.int64), TensorType((1,), "int64")) for size in (3, 2)]
    shape = graph.add("Concat", parts, {"axis": 0}, TensorType((2,), "int64"))
    reshaped = graph.add("Reshape", (x, shape), {}, TensorType((UNKNOWN, UNKNOWN), F32))
    graph.set_outputs([graph.add("Relu", (reshaped,), {}, TensorType((UNKNOWN, UNKNOWN), F32))])
    assert fold(graph, onnx) == 1
    assert graph.types[graph.outputs[0]] == graph.types[reshaped] == TensorType((3, 2), F32)


def test_what_is_quantized_stays_so() -> None:
    onnx = load_dialect("onnx")
    graph = Graph("onnx")
    w = graph.add_const(np.ones((2, 2), np.int8), TensorType((2, 2), "int8"))
    scale = graph.add_const(np.array(0.5, F32), TensorType((), F32))
    graph.set_outputs([graph.add("DequantizeLinear", (w, scale), {}, TensorType((2, 2), F32))])
    assert fold(graph, onnx) == 0


def test_equal_small_constants_are_equal_operands() -> None:
    graph = Graph()
    x = graph.add_input("x", TensorType((2, 2), F32))
    sums = []
    for value in (1.0, 1.0, 2.0):
        k = graph.add_const(np.array(value, F32), TensorType((), F32))
        sums.append(graph.add("add", (x, k), {}, TensorType((2, 2), F32)))
    graph.set_outputs(sums)
    assert merge_equal_calls(graph, RELAY) == 1
    assert graph.outputs[0] == graph.outputs[1] != graph.outputs[2] and check_invariants(graph) == []


def test_what_a_kept_tuple_is_made_of_is_computed() -> None:
    graph = Graph()
    w = graph.add_param("w", TensorType((4096,), F32), np.ones(4096, F32))
    fields = [graph.add("exp", (graph.add(op, (w,)),)) for op in ("sin", "cos")]
    pair = graph.add_tuple(fields)
    graph.set_outputs([pair, graph.add("concatenate", (graph.add_tuple(fields * 2),), {"axis": 0})])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 3
    assert check_invariants(graph) == []
    assert count_operators(graph) == {"tuples": 1, "variables": 3}
    assert [graph.op[n] for n in graph.operands[pair]] == [PARAM, PARAM]


def test_parameters_that_others_read_stay() -> None:
    graph = Graph()
    x = graph.add_input("x", TensorType((2,), F32))
    w = graph.add_param("w", TensorType((2,), F32), np.ones(2, F32))
    unused = graph.add("exp", (w,))  # no output depends on it
    graph.set_outputs([graph.add("add", (x, w)), graph.add("add", (x, graph.add("sin", (w,))))])
    infer_types(graph, RELAY)
    assert fold(graph, RELAY) == 1
    assert check_invariants(graph) == []
    assert graph.op[w] is PARAM and graph.op[unused] == "%dead"


@pytest.mark.parametrize("limit", [0, 1 << 20, None])
def test_weights_that_wait_in_a_file(tmp_path: Path, limit: int | None) -> None:
    """Results larger than the limit, of parameters that nobody has loaded yet."""
    weights = {name: np.full((600, 600), value, F32) for name, value in (("w", 1.5), ("v", 2.5))}
    np.savez(tmp_path / "w.npz", **weights)
    graph = Graph()
    x = graph.add_input("x", TensorType((600,), F32))
    w, v = (graph.add_param(name, TensorType((600, 600), F32)) for name in weights)
    graph.set_outputs([
        graph.add("nn.dense", (x, graph.add("add", (w, v)))),
        graph.add("concatenate", (graph.add_tuple((w, v)),), {"axis": 0}),
    ])
    infer_types(graph, RELAY)
    attach_params(graph, tmp_path / "w.npz")
    assert fold(graph, RELAY, limit_bytes=limit) == 2
    assert check_invariants(graph) == []
    np.testing.assert_array_equal(evaluate(graph, RELAY, {"x": np.ones(600, F32)})[1][:600], weights["w"])


@pytest.mark.parametrize(
    ("operator", "shapes", "attrs", "work"),
    [
        ("nn.dense", [(4, 5), (6, 5)], {}, 4 * 6 * 5 + 4 * 6 + 20 + 30),
        ("nn.conv2d", [(1, 3, 8, 8), (4, 3, 3, 3)], {"padding": (1, 1)}, 256 * 27 + 256 + 192 + 108),
        ("add", [(4, 5), (5,)], {}, 45),
    ],
)
def test_the_work_of_a_call(
    operator: str, shapes: list[tuple[int, ...]], attrs: dict[str, Any], work: int
) -> None:
    build = Builder(RELAY)
    node = build.call(operator, *(build.input(f"x{k}", shape) for k, shape in enumerate(shapes)), **attrs)
    assert work_of(build.finish(node), node) == work


@pytest.mark.parametrize(("attrs", "times"), [({}, 100), ({"direction": "bidirectional"}, 200)])
def test_the_work_of_steps(attrs: dict[str, Any], times: int) -> None:
    build = Builder(load_dialect("onnx"))
    shapes = [(100, 1, 3), (1, 16, 3), (1, 16, 4)]
    operands = [build.input(f"x{k}", shape) for k, shape in enumerate(shapes)]
    node = build.call("LSTM", *operands, hidden_size=4, **attrs)
    assert 10**6 < work_of(build.finish(node), node) // times < 10**7  # 10**5 steps are too many


def test_what_would_take_too_long_is_left_and_named() -> None:
    build = Builder(RELAY)
    ones = [build.call("zeros", shape=(7_000, 7_000), dtype="float32") for _ in range(2)]
    product = build.call("nn.dense", *ones)
    small = build.call("add", *(build.const(np.ones(3, np.float32)) for _ in range(2)))
    graph = build.finish(
        build.call("sum", product), build.call("nn.relu", build.call("add", small, build.input("x", (3,))))
    )
    assert fold(graph, RELAY) == 1
    (warning,) = graph.meta["warnings"]
    assert warning.startswith("not folded: `nn.dense`") and "100,000,000,000" in warning
