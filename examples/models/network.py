"""A small builder for the example networks: layers on a gslang graph, with random weights that keep values in range."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_node


class Network:
    """`weights` collects the parameters' values by name."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.graph = Graph("relay", name)
        self.dialect = load_dialect("relay")
        self.weights: dict[str, Any] = {}
        self.rng = np.random.default_rng(seed)

    def input(self, name: str, shape: Sequence[int]) -> int:
        return self.graph.add_input(name, TensorType(tuple(shape), "float32"))

    def param(self, name: str, value: Any) -> int:
        value = np.asarray(value, dtype=np.float32)
        self.weights[name] = value
        return self.graph.add_param(name, TensorType(value.shape, "float32"), value)

    def op(self, name: str, *operands: int, **attrs: Any) -> int:
        node = self.graph.add(name, operands, attrs)
        self.graph.types[node] = infer_node(self.graph, self.dialect, node)
        return node

    def tuple(self, *fields: int) -> int:
        node = self.graph.add_tuple(fields)
        self.graph.types[node] = infer_node(self.graph, self.dialect, node)
        return node

    def item(self, base: int, index: int) -> int:
        node = self.graph.add_proj(base, index)
        self.graph.types[node] = infer_node(self.graph, self.dialect, node)
        return node

    def shape(self, node: int) -> tuple[Any, ...]:
        type_ = self.graph.types[node]
        assert isinstance(type_, TensorType) and type_.shape is not None
        return type_.shape

    # ── layers ──

    def conv(self, x: int, name: str, channels: int, kernel: Any, strides: int = 1, padding: Any = 0, groups: int = 1) -> int:
        h, w = (kernel, kernel) if isinstance(kernel, int) else kernel
        p = (padding, padding) if isinstance(padding, int) else padding
        inner = self.shape(x)[1] // groups
        weight = self.rng.standard_normal((channels, inner, h, w)) * np.sqrt(2 / (inner * h * w))
        return self.op(
            "nn.conv2d", x, self.param(f"{name}_weight", weight), strides=(strides, strides),
            padding=(p[0], p[1], p[0], p[1]), groups=groups, channels=channels, kernel_size=(h, w),
        )  # fmt: skip

    def batch_norm(self, x: int, name: str, epsilon: float = 1e-3) -> int:
        c = self.shape(x)[1]
        gamma = self.param(f"{name}_gamma", 1 + 0.1 * self.rng.standard_normal(c))
        beta = self.param(f"{name}_beta", 0.1 * self.rng.standard_normal(c))
        mean = self.param(f"{name}_moving_mean", 0.1 * self.rng.standard_normal(c))
        variance = self.param(f"{name}_moving_var", 0.5 + self.rng.random(c))
        return self.item(self.op("nn.batch_norm", x, gamma, beta, mean, variance, epsilon=epsilon), 0)

    def conv_bn_relu(self, x: int, name: str, channels: int, kernel: Any, strides: int = 1, padding: Any = 0) -> int:
        return self.op("nn.relu", self.batch_norm(self.conv(x, f"{name}_conv", channels, kernel, strides, padding), f"{name}_bn"))

    def dense(self, x: int, name: str, units: int) -> int:
        inner = self.shape(x)[-1]
        weight = self.rng.standard_normal((units, inner)) / np.sqrt(inner)
        return self.op("nn.dense", x, self.param(f"{name}_weight", weight), units=units)

    def concat(self, *parts: int) -> int:
        return self.op("concatenate", self.tuple(*parts), axis=1)

    def done(self, *outputs: int) -> Graph:
        self.graph.set_outputs(outputs)
        return self.graph


def save(graph: Graph, weights: dict[str, Any], arguments: Sequence[str]) -> None:
    """Write Relay text and weights: OUT.relay [--params OUT.npz]."""
    from gslang.formats.registry import write_graph
    from gslang.formats.weights import write_weights

    write_graph(graph, arguments[0])
    if "--params" in arguments:
        write_weights(arguments[arguments.index("--params") + 1], weights)
