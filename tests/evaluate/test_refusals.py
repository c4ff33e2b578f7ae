"""Models that are not evaluated: endless loops, divisions that end the process; and what a signal does to a
run in onnxruntime.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, shape_inference

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.onnx_refusals import refuse
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from tests.onnx.models import model, value

LEAST = -(2**63)


def loop(trips: int | None, goes_on: bool, condition: bool = True) -> Any:
    first = "cond" if goes_on else "stop"
    nodes = [helper.make_node("Identity", [first], ["more"]), helper.make_node("Relu", ["v"], ["w"])]
    if not goes_on:
        nodes.insert(0, helper.make_node("Less", ["i", "i"], ["stop"]))
    body = helper.make_graph(
        nodes, "body", [value("i", (), 7), value("cond", (), 9), value("v", (2,))],
        [value("more", (), 9), value("w", (2,))],
    )
    weights = {"true": np.array(condition)}
    if trips is not None:
        weights["trips"] = np.array(trips, np.int64)
    node = helper.make_node("Loop", ["trips" if trips is not None else "", "true", "x"], ["y"], body=body)
    return model([node], [value("x", (2,))], [value("y", (2,))], weights)


@pytest.mark.parametrize(
    ("trips", "goes_on", "condition", "refused"),
    [
        (2**62, True, True, True), (None, True, True, True), (2**62, False, True, False),
        (2**62, True, False, False), (100, True, True, False),
    ],
)
def test_loops_without_an_end(trips: int | None, goes_on: bool, condition: bool, refused: bool) -> None:
    """Those that PyTorch writes for `while`, of the largest number of rounds and a condition that is
    computed, are run.
    """
    found = loop(trips, goes_on, condition)
    if refused:
        with pytest.raises(EvaluationError, match="iterations"):
            refuse(found, {})
    else:
        refuse(found, {})


@pytest.mark.parametrize(
    ("left", "right", "refused"), [(LEAST, -1, True), (LEAST, None, True), (LEAST, 2, False), (7, -1, False)]
)
@pytest.mark.parametrize("operator", ["Div", "Mod"])
def test_the_least_integer_by_minus_one(operator: str, left: int, right: int | None, refused: bool) -> None:
    weights = {
        name: np.array([number], np.int64)
        for name, number in (("a", left), ("b", right)) if number is not None
    }
    found = model(
        [helper.make_node(operator, ["a", "b"], ["y"])], [] if right is not None else [value("b", (1,), 7)],
        [value("y", (1,), 7)], weights,
    )
    if refused:
        with pytest.raises(EvaluationError, match="least int64"):
            refuse(found, {})
    else:
        refuse(found, {"b": np.array([3])})


@pytest.mark.parametrize(
    ("operator", "name", "number"),
    [("GatherND", "batch_dims", -3), ("LayerNormalization", "axis", 2**40), ("Split", "num_outputs", 2**40)],
)
def test_nodes_that_shape_inference_does_not_survive(
    operator: str, name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is not asked about them, by the reader or where a type is inferred anew, in bodies neither.
    """
    operands = {"GatherND": ["x", "i"], "Split": ["x"]}.get(operator, ["x", "x"])
    node = helper.make_node(operator, operands, ["y"], **{name: number})
    found = model([node], [value("x", (2, 3)), value("i", (1,), 7)], [value("y", None)])

    def asked(*_: object, **__: object) -> Any:
        pytest.fail("the package was asked")

    monkeypatch.setattr(shape_inference, "infer_shapes", asked)
    monkeypatch.setattr(shape_inference, "infer_node_outputs", asked)
    gslang.from_onnx(found)


@pytest.mark.parametrize("operator", ["AveragePool", "MaxPool", "LpPool"])
@pytest.mark.parametrize(
    ("pads", "refused"),
    [((1, 1, 1, 1), False), ((0, 0, 0, 1), False), ((2, 0, 0, 0), True), ((0, 0, 0, 2), True)],
)
def test_pools_with_windows_in_the_padding(operator: str, pads: tuple[int, ...], refused: bool) -> None:
    """They are refused where onnxruntime refuses them."""
    node = helper.make_node(operator, ["x"], ["y"], kernel_shape=[2, 2], pads=pads)
    made = model([node], [value("x", (1, 1, 5, 5))], [value("y", None)])
    graph = gslang.from_onnx(made)
    x = np.ones((1, 1, 5, 5), np.float32)
    if refused:
        with pytest.raises(EvaluationError, match="not smaller than its window, 2"):
            evaluate(graph, load_dialect("onnx"), {"x": x})
    else:
        assert evaluate(graph, load_dialect("onnx"), {"x": x})[0].shape[:2] == (1, 1)


def test_a_result_that_is_not_computed() -> None:
    """The scores of attention are declared, and no evaluator gives them."""
    graph, tensor = Graph(), TensorType((1, 2, 4), "float32")
    x = graph.add_input("x", tensor)
    node = graph.add("com.microsoft.MultiHeadAttention", (x, x, x), {"num_heads": 2})
    graph.set_outputs([graph.add_proj(node, 3)])
    with pytest.raises(EvaluationError, match="result 3, but only 3 are computed"):
        evaluate(graph, load_dialect("onnx"), {"x": np.ones((1, 2, 4), np.float32)})


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("dilation", "refused"), [(1, False), (2, False), (3, True)])
def test_a_dilated_window_that_lies_in_the_padding(mode: str, dilation: int, refused: bool) -> None:
    graph = Graph()
    x = graph.add_input("x", TensorType((1, 1, 2, 1), "float32"))
    attrs = {"kernel_shape": (2, 1), "dilations": (dilation, 1), "auto_pad": mode}
    graph.set_outputs([graph.add_proj(graph.add("MaxPool", (x,), attrs), 0)])
    inputs = {"x": np.ones((1, 1, 2, 1), np.float32)}
    if refused:
        with pytest.raises(EvaluationError, match="entirely in the padding"):
            evaluate(graph, load_dialect("onnx"), inputs)
    else:
        assert evaluate(graph, load_dialect("onnx"), inputs)[0].tolist() == [[[[1], [1]]]]
