"""A pass has nothing left to do on its own result: what one of its steps enables, a later one has done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from onnx import ModelProto

import gslang
from tests.onnx.networks.network import Network


@cache
def rules() -> gslang.Rules:
    return gslang.load("std.onnxruntime")


def after(model: ModelProto) -> ModelProto:
    return gslang.to_onnx(rules().apply(gslang.from_onnx(model), pass_name="onnxruntime").graph)


def operators(model: ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node if node.op_type != "Constant")


def biased_beside_plain() -> ModelProto:
    """Queries, keys and values of which the keys have no bias: the joined weights of two of them are joined
    with those of the third.
    """
    net = Network()
    x = net.input("x", ["batch", 5, 8])
    query, value = (
        net.call("Add", net.call("MatMul", x, net.weight(8, 8)), net.weight(8)) for _ in range(2)
    )
    key = net.call("MatMul", x, net.weight(8, 8))
    return net.model({net.call("Softmax", y): ["batch", 5, 8] for y in (query, key, value)})


def group_norm() -> ModelProto:
    """A norm of groups of the channels of a convolution, whose sizes are known only after rules have shown
    those of its operand.
    """
    net = Network()
    x = net.input("x", ["batch", 4, 64])
    batch = net.call("Shape", x, start=0, end=1)
    sizes = net.call("Concat", batch, net.initializer(np.array([4, 8, 8])), axis=0)
    image = net.call("Reshape", x, net.call("Add", sizes, net.initializer(np.array([0, 0, 0, 0]))))
    image = net.call("Conv", net.call("Relu", image), net.weight(4, 4, 3, 3), pads=[1, 1, 1, 1])
    rows = net.call("Reshape", image, net.initializer(np.array([0, 2, -1])))
    rows = net.call("InstanceNormalization", rows, net.weight(2), net.weight(2))
    return net.model({net.call("Reshape", rows, net.call("Shape", image)): ["batch", 4, "h", "w"]})


def quantized_heads() -> ModelProto:
    """Rows that are cut into heads, with numbers quantized between all steps."""
    net = Network()
    scale, zero = net.initializer(np.array(0.5, np.float32)), net.initializer(np.array(3, np.uint8))

    def around(x: str) -> str:
        return net.call("DequantizeLinear", net.call("QuantizeLinear", x, scale, zero), scale, zero)

    x = around(net.input("x", [5, "batch", 12]))
    batch = net.call("Shape", x, start=1, end=2)
    three, minus = net.initializer(np.array([3])), net.initializer(np.array([-1]))
    five, four = net.initializer(np.array([5])), net.initializer(np.array([4]))
    heads = around(
        net.call("Reshape", x, net.call("Concat", five, net.call("Mul", batch, three), four, axis=0))
    )
    heads = around(net.call("Transpose", heads, perm=[1, 0, 2]))
    heads = around(net.call("Reshape", heads, net.call("Concat", minus, three, five, four, axis=0)))
    return net.model({heads: ["batch", 3, 5, 4]})


def pooled_beside() -> ModelProto:
    """The real numbers before a pool have another reader, which a later step joins with quantized ones."""
    net = Network()
    scale, zero = net.initializer(np.array(0.5, np.float32)), net.initializer(np.array(3, np.uint8))

    def around(x: str) -> str:
        return net.call("DequantizeLinear", net.call("QuantizeLinear", x, scale, zero), scale, zero)

    x = around(net.input("x", [2, 4, 8, 8]))
    pooled = around(net.call("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    beside = around(net.call("Concat", x, x, axis=1))
    return net.model({pooled: [2, 4, 4, 4], beside: [2, 8, 8, 8]})


GRAPHS: dict[Callable[[], ModelProto], dict[str, int]] = {
    biased_beside_plain: {"MatMul": 1, "Split": 2, "Add": 1, "Softmax": 3},
    group_norm: {"Reshape": 3, "Relu": 1, "Conv": 1, "InstanceNormalization": 1},
    quantized_heads: {"QuantizeLinear": 1, "Reshape": 1, "Transpose": 1, "DequantizeLinear": 1},
    pooled_beside: {"QuantizeLinear": 1, "MaxPool": 1, "QLinearConcat": 1, "DequantizeLinear": 2},
}


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_a_second_run_changes_nothing(graph: Callable[[], ModelProto]) -> None:
    once = after(graph())
    assert operators(once) == Counter(GRAPHS[graph]), operators(once)
    assert operators(after(once)) == operators(once)
