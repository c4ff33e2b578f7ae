"""Shapes of convolutions and pools against the inference of the `onnx` package, where all sizes are numbers.
"""

from __future__ import annotations

import random
from typing import Any

import onnx
import pytest
from onnx import helper

from gslang.evaluate.symbolic_shapes import Call, symbolic_shapes

WEIGHTS = {"Conv": (6, 4), "ConvTranspose": (4, 6)}


def inferred(operator: str, attrs: dict[str, Any], *shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape by the package; None if it infers none."""
    inputs = [
        helper.make_tensor_value_info(f"x{k}", onnx.TensorProto.FLOAT, shape)
        for k, shape in enumerate(shapes)
    ]
    node = helper.make_node(operator, [value.name for value in inputs], ["y"], **attrs)
    output = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph([node], "g", inputs, [output]), opset_imports=[helper.make_opsetid("", 22)]
    )
    dims = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type.shape.dim
    return tuple([d.dim_value for d in dims]) or None


def drawn(operator: str, choice: random.Random) -> tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]:
    """Attributes, sizes and windows."""
    rank = choice.randint(1, 3)
    windows = tuple([choice.randint(1, 4) for _ in range(rank)])
    attrs: dict[str, Any] = {}
    if choice.random() < 0.7:
        attrs["strides"] = [choice.randint(1, 3) for _ in range(rank)]
    if choice.random() < 0.5:
        attrs["dilations"] = [choice.randint(1, 2) for _ in range(rank)]
    if choice.random() < 0.6:
        attrs["pads"] = [choice.randint(0, 1) for _ in range(2 * rank)]
    elif choice.random() < 0.5 and "dilations" not in attrs:
        attrs["auto_pad"] = choice.choice(["VALID", "SAME_UPPER", "SAME_LOWER"])
    if operator == "ConvTranspose" and choice.random() < 0.3 and "strides" in attrs:
        attrs["output_padding"] = [choice.randint(0, stride - 1) for stride in attrs["strides"]]
    return attrs, tuple([choice.randint(8, 13) for _ in range(rank)]), windows


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose", "MaxPool", "AveragePool"])
def test_against_the_package(operator: str) -> None:
    choice, known = random.Random(0), 0
    for _ in range(100):
        attrs, sizes, windows = drawn(operator, choice)
        shapes = [(2, 4, *sizes)]
        if operator in WEIGHTS:
            shapes.append((*WEIGHTS[operator], *windows))
        else:
            attrs["kernel_shape"] = windows
        found = symbolic_shapes(operator, Call(attrs, shapes, [None] * len(shapes)))
        expected = inferred(operator, attrs, *shapes)
        if found and expected is not None and all([type(d) is int for d in found[0] or ()]):
            assert found[0] == expected, (attrs, shapes)
            known += 1
    assert known > 60
