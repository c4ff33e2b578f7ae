"""Nodes in the newest form, written for older operator sets, mean what they meant."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import gslang
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.formats.onnx import onnx_model
from tests.onnx.models import model, value


@pytest.mark.parametrize("opset", [6, 7, 9, 14])
def test_batch_normalization_does_not_train(opset: int) -> None:
    """Up to operator set 6 it did unless `is_test` was stated."""
    weights = {name: np.array([0.5, 2.0], np.float32) for name in ("s", "b", "m", "v")}
    given = {"is_test": 1} if opset < 7 else {}
    found = model(
        [helper.make_node("BatchNormalization", ["x", *weights], ["y"], **given)], [value("x", (1, 2, 3))],
        [value("y", (1, 2, 3))], weights, opset, 4,
    )
    if opset < 9:
        found.graph.input.extend(value(name, (2,)) for name in weights)
    again = onnx_model(read_json(write_json(gslang.from_onnx(found))))
    (node,) = (node for node in again.graph.node if node.op_type == "BatchNormalization")
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert attributes.get("is_test") == (1 if opset < 7 else None)
    x = {"x": np.arange(6, dtype=np.float32).reshape(1, 2, 3)}
    if opset >= 9:
        np.testing.assert_allclose(
            ReferenceEvaluator(again).run(None, x)[0], ReferenceEvaluator(found).run(None, x)[0], rtol=1e-6
        )


def test_inputs_keep_their_order_through_json() -> None:
    """Callers of a model may go by place, whatever is read first."""
    found = model([helper.make_node("Sub", ["b", "a"], ["y"])], [value("a"), value("b")], [value("y")])
    again = onnx_model(read_json(write_json(gslang.from_onnx(found))))
    assert [v.name for v in again.graph.input] == ["a", "b"]
