"""Networks whose multiply-adds and parameters are known from papers and can be counted by hand."""

from __future__ import annotations

from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph


def _conv(b: Builder, x: int, channels: int, kernel: int, stride: int = 1, groups: int = 1) -> int:
    weight = b.param(f"w{len(b.graph)}", (channels, b.shape(x)[1] // groups, kernel, kernel))
    pad = kernel // 2
    return b.call("nn.conv2d", x, weight, strides=(stride, stride), padding=(pad,) * 4, groups=groups)


def _norm(b: Builder, x: int) -> int:
    channels = b.shape(x)[1]
    return b.field(
        b.call("nn.batch_norm", x, *(b.param(f"n{len(b.graph)}_{k}", (channels,)) for k in range(4))), 0
    )


def resnet50() -> Graph:
    """He et al.

    2015 with the stride in the 3×3 convolutions, 224×224, without norms: 4,089,184,256 multiply-adds.
    """
    b = Builder(load_dialect("relay"))
    x = b.call("nn.relu", _conv(b, b.input("x", (1, 3, 224, 224)), 64, 7, 2))
    x = b.call("nn.max_pool2d", x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1, 1, 1))
    for blocks, width, stride in ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)):
        for k in range(blocks):
            step = stride if k == 0 else 1
            y = b.call("nn.relu", _conv(b, x, width, 1))
            y = b.call("nn.relu", _conv(b, y, width, 3, step))
            y = _conv(b, y, 4 * width, 1)
            short = _conv(b, x, 4 * width, 1, step) if k == 0 else x
            x = b.call("nn.relu", b.call("add", y, short))
    x = b.call("nn.batch_flatten", b.call("nn.global_avg_pool2d", x))
    return b.finish(b.call("nn.dense", x, b.param("fc", (1000, 2048))))


def mobilenet_v2() -> Graph:
    """Sandler et al. 2018, 224×224, width 1: 300,774,272 multiply-adds."""
    b = Builder(load_dialect("relay"))
    x = b.call("clip", _norm(b, _conv(b, b.input("x", (1, 3, 224, 224)), 32, 3, 2)), a_min=0.0, a_max=6.0)
    for expand, channels, repeat, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for k in range(repeat):
            y, hidden = x, b.shape(x)[1] * expand
            if expand > 1:
                y = b.call("clip", _norm(b, _conv(b, y, hidden, 1)), a_min=0.0, a_max=6.0)
            step = stride if k == 0 else 1
            y = b.call("clip", _norm(b, _conv(b, y, hidden, 3, step, hidden)), a_min=0.0, a_max=6.0)
            y = _norm(b, _conv(b, y, channels, 1))
            x = b.call("add", x, y) if b.shape(x) == b.shape(y) else y
    x = b.call("clip", _norm(b, _conv(b, x, 1280, 1)), a_min=0.0, a_max=6.0)
    x = b.call("nn.batch_flatten", b.call("nn.global_avg_pool2d", x))
    return b.finish(b.call("nn.dense", x, b.param("fc", (1000, 1280))))


def bert_base(
    length: int, dialect: str = "relay", layers: int = 12, width: int = 768, heads: int = 12
) -> Graph:
    """Devlin et al. 2019 without embeddings: a layer takes 12·L·W² + 2·L²·W multiply-adds."""
    b = Builder(load_dialect(dialect))
    onnx = dialect == "onnx"

    def linear(x: int, out: int) -> int:
        weight = b.param(f"w{len(b.graph)}", (b.shape(x)[1], out))
        return b.call("MatMul" if onnx else "nn.matmul", x, weight)

    def split(x: int, axes: tuple[int, ...]) -> int:
        size = (length, heads, width // heads)
        if onnx:
            return b.call("Transpose", b.call("Reshape", x, b.const(size, "int64")), perm=axes)
        return b.call("transpose", b.call("reshape", x, newshape=size), axes=axes)

    def product(x: int, y: int) -> int:
        return (
            b.call("MatMul", x, y) if onnx
            else b.call("nn.batch_matmul", x, y, transpose_a=False, transpose_b=False)
        )

    x = b.input("x", (length, width))
    for _ in range(layers):
        q, k, v = (
            split(linear(x, width), (1, 0, 2)), split(linear(x, width), (1, 2, 0)),
            split(linear(x, width), (1, 0, 2)),
        )
        weights = b.call("Softmax" if onnx else "nn.softmax", product(q, k), axis=-1)
        mixed = b.call(
            "Transpose" if onnx else "transpose", product(weights, v),
            **{"perm" if onnx else "axes": (1, 0, 2)},
        )
        flat = (
            b.call("Reshape", mixed, b.const((length, width), "int64")) if onnx
            else b.call("reshape", mixed, newshape=(length, width))
        )
        x = b.call("Add" if onnx else "add", x, linear(flat, width))
        inner = b.call("Relu" if onnx else "nn.relu", linear(x, 4 * width))
        x = b.call("Add" if onnx else "add", x, linear(inner, width))
    return b.finish(x)
