"""Shapes of which some numbers are known: what exporters compute from a dynamic batch is understood, and computes the same for each batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType
from gslang.evaluate.known_types import refiner
from gslang.evaluate.partial_values import partial_value, shape_by_values
from gslang.graph.graph import Graph
from tests.onnx.models import model, value

node = helper.make_node
N = Symbol("n")


def vector(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


# What torch writes for `view(batch, length, heads, -1)`, for attention in heads, for `repeat_interleave` and for `ones(batch, …)`.
CASES = {
    "slice of a shape": (
        [node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "two"], ["h"]), node("Concat", ["h", "four_two"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
        4, ["Reshape"],
    ),
    "batch times heads": (
        [node("Shape", ["x"], ["s"]), node("Gather", ["s", "at"], ["b"]), node("Mul", ["b", "heads"], ["m"]), node("Unsqueeze", ["m", "zero"], ["u"]),
         node("Concat", ["u", "five_four"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
        3, ["Reshape"],
    ),
    "the rest is -1": (
        [node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["h"]), node("Concat", ["h", "minus"], ["t"], axis=0), node("Reshape", ["x", "t"], ["r"]),
         node("Shape", ["r"], ["s2"]), node("Gather", ["s2", "last"], ["w"]), node("Cast", ["w"], ["f"], to=1), node("Mul", ["r", "f"], ["y"])],
        2, ["Reshape", "Mul"],
    ),
    "ones of the batch": (
        [node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["h"]), node("Concat", ["h", "five_four"], ["t"], axis=0), node("Reshape", ["x", "t"], ["r"]),
         node("Expand", ["k", "t"], ["e"]), node("Add", ["r", "e"], ["y"])],
        3, ["Shape", "Concat", "Expand", "Add"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_exporters_compute(name: str) -> None:
    nodes, rank, left = CASES[name]
    weights = {
        "zero": vector(0), "one": vector(1), "two": vector(2), "four_two": vector(4, 2), "five_four": vector(5, 4), "minus": vector(-1),
        "at": np.array(0, np.int64), "last": np.array(1, np.int64), "heads": np.array(2, np.int64), "k": np.ones((1, 1, 1), np.float32),
    }  # fmt: skip
    used = {name for n in nodes for name in n.input}
    width = 4 if name == "ones of the batch" else 8
    found = model(nodes, [value("x", ("n", 5, width))], [value("y", (None,) * rank)], {k: v for k, v in weights.items() if k in used})
    result = gslang.load("std.onnx").apply(gslang.from_onnx(found), pass_name="basic")
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    assert [n.op_type for n in after.graph.node] == left
    assert gslang.load("std.onnx").apply(gslang.from_onnx(after), pass_name="basic").applications == 0, "nothing is left for another run"
    for batch in (1, 2, 3):
        feeds = {"x": np.random.default_rng(batch).standard_normal((batch, 5, width)).astype(np.float32)}
        for a, b in zip(ReferenceEvaluator(after).run(None, feeds), ReferenceEvaluator(found).run(None, feeds), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def elements(build: Any) -> Any:
    """The elements of a node that `build` adds to a graph with the input `x: [n, 5, 8]`."""
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((N, 5, 8), "float32"))
    known: dict[int, Any] = {}

    def add(op: str, *operands: int, shape: Any = (1,), dtype: str = "int64", **attrs: Any) -> int:
        made = graph.add(op, operands, attrs, TensorType(shape, dtype))
        part = partial_value(graph, made, known)
        if part is not None:
            known[made] = part
        return made

    def const(*numbers: int, scalar: bool = False) -> int:
        array = np.array(numbers[0] if scalar else numbers, np.int64)
        made = graph.add_const(array, TensorType(array.shape, "int64"))
        known[made] = partial_value(graph, made, known)
        return made

    last = build(x, add, const)
    return known.get(last) if graph.types[last].dtype == "int64" else shape_by_values(graph, last, known)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x, add, const: add("Shape", x, shape=(3,)), (N, 5, 8)),
        (lambda x, add, const: add("Shape", x, shape=(2,), start=-2), (5, 8)),
        (lambda x, add, const: add("Gather", add("Shape", x, shape=(3,)), const(-1, 0), shape=(2,)), (8, N)),
        (lambda x, add, const: add("Slice", add("Shape", x, shape=(3,)), const(2), const(-9), const(0), const(-1), shape=(3,)), (8, 5, N)),
        (lambda x, add, const: add("Mul", add("Shape", x, shape=(3,)), const(2), shape=(3,)), (UNKNOWN, 10, 16)),
        (lambda x, add, const: add("Mul", add("Shape", x, shape=(3,)), const(1), shape=(3,)), (N, 5, 8)),
        (lambda x, add, const: add("Sub", const(0), add("Shape", x, shape=(3,)), shape=(3,)), (UNKNOWN, -5, -8)),
        (lambda x, add, const: add("Sub", add("Shape", x, shape=(3,)), const(0), shape=(3,)), (N, 5, 8)),
        (lambda x, add, const: add("Abs", const(3, 4), shape=(2,)), (UNKNOWN, UNKNOWN)),
        (lambda x, add, const: add("Concat", add("Abs", const(3)), const(4, 5), shape=(3,), axis=0), (UNKNOWN, 4, 5)),
        (lambda x, add, const: add("Gather", add("Shape", x, shape=(3,)), const(7), shape=(1,)), (UNKNOWN,)),
        (lambda x, add, const: add("Reshape", x, const(0, -1), shape=None, dtype="float32"), TensorType((N, 40), "float32")),
        (lambda x, add, const: add("Reshape", x, const(-1, 4), shape=None, dtype="float32"), TensorType((UNKNOWN, 4), "float32")),
        (lambda x, add, const: add("Reshape", x, const(5, 8, -1), shape=None, dtype="float32"), TensorType((5, 8, N), "float32")),
        (lambda x, add, const: add("Reshape", x, const(7, -1), shape=None, dtype="float32"), TensorType((7, UNKNOWN), "float32")),
        (lambda x, add, const: add("Reshape", x, const(0, 0, 2, 4), shape=None, dtype="float32", allowzero=0), TensorType((N, 5, 2, 4), "float32")),
        (lambda x, add, const: add("Reshape", x, const(0, 3), shape=None, dtype="float32", allowzero=1), TensorType((0, 3), "float32")),
        (lambda x, add, const: add("Expand", x, add("Abs", const(3)), shape=None, dtype="float32"), TensorType((N, 5, 8), "float32")),
        (lambda x, add, const: add("ConstantOfShape", add("Shape", x, shape=(3,)), shape=None, dtype="float32"), TensorType((N, 5, 8), "float32")),
    ],
)
def test_elements_and_shapes(build: Any, expected: Any) -> None:
    assert elements(build) == expected


def test_types_are_refined_once() -> None:
    """What readers of a new node know follows from its type; a second time there is nothing to look at."""
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((N, 5, 8), "float32"))
    target = graph.add("Concat", (graph.add("Shape", (x,), {"end": 1}, TensorType((1,), "int64")), graph.add_const(vector(40), TensorType((1,), "int64"))),
                       {"axis": 0}, TensorType((2,), "int64"))  # fmt: skip
    y = graph.add("Reshape", (x, target), {}, TensorType((UNKNOWN, UNKNOWN), "float32"))
    graph.set_outputs([graph.add("Relu", (y,), {}, TensorType(None, "float32"))])
    refine = refiner(load_dialect("onnx"))
    assert refine(graph) == 2 and refine(graph) == 0
    assert graph.types[graph.outputs[0]] == graph.types[y] == TensorType((N, 40), "float32")
