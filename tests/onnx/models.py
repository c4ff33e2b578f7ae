"""Small ONNX models for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper


def value(name: str, shape: Any = (2, 3), element: int = 1) -> Any:
    return helper.make_tensor_value_info(name, element, shape)


def model(
    nodes: list[Any],
    inputs: list[Any],
    outputs: list[Any],
    weights: dict[str, Any] | None = None,
    opset: int = 17,
    ir: int = 8,
) -> ModelProto:
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def branching() -> ModelProto:
    """`If` whose bodies read the outer value `c`, which an identity makes."""
    node = helper.make_node
    then = helper.make_graph([node("Relu", ["c"], ["th"])], "t", [], [value("th")])
    other = helper.make_graph([node("Neg", ["c"], ["el"])], "e", [], [value("el")])
    return model(
        [
            node("Abs", ["x"], ["a"]), node("Identity", ["a"], ["c"]),
            node("If", ["cond"], ["y"], then_branch=then, else_branch=other),
        ],
        [value("x"), value("cond", (), 9)], [value("y")],
    )
