"""Results that are too large are refused before they are computed, whatever operands say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError, TooMuchMemoryError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph

MANY = 1 << 40  # so that an attempt fails, whatever the machine
X = np.zeros((1, 1, 4, 4), np.float32)


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def number(value: int) -> Any:
    return np.array(value, np.int64)


ONNX: list[tuple[str, list[Any], Mapping[str, object]]] = [
    ("HammingWindow", [number(MANY)], {}),
    ("HannWindow", [number(MANY)], {}),
    ("BlackmanWindow", [number(MANY)], {}),
    ("Range", [number(0), number(MANY), number(1)], {}),
    ("Expand", [X, whole(MANY, 1, 4, 4)], {}),
    ("Tile", [X, whole(1, 1, 1, MANY)], {}),
    ("ConstantOfShape", [whole(MANY, MANY)], {}),
    ("OneHot", [whole(1, 2), number(MANY), X[0, 0, 0, :2]], {}),
    ("Resize", [X, None, None, whole(1, 1, MANY, 4)], {}),
    ("Upsample", [X, np.array([1, 1, 2.0**40, 1], np.float32)], {}),
    ("Pad", [X, whole(0, 0, 0, 0, 0, 0, 0, MANY)], {}),
    ("MelWeightMatrix", [number(MANY), number(16), number(100), np.float32(0), np.float32(50)], {}),
    ("Col2Im", [np.zeros((1, 9, 4), np.float32), whole(MANY, 4), whole(3, 3)], {}),
    ("MaxUnpool", [X, np.zeros(X.shape, np.int64), whole(1, 1, MANY, MANY)], {"kernel_shape": (2, 2)}),
    ("DFT", [np.zeros((1, 8, 1), np.float32), number(MANY)], {}),
    ("CenterCropPad", [X, whole(1, 1, MANY, 4)], {}),
    ("AffineGrid", [np.zeros((1, 2, 3), np.float32), whole(1, 1, MANY, MANY)], {}),
    ("RandomNormal", [], {"shape": (MANY, 2)}),
]  # fmt: skip
RELAY: list[tuple[str, list[Any], Mapping[str, object]]] = [
    ("arange", [number(0), number(MANY), number(1)], {"dtype": "int64"}),
    ("full", [np.float32(1)], {"shape": (MANY,), "dtype": "float32"}),
    ("dyn.full", [np.float32(1), whole(MANY)], {"dtype": "float32"}),
    ("dyn.zeros", [whole(MANY)], {"dtype": "float32"}),
    ("dyn.ones", [whole(MANY)], {"dtype": "float32"}),
    ("dyn.tile", [X, whole(1, 1, 1, MANY)], {}),
    ("dyn.broadcast_to", [X, whole(MANY, 1, 4, 4)], {}),
    ("nn.pad", [X], {"pad_width": ((0, 0), (0, 0), (0, 0), (0, MANY))}),
    ("repeat", [X], {"repeats": MANY, "axis": 0}),
    ("tile", [X], {"reps": (1, 1, 1, MANY)}),
]


def value(dialect: str, operator: str, operands: list[Any], attrs: Mapping[str, object]) -> Any:
    """What a call computes whose type says nothing."""
    graph = Graph()
    nodes = []
    for k, operand in enumerate(operands):
        known = operand is not None
        nodes.append(graph.add_input(f"x{k}", TensorType(None, operand.dtype.name)) if known else -1)
    graph.set_outputs([graph.add(operator, tuple(nodes), dict(attrs))])
    given = {f"x{k}": operand for k, operand in enumerate(operands) if operand is not None}
    return evaluate(graph, load_dialect(dialect), given)[0]


@pytest.mark.parametrize("operator, operands, attrs", ONNX, ids=[operator for operator, *_ in ONNX])
def test_of_onnx(operator: str, operands: list[Any], attrs: Mapping[str, object]) -> None:
    with pytest.raises(TooMuchMemoryError, match=f"`{operator}` of .* it takes .* GiB, more than 0.5 GiB"):
        value("onnx", operator, operands, attrs)


@pytest.mark.parametrize("operator, operands, attrs", RELAY, ids=[operator for operator, *_ in RELAY])
def test_of_relay(operator: str, operands: list[Any], attrs: Mapping[str, object]) -> None:
    with pytest.raises(TooMuchMemoryError, match=f"`{operator}` of .* it takes .* GiB, more than 0.5 GiB"):
        value("relay", operator, operands, attrs)


def test_operands_that_broadcast() -> None:
    column, row = np.zeros((1 << 20, 1), np.float32), np.zeros((1, 1 << 20), np.float32)
    with pytest.raises(TooMuchMemoryError, match="`Add` of .* it takes 4.1e"):
        value("onnx", "Add", [column, row], {})
    with pytest.raises(TooMuchMemoryError, match="`MatMul` of"):
        value("onnx", "MatMul", [column, row], {})


def test_small_results_are_computed() -> None:
    assert value("onnx", "HammingWindow", [number(1000)], {}).shape == (1000,)
    assert value("onnx", "Range", [number(-5), number(1000), number(5)], {}).shape == (201,)
    assert value("relay", "dyn.full", [np.float32(1), whole(3, 4)], {"dtype": "float32"}).shape == (3, 4)


def test_sizes_that_are_none_say_so_themselves() -> None:
    with pytest.raises(EvaluationError) as caught:
        value("onnx", "ConstantOfShape", [whole(-3)], {})
    assert not isinstance(caught.value, TooMuchMemoryError)
