"""Graphs that no machine can evaluate, or only just."""

from __future__ import annotations

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.evaluate.agree import compare_values
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.formats.dot import write_dot
from gslang.graph.builder import Builder
from gslang.graph.graph import CONST, Graph


def test_an_input_too_large_to_draw() -> None:
    build = Builder(load_dialect("relay"))
    graph = build.finish(build.call("nn.relu", build.input("x", (10**9, 10**9))))
    with pytest.raises(EvaluationError, match="`x` is float32.*too large"):
        random_inputs(graph)


def test_tuples_in_tuples() -> None:
    build = Builder(load_dialect("relay"))
    node = build.input("x", (2,))
    for _ in range(5000):
        node = build.pack(node)
    graph = build.finish(node)
    assert len(str(graph.types[node])) < 400 and write_dot(graph).count("->") == 5000
    inputs = random_inputs(graph)
    assert compare_values(
        evaluate(graph, build.dialect, inputs), evaluate(graph, build.dialect, inputs)
    ).equal


def test_an_operand_that_is_absent() -> None:
    build = Builder(load_dialect("relay"))
    graph = build.finish(build.graph.add("nn.relu", (-1,), {}))
    with pytest.raises(EvaluationError, match="`nn.relu` of .* cannot be computed"):
        evaluate(graph, build.dialect, {})


def test_a_constant_without_a_value_is_drawn() -> None:
    build = Builder(load_dialect("relay"))
    constant = build.graph.add(CONST, (), {}, TensorType((3,), "float32"), "meta[relay.Constant][0]")
    graph = build.finish(build.call("add", build.input("x", (2, 3)), constant))
    (value,) = evaluate(graph, build.dialect, random_inputs(graph))
    assert value.shape == (2, 3) and (value == evaluate(graph, build.dialect, random_inputs(graph))[0]).all()


def test_sizes_that_contradict_an_attribute() -> None:
    graph = Graph()
    x = graph.add_input("x", TensorType((Symbol("n"), 3), "float32"))
    graph.set_outputs([graph.add("reshape", (x,), {"newshape": (7, 3)})])
    with pytest.raises(
        EvaluationError, match=r"`reshape` of .* cannot be computed: \(2, 3\) cannot be reshaped"
    ):
        evaluate(graph, load_dialect("relay"), {"x": np.ones((2, 3), "float32")})
