"""Shapes of which some numbers are known: what exporters compute from a dynamic batch is understood, and
computes the same for each batch.
"""

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
from gslang.evaluate import dimensions as dim
from gslang.evaluate.known_types import refiner
from gslang.evaluate.partial_values import partial_value
from gslang.evaluate.symbolic_shapes import Call, symbolic_shapes
from gslang.graph.graph import Graph
from tests.onnx.models import model, value

node = helper.make_node
N = Symbol("n")


def vector(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


# What torch writes for `view(batch, length, heads, -1)`, for attention in heads, for `repeat_interleave` and
# for `ones(batch, …)`.
CASES = {
    "slice of a shape": (
        [
            node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "two"], ["h"]),
            node("Concat", ["h", "four_two"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"]),
        ],
        4, ["Reshape"],
    ),
    "batch times heads": (
        [
            node("Shape", ["x"], ["s"]), node("Gather", ["s", "at"], ["b"]),
            node("Mul", ["b", "heads"], ["m"]), node("Unsqueeze", ["m", "zero"], ["u"]),
            node("Concat", ["u", "five_four"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"]),
        ],
        3, ["Reshape"],
    ),
    "the rest is -1": (
        [
            node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["h"]),
            node("Concat", ["h", "minus"], ["t"], axis=0), node("Reshape", ["x", "t"], ["r"]),
            node("Shape", ["r"], ["s2"]), node("Gather", ["s2", "last"], ["w"]),
            node("Cast", ["w"], ["f"], to=1), node("Mul", ["r", "f"], ["y"]),
        ],
        2, ["Reshape", "Mul"],
    ),
    "ones of the batch": (
        [
            node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["h"]),
            node("Concat", ["h", "five_four"], ["t"], axis=0), node("Reshape", ["x", "t"], ["r"]),
            node("Expand", ["k", "t"], ["e"]), node("Add", ["r", "e"], ["y"]),
        ],
        3, ["Shape", "Concat", "Expand", "Add"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_exporters_compute(name: str) -> None:
    nodes, rank, left = CASES[name]
    weights = {
        "zero": vector(0),
        "one": vector(1),
        "two": vector(2),
        "four_two": vector(4, 2),
        "five_four": vector(5, 4),
        "minus": vector(-1),
        "at": np.array(0, np.int64),
        "last": np.array(1, np.int64),
        "heads": np.array(2, np.int64),
        "k": np.ones((1, 1, 1), np.float32),
    }
    used = {name for n in nodes for name in n.input}
    width = 4 if name == "ones of the batch" else 8
    found = model(
        nodes, [value("x", ("n", 5, width))], [value("y", (None,) * rank)],
        {k: v for k, v in weights.items() if k in used},
    )
    result = gslang.load("std.onnx").apply(gslang.from_onnx(found), pass_name="basic")
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    assert [n.op_type for n in after.graph.node] == left
    assert gslang.load("std.onnx").apply(gslang.from_onnx(after), pass_name="basic").applications == 0, (
        "nothing is left for another run"
    )
    for batch in (1, 2, 3):
        feeds = {"x": np.random.default_rng(batch).standard_normal((batch, 5, width)).astype(np.float32)}
        for a, b in zip(
            ReferenceEvaluator(after).run(None, feeds), ReferenceEvaluator(found).run(None, feeds),
            strict=True,
        ):
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
    if graph.types[last].dtype != "float32":
        return known.get(last)
    graph.set_outputs([last])
    refiner(load_dialect("onnx"))(graph)
    return graph.types[last]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x, add, const: add("Shape", x, shape=(3,)), (N, 5, 8)),
        (lambda x, add, const: add("Shape", x, shape=(2,), start=-2), (5, 8)),
        (lambda x, add, const: add("Gather", add("Shape", x, shape=(3,)), const(-1, 0), shape=(2,)), (8, N)),
        (
            lambda x, add, const: add(
                "Slice", add("Shape", x, shape=(3,)), const(2), const(-9), const(0), const(-1), shape=(3,)
            ),
            (8, 5, N),
        ),
        (
            lambda x, add, const: add("Mul", add("Shape", x, shape=(3,)), const(2), shape=(3,)),
            (Symbol("2*n"), 10, 16),
        ),
        (lambda x, add, const: add("Mul", add("Shape", x, shape=(3,)), const(1), shape=(3,)), (N, 5, 8)),
        (
            lambda x, add, const: add("Sub", const(0), add("Shape", x, shape=(3,)), shape=(3,)),
            (Symbol("-n"), -5, -8),
        ),
        (lambda x, add, const: add("Sub", add("Shape", x, shape=(3,)), const(0), shape=(3,)), (N, 5, 8)),
        (lambda x, add, const: add("Abs", const(3, 4), shape=(2,)), (UNKNOWN, UNKNOWN)),
        (
            lambda x, add, const: add("Concat", add("Abs", const(3)), const(4, 5), shape=(3,), axis=0),
            (UNKNOWN, 4, 5),
        ),
        (lambda x, add, const: add("Gather", add("Shape", x, shape=(3,)), const(7), shape=(1,)), (UNKNOWN,)),
        (
            lambda x, add, const: add("Reshape", x, const(0, -1), shape=None, dtype="float32"),
            TensorType((N, 40), "float32"),
        ),
        (
            lambda x, add, const: add("Reshape", x, const(-1, 4), shape=None, dtype="float32"),
            TensorType((Symbol("10*n"), 4), "float32"),
        ),
        (
            lambda x, add, const: add("Reshape", x, const(5, 8, -1), shape=None, dtype="float32"),
            TensorType((5, 8, N), "float32"),
        ),
        (
            lambda x, add, const: add("Reshape", x, const(7, -1), shape=None, dtype="float32"),
            TensorType((7, Symbol("(40*n)//(7)")), "float32"),
        ),
        (
            lambda x, add, const: add(
                "Reshape", x, const(0, 0, 2, 4), shape=None, dtype="float32", allowzero=0
            ),
            TensorType((N, 5, 2, 4), "float32"),
        ),
        (
            lambda x, add, const: add("Reshape", x, const(0, 3), shape=None, dtype="float32", allowzero=1),
            TensorType((0, 3), "float32"),
        ),
        (
            lambda x, add, const: add("Expand", x, add("Abs", const(3)), shape=None, dtype="float32"),
            TensorType((N, 5, 8), "float32"),
        ),
        (
            lambda x, add, const: add(
                "ConstantOfShape", add("Shape", x, shape=(3,)), shape=None, dtype="float32"
            ),
            TensorType((N, 5, 8), "float32"),
        ),
    ],
)
def test_elements_and_shapes(build: Any, expected: Any) -> None:
    assert elements(build) == expected


def test_types_are_refined_once() -> None:
    """What readers of a new node know follows from its type; a second time there is nothing to look at."""
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((N, 5, 8), "float32"))
    target = graph.add(
        "Concat",
        (
            graph.add("Shape", (x,), {"end": 1}, TensorType((1,), "int64")),
            graph.add_const(vector(40), TensorType((1,), "int64")),
        ),
        {"axis": 0}, TensorType((2,), "int64"),
    )
    y = graph.add("Reshape", (x, target), {}, TensorType((UNKNOWN, UNKNOWN), "float32"))
    graph.set_outputs([graph.add("Relu", (y,), {}, TensorType(None, "float32"))])
    refine = refiner(load_dialect("onnx"))
    assert refine(graph) == 2 and refine(graph) == 0
    assert graph.types[graph.outputs[0]] == graph.types[y] == TensorType((N, 40), "float32")


S, B = Symbol("s"), Symbol("b")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (dim.over(dim.times(B, S), B), S),
        (dim.over(dim.times(S, 6), 3), Symbol("2*s")),
        (dim.over(dim.plus(S, 1), 2), Symbol("(s + 1)//(2)")),
        (dim.over(dim.plus(dim.times(S, 2), 1), 2), S),
        (dim.over(S, 0), UNKNOWN),
        (dim.minus(dim.plus(B, S), S), B),
        (dim.plus(S, B), dim.normal(Symbol("s+b"))),
        (dim.normal(Symbol("(p + s)*2")), dim.times(2, dim.plus(Symbol("p"), S))),
        (dim.normal(Symbol("no expression")), Symbol("no expression")),
        (dim.normal(Symbol("unk__3")), Symbol("unk__3")),
        (dim.least(48, S), Symbol("Min(48, s)")),
        (dim.least(dim.plus(S, 1), S), S),
        (dim.most(dim.plus(S, 1), S), dim.plus(1, S)),
        (dim.remainder(dim.times(B, 4), 4), 0),
        (dim.times(0, UNKNOWN), 0),
        (dim.plus(UNKNOWN, 1), UNKNOWN),
    ],
)
def test_arithmetic_on_symbols(found: Any, expected: Any) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (S, 0, True), (S, -1, True), (-1, S, False), (S, 1, None), (dim.plus(S, 1), S, True),
        (S, dim.plus(S, 1), False), (S, B, None),
    ],
)
def test_order_of_symbols(a: Any, b: Any, expected: Any) -> None:
    assert dim.is_at_least(a, b) is expected


def shapes(operator: str, *operands: Any, values: Any = (), **attrs: Any) -> Any:
    call = Call(attrs, list(operands), [*values, *(None,) * (len(operands) - len(values))])
    found = symbolic_shapes(operator, call)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (shapes("Add", (B, S), (1, S)), (B, S)),
        (shapes("Add", (B,), (S,)), (UNKNOWN,)),  # either may be 1
        (shapes("Add", (B, 7), (S,)), (B, 7)),
        (shapes("Add", (S,), (dim.least(48, S),)), (S,)),
        (shapes("Add", (S,), (dim.least(1, S),)), (UNKNOWN,)),
        (shapes("MatMul", (B, 4, S, 16), (B, 4, 16, S)), (B, 4, S, S)),
        (shapes("MatMul", (5,), (5, S)), (S,)),
        (shapes("Slice", (1, 48), (1,), (1,), (1,), values=(None, (0,), (S,), (1,))), (1, dim.least(48, S))),
        (shapes("Slice", (dim.plus(B, S),), (1,), (1,), values=(None, (B,), (1 << 62,))), (S,)),
        (shapes("Slice", (S,), (1,), (1,), values=(None, (0,), (-1,))), (dim.most(0, dim.minus(S, 1)),)),
        (shapes("Slice", (dim.plus(S, 2),), (1,), (1,), values=(None, (0,), (-1,))), (dim.plus(S, 1),)),
        (shapes("Slice", (S,), (1,), (1,), values=(None, (UNKNOWN,), (4,))), (UNKNOWN,)),
        (shapes("Range", (), (), (), values=((0,), (S,), (1,))), (S,)),
        (shapes("Range", (), (), (), values=((B,), (dim.plus(B, S),), (1,))), (S,)),
        (shapes("Concat", (B, S), (B, 1), axis=1), (B, dim.plus(S, 1))),
        (shapes("Reshape", (B, S, 64), (3,), values=(None, (B, -1, 64))), (B, S, 64)),
        (shapes("Reshape", (dim.times(B, S), 64), (3,), values=(None, (B, S, UNKNOWN))), (B, S, 64)),
        (shapes("Reshape", (B, S), (2,), values=(None, (UNKNOWN, UNKNOWN))), (UNKNOWN, UNKNOWN)),
        (shapes("Unsqueeze", (B, S), (2,), values=(None, (0, 3))), (1, B, S, 1)),
        (shapes("ReduceMean", (B, S), (1,), values=(None, (-1,)), keepdims=1), (B, 1)),
        (shapes("ReduceMean", (B, S), (1,), keepdims=1), None),  # which axes is not known
        (shapes("Conv", None, (8, 4, 3, 3)), (UNKNOWN, 8, UNKNOWN, UNKNOWN)),
        (shapes("Conv", (B, 4, S), (8, 4, 3)), (B, 8, dim.minus(S, 2))),
        (shapes("Conv", (B, 4, S), (8, 4, 3), pads=(1, 1)), (B, 8, S)),
        (shapes("MaxPool", (B, 4, 7), kernel_shape=(3,), strides=(2,), ceil_mode=1), (B, 4, UNKNOWN)),
        (shapes("ConvTranspose", (B, 4, S), (4, 3, 2), strides=(2,), group=2), (B, 6, dim.times(2, S))),
        (shapes("LSTM", None, (1, 64, 8), (1, 64, 16)), (UNKNOWN, 1, UNKNOWN, 16)),
        (shapes("LSTM", None, (1, 64, 8), (1, 64, 16), layout=1), None),
    ],
)
def test_shapes_with_symbols(found: Any, expected: Any) -> None:
    assert found == expected


def test_dimensions_that_must_be_equal_have_one_name() -> None:
    """The columns of the left are the rows of the right: what only inference has named takes the name that
    the inputs have.
    """
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((B, S), "float32"))
    y = graph.add("NonZero", (x,), {}, TensorType((2, Symbol("unk__1")), "int64"))
    z = graph.add("Cast", (y,), {"to": "float32"}, TensorType((2, Symbol("unk__1")), "float32"))
    w = graph.add_input("w", TensorType((S, 7), "float32"))
    graph.set_outputs([
        graph.add("MatMul", (z, w), {}, TensorType((2, 7), "float32")),
        graph.add("Relu", (z,), {}, TensorType(None, "float32")),
    ])
    graph.types[graph.outputs[0]] = None
    refiner(load_dialect("onnx"))(graph)
    assert graph.types[z] == graph.types[graph.outputs[1]] == TensorType((2, S), "float32")


@pytest.mark.parametrize("operator", ["Conv", "Resize"])
def test_a_name_from_before_the_operand_was_known_gives_way(operator: str) -> None:
    """The result was named when nothing was known of the operand's last dimensions; now they are numbers."""
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((N, 4, 8, 8), "float32"))
    if operator == "Conv":
        w = graph.add_param("w", TensorType((4, 4, 3, 3), "float32"))
        operands, attrs, size = (x, w), {"pads": (1, 1, 1, 1)}, 8
    else:
        scales = graph.add_const(np.array([1, 1, 2, 2], np.float32), TensorType((4,), "float32"))
        operands, attrs, size = (x, -1, scales), {"mode": "nearest"}, 16
    stated = TensorType((N, 4, Symbol("unk__1"), Symbol("unk__2")), "float32")
    graph.set_outputs([graph.add(operator, operands, attrs, stated)])
    refiner(load_dialect("onnx"))(graph)
    assert graph.types[graph.outputs[0]] in [
        TensorType((batch, 4, size, size), "float32") for batch in (N, UNKNOWN)
    ]


def test_names_that_inputs_have_are_made_one_where_an_operator_demands_it() -> None:
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((2, S), "float32"))
    w = graph.add_input("w", TensorType((Symbol("t"), N), "float32"))
    graph.set_outputs([graph.add("MatMul", (x, w), {}, TensorType((2, N), "float32"))])
    refiner(load_dialect("onnx"))(graph)
    assert graph.types[w] == TensorType((S, N), "float32")


def test_names_of_inputs_are_made_one_where_a_reshape_demands_it() -> None:
    """Keys [length, t, 32] are cut into s batches of 4 heads: common factors say nothing."""
    graph = Graph("onnx")
    x = graph.add_input("x", TensorType((B, S, 8), "float32"))
    keys = graph.add_input("keys", TensorType((Symbol("length"), Symbol("t"), 32), "float32"))
    length, batch = (
        graph.add("Shape", (of,), {"start": at, "end": at + 1}, TensorType((1,), "int64"))
        for of, at in ((keys, 0), (x, 1))
    )
    four, eight = (graph.add_const(vector(n), TensorType((1,), "int64")) for n in (4, 8))
    heads = graph.add("Mul", (batch, four), {}, TensorType((1,), "int64"))
    to = graph.add("Concat", (length, heads, eight), {"axis": 0}, TensorType((3,), "int64"))
    graph.set_outputs([graph.add("Reshape", (keys, to), {}, TensorType((UNKNOWN,) * 3, "float32"))])
    refiner(load_dialect("onnx"))(graph)
    assert graph.types[keys] == TensorType((Symbol("length"), S, 32), "float32")


def test_what_is_spread_may_be_one() -> None:
    """A sum says nothing about the names of its operands' dimensions."""
    graph = Graph("onnx")
    x, y = (graph.add_input(name, TensorType((Symbol(name),), "float32")) for name in "xy")
    graph.set_outputs([graph.add("Add", (x, y), {}, TensorType((UNKNOWN,), "float32"))])
    refiner(load_dialect("onnx"))(graph)
    assert graph.types[x] != graph.types[y] and graph.types[graph.outputs[0]] == TensorType(
        (UNKNOWN,), "float32"
    )


def test_the_part_of_a_mask_that_scores_have_is_as_long_as_they_are() -> None:
    """A mask of 16 rows, cut to a sequence of s and spread over s scores, has s rows; so does what the model
    says has `Min(16, s)`. Of a mask of one row, that cannot be known.
    """
    for rows, expected in ((16, S), (1, dim.least(1, S))):
        cut = dim.least(rows, S)
        graph = Graph("onnx")
        scores = graph.add_input("scores", TensorType((B, S), "float32"))
        mask = graph.add_input("mask", TensorType((1, rows), "bool"))
        end = graph.add("Shape", (scores,), {"start": 1}, TensorType((1,), "int64"))
        zero, one = (graph.add_const(vector(k), TensorType((1,), "int64")) for k in (0, 1))
        part = graph.add("Slice", (mask, zero, end, one), {}, TensorType((1, UNKNOWN), "bool"))
        low = graph.add_const(np.float32(-1), TensorType((), "float32"))
        chosen = graph.add("Where", (part, low, scores), {}, TensorType((B, cut), "float32"))
        graph.set_outputs([chosen])
        refiner(load_dialect("onnx"))(graph)
        assert graph.types[part] == TensorType((1, expected), "bool")
