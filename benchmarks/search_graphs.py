"""The benchmark graphs of TASO and Tensat as graphs of Relay operators: python -m benchmarks.search_graphs
bert bert.json

`graphs/graphs.json` has each node as [operator, operands, attributes, shape]; `graphs/taso_gpu_costs.tsv` has
what TASO's authors measured on a GPU. float32, NCHW, OIHW; a convolution may carry a relu; "same" padding has
its odd row before, as TASO has it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gslang.dialect.load import load_dialect
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

FOLDER = Path(__file__).parent / "graphs"
NAMES = (
    "nasrnn", "bert", "resnext50", "nasneta", "squeezenet", "vgg", "inceptionv3", "resnet50", "mobilenetv2",
    "transformer",
)
_PLAIN = {"add": "add", "mul": "multiply", "relu": "nn.relu", "sigmoid": "sigmoid", "tanh": "tanh"}


def graph_of(name: str) -> Graph:
    """One of `NAMES`. Raises `ValueError` if a shape is not the one that the facts have."""
    if name == "transformer":
        return transformer(8)
    data = json.loads((FOLDER / "graphs.json").read_text(encoding="utf-8"))[name]
    b = Builder(load_dialect("relay"), name)
    made: list[int] = []
    for number, (op, operands, attrs, shape) in enumerate(data["nodes"]):
        node = _node(b, f"n{number}", op, [made[k] for k in operands], attrs, shape)
        if b.shape(node) != tuple(shape):
            raise ValueError(f"{name}: node {number} has shape {b.shape(node)}, not {shape}")
        made.append(node)
    return b.finish(*(made[k] for k in data["outputs"]))


def transformer(layers: int, length: int = 64, width: int = 1024, heads: int = 16) -> Graph:
    """BERT's layers as they should be: the benchmark's `bert` transposes no keys, has no softmax, and lets
    each layer read the input of the one before. Weights without biases, no norms, as in the benchmark.
    """
    b = Builder(load_dialect("relay"), "transformer")

    def linear(x: int, out: int) -> int:
        return b.call("nn.matmul", x, b.param(f"w{len(b.graph)}", (b.shape(x)[1], out)))

    def split(x: int, axes: tuple[int, ...]) -> int:
        return b.call("transpose", b.call("reshape", x, newshape=(length, heads, width // heads)), axes=axes)

    def product(x: int, y: int) -> int:
        return b.call("nn.batch_matmul", x, y, transpose_a=False, transpose_b=False)

    x = b.input("x", (length, width))
    for _ in range(layers):
        query, key = split(linear(x, width), (1, 0, 2)), split(linear(x, width), (1, 2, 0))
        value = split(linear(x, width), (1, 0, 2))
        mixed = product(b.call("nn.softmax", product(query, key), axis=-1), value)
        flat = b.call("reshape", b.call("transpose", mixed, axes=(1, 0, 2)), newshape=(length, width))
        x = b.call("add", x, linear(flat, width))
        x = b.call("add", x, linear(b.call("nn.relu", linear(x, 4 * width)), width))
    return b.finish(x)


def _node(
    b: Builder, name: str, op: str, operands: list[int], attrs: dict[str, Any], shape: list[int]
) -> int:
    match op:
        case "input":
            return b.input(name, shape)
        case "weight":
            return b.param(name, shape)
        case "dropout":
            return b.field(b.call("nn.dropout", *operands), 0)
        case "batchnorm":
            return b.field(b.call("nn.batch_norm", *operands), 0)
        case "conv2d":
            weight = b.shape(operands[1])
            node = b.call(
                "nn.conv2d", *operands, strides=attrs["stride"],
                padding=_padding(attrs, b.shape(operands[0]), weight[2:]), groups=attrs["groups"],
                channels=weight[0], kernel_size=weight[2:],
            )
            return b.call("nn.relu", node) if attrs["act"] == "relu" else node
        case "matmul" if len(shape) == 2:
            return b.call("nn.matmul", *operands)
        case "matmul":
            return b.call("nn.batch_matmul", *operands, transpose_a=False, transpose_b=False)
        case "maxpool" | "avgpool":
            window = {
                "pool_size": attrs["kernel"], "strides": attrs["stride"],
                "padding": _padding(attrs, b.shape(operands[0]), attrs["kernel"]),
            }  # fmt: skip
            return b.call("nn.max_pool2d" if op == "maxpool" else "nn.avg_pool2d", *operands, **window)
        case "concat":
            return b.call("concatenate", b.pack(*operands), axis=attrs["axis"])
        case "reshape":
            return b.call("reshape", *operands, newshape=attrs["shape"])
        case "transpose":
            return b.call("transpose", *operands, axes=attrs["perm"])
    return b.call(_PLAIN[op], *operands)


def _padding(attrs: dict[str, Any], shape: Any, kernel: Any) -> tuple[int, ...]:
    """Top, left, bottom, right."""
    if attrs["pad"] == "valid":
        return (0, 0, 0, 0)
    total = [max((-(-d // s) - 1) * s + k - d, 0) for d, k, s in zip(shape[2:], kernel, attrs["stride"])]
    return (*((t + 1) // 2 for t in total), *(t // 2 for t in total))


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(write_json(graph_of(sys.argv[1])), encoding="utf-8")
