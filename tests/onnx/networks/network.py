"""A network in the making: values by name, fresh names, seeded weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

Dimension = int | str


@dataclass
class Network:
    """What has been made so far. Every method returns the name of the value that it makes."""

    nodes: list[Any] = field(default_factory=list)
    weights: list[TensorProto] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    made: int = 0

    def fresh(self, what: str) -> str:
        self.made += 1
        return f"{what}_{self.made}"

    def input(self, name: str, shape: list[Dimension], element: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def call(self, op: str, *operands: str, **attributes: Any) -> str:
        return self.calls(op, 1, *operands, **attributes)[0]

    def calls(self, op: str, results: int, *operands: str, **attributes: Any) -> list[str]:
        """A node with several results."""
        names = [self.fresh(op.rpartition(".")[2]) for _ in range(results)]
        self.nodes.append(helper.make_node(op, list(operands), names, name=f"node_{names[0]}", **attributes))
        return names

    def weight(self, *shape: int, size: float | None = None, positive: bool = False) -> str:
        """A random initializer; values of about `size` (1 / √ inputs)."""
        inputs = int(np.prod(shape[1:])) if len(shape) > 1 else 4
        values = self.random.standard_normal(shape) * (size if size is not None else inputs**-0.5)
        return self.initializer((np.abs(values) + 0.5 if positive else values).astype(np.float32))

    def initializer(self, values: Any) -> str:
        name = self.fresh("weight")
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def constant(self, values: Any, dtype: Any = np.float32) -> str:
        """A `Constant` node, as exporters write numbers of the program."""
        return self.call("Constant", value=numpy_helper.from_array(np.asarray(values, dtype)))

    def model(self, outputs: dict[str, list[Dimension]], opset: int = 17) -> ModelProto:
        """The network as a model; `outputs` gives the shape of each result."""
        values = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()
        ]
        graph = helper.make_graph(self.nodes, "network", self.inputs, values, self.weights)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11 if opset > 22 else 8,
            producer_name="gslang-tests",
        )
