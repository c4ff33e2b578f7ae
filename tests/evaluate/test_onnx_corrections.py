"""Operators that the evaluator computes otherwise than the reference implementation does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.run import evaluate_node
from gslang.graph.graph import INPUT, Graph

LARGE = 2**62 + 1  # no float


@pytest.mark.parametrize(
    "axes, attrs, expected",
    [
        ([1], {}, [[LARGE], [-2]]), ([-1], {"keepdims": 0}, [LARGE, -2]), ([0], {}, [[2**61, 2**61 - 2]]),
        ([], {"keepdims": 0}, (2 * LARGE - 5) // 4),
        ([], {"noop_with_empty_axes": 1}, [[LARGE, LARGE], [0, -5]]),
    ],
)  # fmt: skip
def test_the_mean_of_whole_numbers_is_exact(axes: list[int], attrs: dict[str, Any], expected: object) -> None:
    x = np.array([[LARGE, LARGE], [0, -5]])
    graph = Graph("onnx")
    nodes = [
        graph.add(INPUT, (), {}, TensorType(shape, "int64"), name)
        for name, shape in (("x", x.shape), ("axes", (len(axes),)))
    ]
    node = graph.add("ReduceMean", tuple(nodes), attrs, None)
    found: Any = evaluate_node(graph, load_dialect("onnx"), node, [x, np.array(axes, np.int64)])
    assert found.dtype == np.int64 and found.tolist() == expected


@pytest.mark.parametrize("operator, expected", [("Softsign", 0.75), ("ReduceLogSumExp", 3.0)])
def test_numbers_without_dimensions_are_computed(operator: str, expected: float) -> None:
    graph = Graph("onnx")
    x = graph.add(INPUT, (), {}, TensorType((), "float32"), "x")
    node = graph.add(operator, (x,), {}, None)
    found: Any = evaluate_node(graph, load_dialect("onnx"), node, [np.array(3.0, np.float32)])
    assert (found.dtype, found.shape, float(found)) == (np.float32, (), expected)
