"""`ort-cpu`: calls are measured once and kept; Relay calls run as the ONNX operators that compute the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.agree import compare_values
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from gslang.search.cost.graph_cost import call_at, graph_cost
from gslang.search.cost.measured import MeasuredCosts, call_key, measure_call
from gslang.search.cost.relay_in_onnx import NotInOnnx, relay_in_onnx
from gslang.search.cost.work import Call, UnknownCost

RELAY, ONNX = load_dialect("relay"), load_dialect("onnx")


def network() -> Graph:
    """A Relay graph with each operator that has a counterpart."""
    rng = np.random.default_rng(1)
    b = Builder(RELAY, fill=lambda name, shape: rng.random(shape, dtype=np.float32))
    x = b.input("x", (1, 4, 8, 8))
    c = b.call(
        "nn.conv2d", x, b.param("w", (6, 2, 3, 3)), channels=6, kernel_size=(3, 3), padding=(1, 0, 1, 2),
        groups=2, strides=(2, 1),
    )
    c = b.field(b.call("nn.batch_norm", c, *[b.param(f"n{k}", (6,)) for k in range(4)]), 0)
    c = b.call("nn.bias_add", c, b.param("bias", (6,)))
    c = b.field(b.call("nn.dropout", c), 0)
    p = b.call("nn.max_pool2d", c, pool_size=(3, 3), strides=(1, 1), padding=(1, 1))
    q = b.call("nn.avg_pool2d", c, pool_size=(3, 3), strides=(1, 1), padding=(1, 1))
    parts = b.call("split", b.call("concatenate", b.pack(p, q), axis=1), indices_or_sections=(5,), axis=1)
    y = b.call("transpose", b.field(parts, 1), axes=(0, 2, 3, 1))
    rows = b.call("reshape", y, newshape=(-1, 7))
    dense = b.call("nn.dense", rows, b.param("d", (4, 7)), units=4)
    product = b.call("nn.matmul", dense, b.param("m", (5, 4)), transpose_b=True)
    three = b.call("expand_dims", product, axis=0)
    batched = b.call("nn.batch_matmul", three, b.param("v", (1, 3, 5)))
    ends = [
        b.call("tanh", b.call("squeeze", batched, axis=(0,))), b.call("nn.softmax", product),
        b.call("nn.batch_flatten", b.field(parts, 0)),
    ]
    ends += [
        b.call(op, product, dense_like)
        for dense_like in [b.call("sigmoid", product)]
        for op in ("add", "subtract", "multiply", "maximum", "minimum", "divide")
    ]
    ends += [
        b.call("nn.global_avg_pool2d", c), b.call("exp", b.call("negative", b.call("abs", product))),
        b.call("nn.relu", product), x,
    ]
    widths = ((0, 0), (2, 1), (0, 1), (1, 0))
    ends += [b.call("nn.pad", x, b.const(0.5), pad_width=widths)]
    ends += [b.call("nn.pad", x, pad_width=widths, pad_mode=mode) for mode in ("edge", "reflect")]
    ends += [
        b.call("strided_slice", x, begin=(1,), end=(3,), axes=(-3,)),
        b.call("strided_slice", x, begin=(0, 3, 7), end=(1, -9, 2), strides=(1, -2, -1)),
        b.call("strided_slice", x, begin=(0, 1, 2), end=(-1, 2, 3), slice_mode="size"),
    ]
    return b.finish(*ends)


def test_relay_in_onnx_computes_the_same() -> None:
    graph = network()
    inputs = random_inputs(graph)
    agreement = compare_values(
        evaluate(graph, RELAY, inputs), evaluate(relay_in_onnx(graph, RELAY), ONNX, inputs)
    )
    assert agreement.equal, agreement.reason


def test_what_has_no_counterpart_is_named() -> None:
    b = Builder(RELAY)
    x = b.input("x", (2, 3, 4, 4))
    with pytest.raises(NotInOnnx, match="nn.lrn"):
        relay_in_onnx(b.finish(b.call("nn.lrn", x)), RELAY)
    with pytest.raises(UnknownCost, match="onnxruntime has no `nn.lrn`"):
        measure_call(Call(
            "nn.lrn", (TensorType((2, 3, 4, 4), "float32"),), TensorType((2, 3, 4, 4), "float32"), {}, RELAY,
        ))


def test_equal_calls_are_measured_once(tmp_path: Path) -> None:
    measured: list[str] = []

    def measure(call: Call) -> float:
        measured.append(call.operator)
        return 2.5

    b = Builder(RELAY)
    x = b.input("x", (4, 4))
    y = b.call("nn.matmul", b.call("nn.matmul", x, x), x)
    graph = b.finish(b.call("nn.relu", b.call("reshape", y, newshape=(16,))))
    path = tmp_path / "costs.sqlite"
    assert graph_cost(graph, RELAY, MeasuredCosts(measure, path)).cost == 7.5
    assert measured == ["nn.matmul", "nn.relu"]  # a reshape moves nothing
    assert graph_cost(graph, RELAY, MeasuredCosts(measure, path)).cost == 7.5 and len(measured) == 2
    path.write_bytes(b"no database" * 100)
    assert graph_cost(graph, RELAY, MeasuredCosts(measure, path)).cost == 7.5 and len(measured) == 4


def test_weights_and_small_values_tell_calls_apart() -> None:
    b = Builder(ONNX)
    x = b.input("x", (8, 8))
    halves = [
        b.call("Slice", x, b.const([0], "int64"), b.const([end], "int64"), b.const([0], "int64"))
        for end in (4, 2)
    ]
    product = b.call("MatMul", x, x)
    graph = b.finish(*halves, product)
    keys = {
        call_key(call_at(graph, ONNX, node, fixed))
        for node in (*halves, product)
        for fixed in ((False, False), (False, True))
    }
    assert len(keys) == 6


def test_onnxruntime_is_asked() -> None:
    b = Builder(ONNX)
    large, small = b.input("x", (256, 256)), b.input("y", (4, 4))
    nodes = [b.call("MatMul", large, large), b.call("MatMul", small, small)]
    cut = b.call("Slice", large, b.const([0], "int64"), b.const([4], "int64"), b.const([0], "int64"))
    graph = b.finish(*nodes, cut)
    costs = [measure_call(call_at(graph, ONNX, node, (False, True))) for node in (*nodes, cut)]
    assert all(np.isfinite(cost) and cost >= 0 for cost in costs)
