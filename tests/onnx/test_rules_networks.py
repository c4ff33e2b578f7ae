"""The passes of the shipped rules on networks as exporters write them: fewer nodes, valid models, equal
numbers.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

import gslang
from gslang.evaluate.run import evaluate
from tests.onnx.networks import NETWORKS
from tests.onnx.networks.network import Network

# Nodes left of the narrow networks, `Constant`s not counted: a rule that stops working is seen, one more may
# lower them.
LEFT = {"resnet50": 121, "mobilenet": 84, "unet": 54, "bert": 63, "gpt2": 69, "llama": 35, "quantized": 58}
LEFT_OF_NEWER = {"bert": 36, "gpt2": 31}


@cache
def rules() -> gslang.Rules:
    return gslang.load("std.onnx")


def count(model: ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node if node.op_type != "Constant")


def feeds_of(model: ModelProto, batch: int = 2, length: int = 5) -> dict[str, Any]:
    random, feeds = np.random.default_rng(0), {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [d.dim_value or {"batch": batch, "length": length}[d.dim_param] for d in tensor.shape.dim]
        feeds[value.name] = (
            random.standard_normal(shape).astype(np.float32) if tensor.elem_type == 1
            else random.integers(0, 2, shape)
        )
    return feeds


def rewritten(model: ModelProto, pass_name: str) -> Any:
    """The model after a pass: valid, and with equal numbers, which are not all the same."""
    after = gslang.to_onnx(rules().apply(gslang.from_onnx(model), pass_name=pass_name).graph)
    onnx.checker.check_model(after, full_check=True)
    feeds = feeds_of(model)
    for a, b in zip(
        ReferenceEvaluator(model).run(None, feeds), ReferenceEvaluator(after).run(None, feeds), strict=True
    ):
        assert a.dtype == b.dtype and a.shape == b.shape and np.ptp(a) > 0
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4 * float(np.abs(a).max()))
    return after


@pytest.mark.parametrize("batch", [1, "batch"], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", NETWORKS)
def test_narrow_networks(name: str, batch: int | str) -> None:
    model = NETWORKS[name](16, batch)
    after = count(rewritten(model, "transformers"))
    assert after.total() == LEFT[name], after


@pytest.mark.parametrize("name", LEFT_OF_NEWER)
def test_attention_and_gelu_where_the_operator_set_has_them(name: str) -> None:
    after = count(rewritten(NETWORKS[name](16, 1, opset=23), "transformers"))
    assert after.total() == LEFT_OF_NEWER[name], after
    assert after["Attention"] == after["Gelu"] == 2 and after["LayerNormalization"] == 5
    assert not after["Softmax"] and not after["Transpose"] and not after["Reshape"]


def test_batch_norms_go_into_convolutions() -> None:
    after = count(rewritten(NETWORKS["resnet50"](16, 1), "inference"))
    assert after["Conv"] == 53 and not after["BatchNormalization"]


def test_queries_keys_and_values_become_one_product() -> None:
    model = NETWORKS["bert"](16, "batch")
    before, after = count(model), count(rewritten(model, "inference"))
    assert before["MatMul"] - after["MatMul"] == 4 and after["Split"] == 2


def test_quantized_weights_stay_integers() -> None:
    model = NETWORKS["quantized"](4, 1)
    after = rewritten(model, "inference")
    assert len(after.SerializeToString()) <= len(model.SerializeToString())
    assert (
        sum(
            tensor.data_type == onnx.TensorProto.INT8 and len(tensor.dims) > 1
            for tensor in after.graph.initializer
        )
        == 9
    )


def test_shapes_need_not_be_computed() -> None:
    after = count(rewritten(NETWORKS["bert"](16, "batch"), "basic"))
    assert not after["Shape"] and not after["Gather"] and not after["Concat"]


@pytest.mark.parametrize(("name", "left"), [("bert", 22), ("gpt2", 15), ("llama", 29), ("resnet50", 56)])
def test_operators_of_onnxruntime(name: str, left: int) -> None:
    """The numbers are those of the shipped evaluators of `com.microsoft` (`benchmarks.exports` asks
    onnxruntime itself).
    """
    shipped = gslang.load("std.onnxruntime")
    model = NETWORKS[name](16, "batch")
    before = gslang.from_onnx(model)
    after = shipped.apply(before, pass_name="onnxruntime").graph
    nodes = count(gslang.to_onnx(after))
    assert nodes.total() == left, nodes
    feeds = feeds_of(model)
    for a, b in zip(
        evaluate(before, shipped.dialect, feeds), evaluate(after, shipped.dialect, feeds), strict=True
    ):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4 * float(np.abs(a).max()))


def test_numbers_without_sign_on_both_sides_of_a_move() -> None:
    net = Network()
    scale, zero = net.initializer(np.array(0.5, np.float32)), net.initializer(np.array(-20, np.int8))

    def around(x: str) -> str:
        return net.call("DequantizeLinear", net.call("QuantizeLinear", x, scale, zero), scale, zero)

    x = around(net.call("GlobalAveragePool", around(net.input("image", [2, 8, 4, 4]))))
    w = net.call(
        "DequantizeLinear", net.initializer(net.random.integers(-9, 9, (3, 8)).astype(np.int8)), scale,
        net.initializer(np.array(0, np.int8)),
    )
    b = net.call(
        "DequantizeLinear", net.initializer(np.array([1, -2, 3], np.int32)),
        net.initializer(np.array(0.25, np.float32)), net.initializer(np.array(0, np.int32)),
    )
    y = net.call("Gemm", around(net.call("Flatten", x, axis=1)), w, b, transB=1)
    model = net.model({around(y): [2, 3]}, 18)
    after = gslang.load("std.onnxruntime").apply(gslang.from_onnx(model), pass_name="onnxruntime").graph
    quantized = ("QuantizeLinear", "QLinearGlobalAveragePool", "Flatten", "QGemm", "DequantizeLinear")
    found = count(gslang.to_onnx(after))
    assert found == Counter(quantized), found


@pytest.mark.parametrize("name", NETWORKS)
def test_twice_is_once(name: str) -> None:
    once = rules().apply(gslang.from_onnx(NETWORKS[name](16, 1)), pass_name="transformers")
    again = rules().apply(gslang.from_onnx(gslang.to_onnx(once.graph)), pass_name="transformers")
    assert count(gslang.to_onnx(again.graph)) == count(gslang.to_onnx(once.graph))


@pytest.mark.long
@pytest.mark.parametrize("batch", [1, "batch"], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", ["resnet50", "mobilenet", "unet", "quantized"])
def test_real_widths(name: str, batch: int | str) -> None:
    after = count(rewritten(NETWORKS[name](1, batch), "inference"))
    assert after.total() == LEFT[name], after


@pytest.mark.long
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_real_transformers(name: str) -> None:
    model = NETWORKS[name](1, "batch")
    after = rewritten(model, "transformers")
    assert count(after).total() < count(model).total() // 2
