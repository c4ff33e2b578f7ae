"""A BERT encoder, GPT-2 blocks and Llama-like blocks, as exporters write them: every function in pieces,
shapes computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto

from tests.onnx.networks.network import Dimension, Network


def _linear(net: Network, x: str, inputs: int, outputs: int) -> str:
    return net.call(
        "Add", net.call("MatMul", x, net.initializer(_matrix(net, inputs, outputs))),
        net.weight(outputs, size=0.1),
    )


def _matrix(net: Network, inputs: int, outputs: int) -> Any:
    return (net.random.standard_normal((inputs, outputs)) * inputs**-0.5).astype(np.float32)


def _layer_norm(net: Network, x: str, width: int) -> str:
    mean = net.call("ReduceMean", x, axes=[-1])
    off = net.call("Sub", x, mean)
    variance = net.call("ReduceMean", net.call("Pow", off, net.constant(2.0)), axes=[-1])
    root = net.call("Sqrt", net.call("Add", variance, net.constant(1e-5)))
    scaled = net.call("Mul", net.call("Div", off, root), net.weight(width, positive=True))
    return net.call("Add", scaled, net.weight(width, size=0.1))


def _dimension(net: Network, x: str, axis: int) -> str:
    """`x.size(axis)`, as one element of a list."""
    side = net.call("Gather", net.call("Shape", x), net.constant(axis, "int64"), axis=0)
    return net.call("Unsqueeze", side, net.constant([0], "int64"))


def _heads(net: Network, x: str, heads: int, width: int, perm: tuple[int, ...] = (0, 2, 1, 3)) -> str:
    sides = [net.constant([heads], "int64"), net.constant([width // heads], "int64")]
    shape = net.call("Concat", _dimension(net, x, 0), _dimension(net, x, 1), *sides, axis=0)
    return net.call("Transpose", net.call("Reshape", x, shape), perm=list(perm))


def _join_heads(net: Network, x: str, width: int) -> str:
    y = net.call("Transpose", x, perm=[0, 2, 1, 3])
    shape = net.call(
        "Concat", _dimension(net, y, 0), _dimension(net, y, 1), net.constant([width], "int64"), axis=0
    )
    return net.call("Reshape", y, shape)


def _gelu_erf(net: Network, x: str) -> str:
    erf = net.call("Erf", net.call("Div", x, net.constant(2**0.5)))
    return net.call("Mul", net.call("Mul", x, net.call("Add", erf, net.constant(1.0))), net.constant(0.5))


def _gelu_tanh(net: Network, x: str) -> str:
    cube = net.call("Mul", net.call("Pow", x, net.constant(3.0)), net.constant(0.044715))
    inner = net.call("Mul", net.call("Add", x, cube), net.constant((2 / np.pi) ** 0.5))
    half = net.call("Mul", x, net.constant(0.5))
    return net.call("Mul", half, net.call("Add", net.call("Tanh", inner), net.constant(1.0)))


def bert(scale: int = 1, batch: Dimension = 1, opset: int = 17) -> ModelProto:
    """12 layers (2 where narrowed), with a mask of tokens that count; the length is dynamic where the batch
    is.
    """
    net = Network()
    width, heads, layers = 768 // scale, 12 if scale == 1 else 4, 12 if scale == 1 else 2
    length: Dimension = 128 // scale if isinstance(batch, int) else "length"
    x = net.input("embeddings", [batch, length, width])
    mask = net.input("mask", [batch, length], TensorProto.INT64)
    wide = net.call(
        "Unsqueeze", net.call("Unsqueeze", mask, net.constant([1], "int64")), net.constant([2], "int64")
    )
    left = net.call("Sub", net.constant(1.0), net.call("Cast", wide, to=1))
    added = net.call("Mul", left, net.constant(-10000.0))
    x = _layer_norm(net, x, width)
    for _ in range(layers):
        q = _heads(net, _linear(net, x, width, width), heads, width)
        k = _heads(net, _linear(net, x, width, width), heads, width, (0, 2, 3, 1))
        v = _heads(net, _linear(net, x, width, width), heads, width)
        scores = net.call(
            "Add", net.call("Div", net.call("MatMul", q, k), net.constant((width // heads) ** 0.5)), added
        )
        y = _join_heads(net, net.call("MatMul", net.call("Softmax", scores, axis=-1), v), width)
        x = _layer_norm(net, net.call("Add", _linear(net, y, width, width), x), width)
        y = _linear(net, _gelu_erf(net, _linear(net, x, width, 4 * width)), 4 * width, width)
        x = _layer_norm(net, net.call("Add", y, x), width)
    return (
        net.model({x: [batch, length, width]}, opset) if opset < 18
        else _axes_as_operands(net, {x: [batch, length, width]}, opset)
    )


def _axes_as_operands(net: Network, outputs: dict[str, list[Dimension]], opset: int) -> ModelProto:
    """From operator set 18 on, the axes of means are operands."""
    for node in net.nodes:
        if node.op_type == "ReduceMean":
            axes = next(a for a in node.attribute if a.name == "axes")
            node.input.append(net.initializer(np.array(axes.ints, np.int64)))
            node.attribute.remove(axes)
    return net.model(outputs, opset)


def gpt2(scale: int = 1, batch: Dimension = 1, opset: int = 17) -> ModelProto:
    """12 blocks (2 where narrowed) with a causal mask sliced out of a constant, joined queries, keys and
    values.
    """
    net = Network()
    width, heads, blocks = 768 // scale, 12 if scale == 1 else 4, 12 if scale == 1 else 2
    length = 64 // scale
    x = net.input("embeddings", [batch, length, width])
    for _ in range(blocks):
        y = _layer_norm(net, x, width)
        joined = _linear(net, y, width, 3 * width)
        q, k, v = net.calls("Split", 3, joined, net.constant([width] * 3, "int64"), axis=2)
        q, v = _heads(net, q, heads, width), _heads(net, v, heads, width)
        k = _heads(net, k, heads, width, (0, 2, 3, 1))
        scores = net.call("Div", net.call("MatMul", q, k), net.constant((width // heads) ** 0.5))
        triangle = net.constant(np.tril(np.ones((1, 1, 128, 128))), "bool")
        full = [net.constant([value], "int64") for value in (0, length, 2, 1)]
        rows = net.call("Slice", triangle, full[0], full[1], full[2], full[3])
        allowed = net.call("Slice", rows, full[0], full[1], net.constant([3], "int64"), full[3])
        masked = net.call("Where", allowed, scores, net.constant(-1e9))
        y = _join_heads(net, net.call("MatMul", net.call("Softmax", masked, axis=-1), v), width)
        x = net.call("Add", x, _linear(net, y, width, width))
        y = _gelu_tanh(net, _linear(net, _layer_norm(net, x, width), width, 4 * width))
        x = net.call("Add", x, _linear(net, y, 4 * width, width))
    x = _layer_norm(net, x, width)
    return (
        net.model({x: [batch, length, width]}, opset) if opset < 18
        else _axes_as_operands(net, {x: [batch, length, width]}, opset)
    )


def _rms_norm(net: Network, x: str, width: int) -> str:
    mean = net.call("ReduceMean", net.call("Pow", x, net.constant(2.0)), axes=[-1])
    root = net.call("Sqrt", net.call("Add", mean, net.constant(1e-6)))
    return net.call(
        "Mul", net.weight(width, positive=True), net.call("Mul", x, net.call("Div", net.constant(1.0), root))
    )


def llama(scale: int = 1, batch: Dimension = 1, opset: int = 24) -> ModelProto:
    """Blocks with RMS norms, rotary positions and gated linear units: 8 of width 512, or 2 narrow ones."""
    net = Network()
    width, heads, blocks = 512 // scale, 8 if scale == 1 else 4, 8 if scale == 1 else 2
    length, half = 64 // scale, width // heads // 2
    x = net.input("embeddings", [batch, length, width])
    angles = net.input("angles", [batch, length, half])
    both = net.call("Concat", angles, angles, axis=-1)
    cos, sin = net.call("Cos", both), net.call("Sin", both)

    def rotated(y: str) -> str:
        ends = [net.constant([value], "int64") for value in (0, half, 2**63 - 1, 3, 1)]
        low = net.call("Slice", y, ends[0], ends[1], ends[3], ends[4])
        high = net.call("Slice", y, ends[1], ends[2], ends[3], ends[4])
        turned = net.call("Concat", net.call("Neg", high), low, axis=-1)
        c, s = (net.call("Unsqueeze", z, net.constant([1], "int64")) for z in (cos, sin))
        return net.call("Add", net.call("Mul", y, c), net.call("Mul", turned, s))

    def linear(y: str, inputs: int, outputs: int) -> str:
        return net.call(
            "MatMul", y, net.call("Transpose", net.initializer(_matrix(net, outputs, inputs)), perm=[1, 0])
        )

    for _ in range(blocks):
        y = _rms_norm(net, x, width)
        q = rotated(_heads(net, linear(y, width, width), heads, width))
        k = rotated(_heads(net, linear(y, width, width), heads, width))
        v = _heads(net, linear(y, width, width), heads, width)
        scores = net.call("MatMul", q, net.call("Transpose", k, perm=[0, 1, 3, 2]))
        masked = net.call(
            "Add", net.call("Mul", scores, net.constant((width // heads) ** -0.5)),
            net.constant(np.triu(np.full((length, length), -1e9), 1)),
        )
        y = _join_heads(net, net.call("MatMul", net.call("Softmax", masked, axis=-1), v), width)
        x = net.call("Add", x, linear(y, width, width))
        y = _rms_norm(net, x, width)
        gate, up = linear(y, width, 4 * width), linear(y, width, 4 * width)
        y = net.call("Mul", net.call("Mul", gate, net.call("Sigmoid", gate)), up)
        x = net.call("Add", x, linear(y, 4 * width, width))
    x = _rms_norm(net, x, width)
    return _axes_as_operands(net, {x: [batch, length, width]}, opset)
