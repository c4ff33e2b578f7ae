"""Types of transposed convolutions whose sizes are stated, of which the `onnx` package infers others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import UNKNOWN, Shape, Symbol, TensorType
from gslang.evaluate.run import evaluate
from tests.onnx.models import model, value

N = Symbol("n")
CASES: list[tuple[Shape, tuple[int, ...], dict[str, Any], Shape]] = [
    ((1, 6, 4, 5, 5), (6, 3, 2, 1, 1), {"group": 2, "output_shape": (4, 3, 4)}, (1, 6, 4, 3, 4)),
    ((N, 2, 5), (2, 3, 2), {"output_shape": (3,)}, (N, 3, 3)),
    ((N, 2, 5), (2, 3, 2), {"output_shape": (9,), "strides": (2,)}, (N, 3, 9)),
    ((2, 2, 6, 6), (2, 2, 3, 2), {"auto_pad": "SAME_UPPER", "strides": (2, 2), "output_padding": (0, 1)},
     (2, 2, 12, 12)),
    ((1, 1, 3), (1, 1, 1), {"auto_pad": "SAME_LOWER", "strides": (2,)}, (1, 1, 6)),
    ((N, 2, UNKNOWN, 4), (2, 3, 2, 2), {"auto_pad": "SAME_LOWER", "strides": (1, 3)}, (N, 3, UNKNOWN, 12)),
]  # fmt: skip


@pytest.mark.parametrize("data, weight, attrs, expected", CASES)
def test_the_type_of_a_call(
    data: Shape, weight: tuple[int, ...], attrs: dict[str, Any], expected: Shape
) -> None:
    dialect = load_dialect("onnx")
    types = (TensorType(data, "float32"), TensorType(weight, "float32"))
    complete = dialect.operators["ConvTranspose"].complete(attrs)
    inferred = dialect.infer["ConvTranspose"](types, complete, lambda k: None)
    assert inferred == TensorType(expected, "float32")


def test_types_behind_one_in_a_model() -> None:
    """The package's type of it is of too small a rank, and so are those of what follows."""
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w"], ["y"], output_shape=[3, 4]),
        helper.make_node("Transpose", ["y"], ["z"], perm=[0, 2, 3, 1]),
    ]
    weights = {"w": np.ones((2, 3, 1, 2), np.float32)}
    graph = gslang.from_onnx(model(nodes, [value("x", (2, 2, 5, 5))], [value("z", None)], weights))
    assert graph.types[graph.outputs[0]] == TensorType((2, 3, 4, 3), "float32")
    (found,) = evaluate(graph, load_dialect("onnx"), {"x": np.ones((2, 2, 5, 5), np.float32)})
    assert found.shape == (2, 3, 4, 3)
