"""Comparison up to names: what counts as equal, and that each kind of difference is told with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.graph.compare import count_calls, count_operators, differences, same_array
from gslang.graph.graph import ABSENT, Graph

F22 = TensorType((2, 2), "float32")
DIALECT = load_dialect("relay")


def graph(make: Callable[[Graph], list[int]]) -> Graph:
    result = Graph()
    result.set_outputs(make(result))
    return result


def relu_of(name: str = "x", kind: str = "input", type: TensorType | None = F22) -> Graph:
    def make(g: Graph) -> list[int]:
        x = g.add_input(name, type) if kind == "input" else g.add_param(name, type)
        return [g.add("nn.relu", [x])]

    return graph(make)


def with_attrs(attrs: dict[str, Any], op: str = "nn.softmax") -> Graph:
    return graph(lambda g: [g.add(op, [g.add_input("x", F22)], attrs)])


def with_const(value: Any, dtype: str = "float32") -> Graph:
    array = None if value is None else np.array(value, dtype)
    return graph(lambda g: [g.add("add", [g.add_input("x", F22), g.add_const(array, TensorType((), dtype))])])


def test_numbers_and_names_of_nodes_do_not_count() -> None:
    def one(g: Graph) -> list[int]:
        x, y = g.add_input("x", F22), g.add_input("y", F22)
        return [g.add("add", [g.add("exp", [x], name="a"), y], name="b")]

    def other(g: Graph) -> list[int]:
        g.add("unused")
        y, x = g.add_input("y", F22), g.add_input("x", F22)
        return [g.add("add", [g.add("exp", [x], name="q"), y])]

    assert differences(graph(one), graph(other)) == []


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (
            relu_of(), graph(lambda g: [g.add("exp", [g.add_input("x", F22)])]),
            "output 0: nn.relu `%1` against exp `%1`",
        ),
        (relu_of("x"), relu_of("y"), "output 0 / nn.relu %1, operand 0: input `x` against `y`"),
        (
            relu_of("x", "param"), relu_of("y", "param"),
            "output 0 / nn.relu %1, operand 0: param `x` against `y`",
        ),
        (relu_of(), relu_of(kind="param"), "output 0 / nn.relu %1, operand 0: input `x` against param `x`"),
        (
            relu_of(), relu_of(type=TensorType((2, 3), "float32")),
            "output 0 / nn.relu %1, operand 0: type of input `x`: float32[2, 2] against float32[2, 3]",
        ),
        (
            relu_of(), relu_of(type=TensorType((2, UNKNOWN), "float32")),
            "output 0 / nn.relu %1, operand 0: type of input `x`: float32[2, 2] against float32[2, ?]",
        ),
        (
            with_attrs({"axis": 1}), with_attrs({"axis": 0}),
            "output 0: attribute `axis` of nn.softmax `%1`: 1 against 0",
        ),
        (
            with_attrs({"axis": 1}), with_attrs({}),
            "output 0: attribute `axis` of nn.softmax `%1`: 1 against nothing",
        ),
        (
            with_attrs({"axis": 1}), with_attrs({"axis": True}),
            "output 0: attribute `axis` of nn.softmax `%1`: 1 against True",
        ),
        (with_const(1.0), with_const(1.5), "output 0 / add %2, operand 1: the values of %1 and %1 differ"),
        (with_const(0.0), with_const(-0.0), "output 0 / add %2, operand 1: the values of %1 and %1 differ"),
        (
            with_const(1.0), with_const(None),
            "output 0 / add %2, operand 1: the value of %1 is known, that of %1 is not",
        ),
        (
            relu_of(), graph(lambda g: [g.add("nn.relu", [g.add_input("x", F22), 0])]),
            "output 0: nn.relu `%1` has 1 operands against 2",
        ),
    ],
)
def test_a_difference_is_told_once_with_its_place(a: Graph, b: Graph, expected: str) -> None:
    assert differences(a, b) == [expected]
    assert len(differences(b, a)) == 1


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (with_attrs({"axis": -1}), with_attrs({})),
        (with_attrs({"epsilon": 0.1}, "f"), with_attrs({"epsilon": float(np.float32(0.1))}, "f")),
        (with_attrs({"value": 1}, "f"), with_attrs({"value": 1.0}, "f")),
        (with_attrs({"value": float("nan")}, "f"), with_attrs({"value": float("nan")}, "f")),
        (with_attrs({"pads": ((0, 1), (2, 3))}, "f"), with_attrs({"pads": ((0, 1), (2, 3))}, "f")),
        (with_const(float("nan")), with_const(-float("nan"))),
        (with_attrs({}), graph(lambda g: [g.add("nn.softmax", [g.add_input("x", F22), ABSENT])])),
    ],
)
def test_equal_with_the_dialect(a: Graph, b: Graph) -> None:
    assert differences(a, b, DIALECT) == []


def test_sharing_counts_both_ways() -> None:
    shared = graph(lambda g: [g.add("add", [g.add("exp", [g.add_input("x", F22)])] * 2)])

    def twice(g: Graph) -> list[int]:
        x = g.add_input("x", F22)
        return [g.add("add", [g.add("exp", [x]), g.add("exp", [x])])]

    assert differences(shared, graph(twice)) == [
        "output 0 / add %2, operand 1: %1 is one node, but %1 and %2 are two"
    ]
    assert differences(graph(twice), shared) == [
        "output 0 / add %3, operand 1: %1 and %2 are two nodes, but %1 is one"
    ]


def test_outputs_count_and_have_an_order() -> None:
    def both(g: Graph, turned: bool) -> list[int]:
        x = g.add_input("x", F22)
        outputs = [g.add("exp", [x]), g.add("log", [x])]
        return outputs[::-1] if turned else outputs

    a, b = graph(lambda g: both(g, False)), graph(lambda g: both(g, True))
    assert len(differences(a, b)) == 2
    assert differences(a, relu_of())[0] == "number of outputs: 2 against 1"


def test_an_unused_input_belongs_to_the_interface() -> None:
    b = relu_of()
    b.add_input("mask", F22)
    assert differences(relu_of(), b) == ["unused input `mask` is only in the second graph"]
    assert differences(b, relu_of()) == ["unused input `mask` is only in the first graph"]


def test_values_of_parameters_count_where_both_are_known() -> None:
    a, b, c = relu_of("w", "param"), relu_of("w", "param"), relu_of("w", "param")
    a.values[0], b.values[0] = np.zeros((2, 2), "float32"), np.ones((2, 2), "float32")
    assert differences(a, c) == []
    assert differences(a, b) == ["output 0 / nn.relu %1, operand 0: the values of w and w differ"]


def test_across_formats() -> None:
    """Relay text has function parameters only, and one result."""
    assert differences(relu_of(kind="param"), relu_of(), across_formats=True) == []
    assert differences(relu_of("x", "param"), relu_of("y"), across_formats=True) != []

    def both(g: Graph) -> list[int]:
        x = g.add_input("x", F22)
        return [g.add("exp", [x]), x]

    one = graph(lambda g: [g.add_tuple(both(g))])
    assert differences(graph(both), one, across_formats=True) == []
    assert differences(graph(both), one) != []


def test_the_limit_holds_and_a_deep_chain_has_a_short_path() -> None:
    def chain(last: str) -> Callable[[Graph], list[int]]:
        def make(g: Graph) -> list[int]:
            x = g.add(last, [g.add_input("x", F22)])
            for _ in range(100_000):
                x = g.add("nn.relu", [x])
            return [x]

        return make

    (only,) = differences(graph(chain("exp")), graph(chain("log")))
    assert only.startswith("output 0 / … / nn.relu %5, operand 0 / ")
    assert only.endswith(": exp `%1` against log `%1`")
    many = graph(lambda g: [g.add("exp", [g.add_input("x", F22)]) for _ in range(30)])
    other = graph(lambda g: [g.add("log", [g.add_input("x", F22)]) for _ in range(30)])
    assert len(differences(many, other, limit=3)) == 3


def test_arrays_bit_for_bit_but_any_nan() -> None:
    quiet = np.array([0x7FC00000, 0x3F800000], "u4").view("f4")
    other = np.array([0xFFC00001, 0x3F800000], "u4").view("f4")
    assert same_array(quiet, other)
    assert not same_array(quiet, np.array([0x7FC00000, 0x3F800001], "u4").view("f4"))
    assert not same_array(np.zeros(2, "f4"), np.zeros(2, "f8"))
    assert not same_array(np.zeros(2, "f4"), np.zeros((2, 1), "f4"))
    assert same_array(np.ones((3, 2), "f4").T, np.ones((2, 3), "f4"))


def test_counts_are_of_reachable_nodes() -> None:
    def make(g: Graph) -> list[int]:
        x, w = g.add_input("x", F22), g.add_param("w", F22)
        g.add("log", [x])
        t = g.add_tuple([g.add("exp", [x]), g.add_const(None, F22)])
        return [g.add("add", [g.add_proj(t, 0), w])]

    assert count_operators(graph(make)) == {
        "add": 1, "constants": 1, "exp": 1, "projections": 1, "tuples": 1, "variables": 2,
    }  # fmt: skip
    assert count_calls(graph(make)) == {"add": 1, "exp": 1}
