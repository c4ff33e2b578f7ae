"""The numbers that both sides of an instance are computed for."""

from __future__ import annotations

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import INPUT, Graph
from gslang.verify.inputs import Inputs


def test_whole_numbers_of_two_inputs_differ() -> None:
    """Of equal ones no order shows."""
    graph = Graph("relay")
    x, y = (graph.add(INPUT, (), {}, TensorType((4,), "int8"), name) for name in "xy")
    graph.outputs = (graph.add("less", (x, y), {}, TensorType((4,), "bool")),)
    values = Inputs(graph, 0).of_kind("wide")
    assert values["x"].tolist() != values["y"].tolist()
