"""The families as files: ONNX for the other tools, JSON for gslang. Run as a module, it writes one model.

Not here: the topology (`families`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy

from benchmarks.families import FAMILIES
from gslang.dialect.load import load_dialect
from gslang.formats.registry import write_graph
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

WORK = Path(__file__).parent / "work"
MODELS = WORK / "models"
RELAY_UNARY = {"relu": "nn.relu", "tanh": "tanh", "sigmoid": "sigmoid"}
ONNX_UNARY = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}


class Weights:
    """Small random values, the same for both kinds of file because they are drawn in the same order."""

    def __init__(self) -> None:
        self.random = numpy.random.default_rng(0)

    def draw(self, shape: Sequence[int], positive: bool) -> Any:
        values = (self.random.standard_normal(tuple(shape)) * 0.05).astype(numpy.float32)
        return abs(values) + numpy.float32(1) if positive else values


class RelayWriter:
    """Writes a gslang graph of Relay operators."""

    def __init__(self) -> None:
        self.builder, self.weights = Builder(load_dialect("relay")), Weights()

    def input(self, shape: Sequence[int]) -> int:
        return self.builder.input("x", shape)

    def param(self, name: str, shape: Sequence[int], positive: bool = False) -> int:
        node = self.builder.param(name, shape)
        self.builder.graph.values[node] = self.weights.draw(shape, positive)
        return node

    def scalar(self, name: str, value: float) -> int:
        return self.builder.const(value)

    def conv(self, x: int, weight: int) -> int:
        return self.builder.call("nn.conv2d", x, weight)

    def batch_norm(self, x: int, gamma: int, beta: int, mean: int, variance: int) -> int:
        return self.builder.field(self.builder.call("nn.batch_norm", x, gamma, beta, mean, variance), 0)

    def matmul(self, x: int, weight: int) -> int:
        return self.builder.call("nn.matmul", x, weight)

    def concat(self, parts: Sequence[int]) -> int:
        return self.builder.call("concatenate", self.builder.pack(*parts), axis=1)

    def transpose(self, x: int, axes: Sequence[int]) -> int:
        return self.builder.call("transpose", x, axes=axes)

    def unary(self, op: str, x: int) -> int:
        return self.builder.call(RELAY_UNARY[op], x)

    def binary(self, op: str, x: int, y: int) -> int:
        return self.builder.call({"add": "add", "mul": "multiply"}[op], x, y)


class OnnxWriter:
    """Writes an ONNX model of opset 17."""

    def __init__(self) -> None:
        from onnx import helper

        self.helper, self.weights = helper, Weights()
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, shape: Sequence[int]) -> str:
        self.shape = list(shape)  # all families end in the type that they begin with
        self.inputs.append(self.helper.make_tensor_value_info("x", 1, self.shape))
        return "x"

    def param(self, name: str, shape: Sequence[int], positive: bool = False) -> str:
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(self.weights.draw(shape, positive), name))
        return name

    def scalar(self, name: str, value: float) -> str:
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(numpy.asarray(value, numpy.float32), name))
        return name

    def _call(self, op: str, *operands: str, **attributes: Any) -> str:
        result = f"v{len(self.nodes)}"
        self.nodes.append(
            self.helper.make_node(op, list(operands), [result], name=f"n{len(self.nodes)}", **attributes)
        )
        return result

    def conv(self, x: str, weight: str) -> str:
        return self._call("Conv", x, weight, kernel_shape=[1, 1])

    def batch_norm(self, x: str, gamma: str, beta: str, mean: str, variance: str) -> str:
        return self._call("BatchNormalization", x, gamma, beta, mean, variance, epsilon=1e-5)

    def matmul(self, x: str, weight: str) -> str:
        return self._call("MatMul", x, weight)

    def concat(self, parts: Sequence[str]) -> str:
        return self._call("Concat", *parts, axis=1)

    def transpose(self, x: str, axes: Sequence[int]) -> str:
        return self._call("Transpose", x, perm=list(axes))

    def unary(self, op: str, x: str) -> str:
        return self._call(ONNX_UNARY[op], x)

    def binary(self, op: str, x: str, y: str) -> str:
        return self._call({"add": "Add", "mul": "Mul"}[op], x, y)

    def finish(self, result: str) -> Any:
        output = self.helper.make_tensor_value_info(result, 1, self.shape)
        graph = self.helper.make_graph(self.nodes, "main", self.inputs, [output], self.initializers)
        return self.helper.make_model(graph, opset_imports=[self.helper.make_opsetid("", 17)], ir_version=8)


def relay_graph(family: str, nodes: int) -> Graph:
    """The family as a gslang graph with about `nodes` operator calls."""
    writer = RelayWriter()
    found = FAMILIES[family]
    return writer.builder.finish(found.build(writer, found.blocks(nodes)))


def onnx_model(family: str, nodes: int) -> Any:
    """The family as an ONNX model with about `nodes` operator calls."""
    writer = OnnxWriter()
    found = FAMILIES[family]
    return writer.finish(found.build(writer, found.blocks(nodes)))


def model_file(family: str, nodes: int, suffix: str) -> Path:
    """The file of a model, written if it is not there. `suffix`: `json` or `onnx`."""
    path = MODELS / f"{family}_{nodes}.{suffix}"
    if path.exists():
        return path
    MODELS.mkdir(parents=True, exist_ok=True)
    if suffix == "json":
        write_graph(relay_graph(family, nodes), path)
    else:
        import onnx

        part = path.with_suffix(".part")
        onnx.save(onnx_model(family, nodes), str(part))
        part.replace(path)
    return path


if __name__ == "__main__":
    model_file(sys.argv[1], int(sys.argv[2]), sys.argv[3])
