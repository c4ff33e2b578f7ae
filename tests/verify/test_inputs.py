"""The numbers that both sides of an instance are computed for."""

from __future__ import annotations

import numpy as np

import gslang.api as api
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import CONST, INPUT, Graph
from gslang.verify.comparison.compare import compare, refutes
from gslang.verify.comparison.inputs import Inputs
from gslang.verify.thresholds import thresholds
from gslang.verify.verdict import verify_now


def test_whole_numbers_of_two_inputs_differ() -> None:
    """Of equal ones no order shows."""
    graph = Graph("relay")
    x, y = (graph.add(INPUT, (), {}, TensorType((4,), "int8"), name) for name in "xy")
    graph.outputs = (graph.add("less", (x, y), {}, TensorType((4,), "bool")),)
    values = Inputs(graph, 0).of_kind("wide")
    assert values["x"].tolist() != values["y"].tolist()


def one_call(op: str, dtype: str, constant: object = None, **attrs: object) -> Graph:
    """A graph of one call, of an input and perhaps a constant."""
    graph = Graph("relay")
    operands = [graph.add(INPUT, (), {}, TensorType((4, 8), dtype), "x")]
    if constant is not None:
        number = graph.add(CONST, (), {}, TensorType((), dtype))
        graph.values[number] = np.array(constant, dtype)
        operands.append(number)
    graph.outputs = (graph.add(op, tuple(operands), attrs, TensorType((4, 8), dtype)),)
    return graph


def test_thresholds_are_numbers_of_both_sides_and_in_attributes() -> None:
    clipped, least = one_call("clip", "float32", a_min=-100.0, a_max=6.0), one_call("minimum", "float32", 0.3)
    found = thresholds(clipped, least)
    assert found.floats.tolist() == [-100.0, 0.30000001192092896, 6.0]
    assert found.whole == (-100,)


def test_what_stands_for_infinity_in_a_mask_is_no_threshold() -> None:
    masked = one_call("add", "float32", -1e9)
    masked.outputs = (masked.add("nn.softmax", masked.outputs, {}, TensorType((4, 8), "float32")),)
    assert not thresholds(masked, one_call("nn.softmax", "float32"))
    clipped = one_call("clip", "float32", a_min=-2e3, a_max=2e3)
    assert thresholds(masked, clipped).floats.tolist() == [-2e3, 2e3]


def test_integers_come_near_the_integers_of_the_graphs() -> None:
    graph = one_call("maximum", "int32", 1000)
    near = thresholds(graph, graph)
    drawn = {int(n) for seed in range(20) for n in Inputs(graph, seed, near).of_kind("near")["x"].reshape(-1)}
    assert {-1000, 999, 1000, 1001, 2000} <= drawn


def test_some_inputs_lie_beyond_a_threshold_altogether() -> None:
    graph = one_call("clip", "float32", a_min=-300.0, a_max=300.0)
    near = thresholds(graph, graph)
    far = [Inputs(graph, seed, near).of_kind("far")["x"] for seed in range(40)]
    assert any((x < -300).all() for x in far) and any((x > 300).all() for x in far)
    assert any(np.ptp(x) < 1e-2 for x in far)
    assert any(np.abs(x).max() > 80 and (x < 0).any() and (x > 0).any() for x in far)


def test_integers_are_all_the_smallest_or_all_the_largest() -> None:
    """But for some beside them: sums of the ends alone are round numbers, which floats hold."""
    graph = Graph("relay")
    x, y = (graph.add(INPUT, (), {}, TensorType((40,), "int8"), name) for name in "xy")
    graph.outputs = (graph.add("add", (x, y), {}, TensorType((40,), "int8")),)
    ends: set[tuple[frozenset[int], frozenset[int]]] = set()
    for seed in range(40):
        values = Inputs(graph, seed).of_kind("far")
        ends.add((frozenset(values["x"].tolist()), frozenset(values["y"].tolist())))
    low, high = frozenset({-128}), frozenset({127})
    assert {(low, low), (high, high), (low, high), (high, low)} <= ends
    assert {-128, -127} in {x for x, _ in ends} and {127, 126} in {x for x, _ in ends}
    assert all(x <= {-128, -127} or x <= {127, 126} for pair in ends for x in pair)


def test_squares_of_some_numbers_overflow_or_vanish() -> None:
    x = Inputs(one_call("abs", "float32"), 0).of_kind("overflowing")["x"]
    with np.errstate(over="ignore", under="ignore"):
        assert np.isfinite(x).all() and np.isinf(x * x).any() and (x * x == 0).any()


def test_an_overflow_on_one_side_is_reported() -> None:
    """The root of x² is |x|, where x² is a number."""
    rules = api.parse_rules("rule r(x: any(dtype = \"float32\")): sqrt(x * x) => abs(x);")
    assert "differs on NaN and infinities only" in verify_now(rules.own["r"]).reason


def test_numbers_that_differ_count_where_others_are_nan() -> None:
    """log(x) is NaN below 0, and log(max(x, 0.25)) is not; between 0 and 0.25 both are numbers."""
    before, after = one_call("log", "float32"), one_call("maximum", "float32", 0.25)
    after.outputs = (after.add("log", after.outputs, {}, TensorType((4, 8), "float32")),)
    relay = load_dialect("relay")
    assert any("different values" in refutes(compare(before, after, relay, None, seed)) for seed in range(6))


def test_the_place_of_a_threshold_may_be_rounded() -> None:
    """x² < 2 where |x| < 1.4142135, but for that number itself: its square is smaller."""
    def less(square: bool, number: float) -> Graph:
        graph = Graph("relay")
        x = graph.add(INPUT, (), {}, TensorType((4, 8), "float32"), "x")
        c = graph.add(CONST, (), {}, TensorType((), "float32"))
        graph.values[c] = np.array(number, "float32")
        y = graph.add("multiply" if square else "abs", (x, x) if square else (x,), {}, graph.types[x])
        graph.outputs = (graph.add("less", (y, c), {}, TensorType((4, 8), "bool")),)
        return graph

    relay = load_dialect("relay")
    for seed in range(12):
        assert not refutes(compare(less(True, 2.0), less(False, 2**0.5), relay, None, seed))
        assert not refutes(compare(less(False, 2**0.5), less(True, 2.0), relay, None, seed))
    assert any(refutes(compare(less(True, 2.0), less(False, 1.4), relay, None, seed)) for seed in range(12))
