"""A quantized CNN: weights as 8-bit integers, every activation quantized and dequantized."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto

from tests.onnx.networks.network import Dimension, Network


def _around(net: Network, x: str, scale: float, zero: int = 0) -> str:
    """Quantize and dequantize."""
    parts = net.initializer(np.array(scale, np.float32)), net.initializer(np.array(zero, np.uint8))
    return net.call("DequantizeLinear", net.call("QuantizeLinear", x, *parts), *parts)


def _quantized_weight(net: Network, *shape: int) -> str:
    values = net.random.integers(-127, 128, shape).astype(np.int8)
    scales = np.full(shape[0], float(np.prod(shape[1:])) ** -0.5 / 64, np.float32)
    zeros = np.zeros(shape[0], np.int8)
    return net.call(
        "DequantizeLinear", net.initializer(values), net.initializer(scales), net.initializer(zeros), axis=0
    )


def quantized_cnn(scale: int = 1, batch: Dimension = 1) -> ModelProto:
    """Eight convolutions with relus, pools and a reshape between quantized values, residual sums, a
    classifier.
    """
    net = Network()
    image, width = 64 // min(scale, 4), 64 // scale
    x = _around(net, net.input("image", [batch, 3, image, image]), 0.02, 128)
    inputs = 3
    for stage in range(4):
        outputs = width << stage
        first = net.call(
            "Conv", x, _quantized_weight(net, outputs, inputs, 3, 3), net.weight(outputs, size=0.1),
            pads=[1, 1, 1, 1],
        )
        y = _around(net, net.call("Relu", first), 0.03)
        second = net.call(
            "Conv", y, _quantized_weight(net, outputs, outputs, 3, 3), net.weight(outputs, size=0.1),
            pads=[1, 1, 1, 1],
        )
        z = _around(net, net.call("Relu", net.call("Add", _around(net, second, 0.04, 120), y)), 0.03)
        x = _around(net, net.call("MaxPool", z, kernel_shape=[2, 2], strides=[2, 2]), 0.03)
        inputs = outputs
    x = _around(net, net.call("GlobalAveragePool", x), 0.03)
    x = _around(net, net.call("Flatten", x, axis=1), 0.03)
    y = net.call("Gemm", x, _quantized_weight(net, 10, inputs), net.weight(10, size=0.1), transB=1)
    return net.model({_around(net, y, 0.05, 128): [batch, 10]}, 19)
