"""Local functions that call one another, many in a row: what is done for each does not grow with their
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import gslang
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.function_size import LocalFunctions
from gslang.engine import fixed_point, passes
from gslang.engine.dispatch import can_ever_match
from gslang.engine.fixed_point import run_to_fixed_point
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.formats.onnx import bodies, outside
from gslang.graph.graph import Graph
from tests.onnx.models import value

OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("l", 1)]


def chained(count: int) -> onnx.ModelProto:
    """A model that calls the last of `count` functions, each of which calls the one before it."""
    functions = [
        helper.make_function(
            "l", f"F{k}", ["a"], ["b"],
            [helper.make_node(f"F{k - 1}" if k else "Relu", ["a"], ["b"], domain="l" if k else "")], OPSETS,
        )
        for k in range(count)
    ]
    call = helper.make_node(f"F{count - 1}", ["x"], ["y"], domain="l")
    graph = helper.make_graph([call], "g", [value("x")], [value("y")])
    return helper.make_model(graph, functions=functions, opset_imports=OPSETS, ir_version=9)


def test_functions_that_are_called() -> None:
    functions = LocalFunctions(chained(9).functions)
    call = [helper.make_node("F7", ["x"], ["y"], domain="l")]
    assert [f.name for f in functions.called_by(call)] == [f"F{k}" for k in range(8)]
    assert [f.name for f in functions.called_by(call, 3)] == ["F5", "F6", "F7"]
    assert functions.called_by([helper.make_node("F7", ["x"], ["y"])]) == []


def test_a_function_is_rewritten_among_the_nearest_only(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []

    def noted(model: Any, *args: Any, **options: Any) -> Any:
        shown.append(len(model.functions))
        return read(model, *args, **options)

    read = bodies.read_message
    monkeypatch.setattr(bodies, "read_message", noted)
    monkeypatch.setattr(outside, "_MOST_SHOWN", 100)
    rules = gslang.parse_rules("dialect onnx; rule relu(x): Relu(x) => Max(x, 0.0);")
    result = rules.apply(gslang.from_onnx(chained(40)))
    assert len(shown) == 40 and max(shown) <= 8
    after = gslang.to_onnx(result.graph)
    assert [f.node[-1].op_type for f in after.functions] == ["Max", *[f"F{k}" for k in range(39)]]


def test_a_call_is_computed_with_the_functions_that_it_needs() -> None:
    model = chained(150)
    model.functions.extend(
        helper.make_function("l", f"G{k}", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], OPSETS)
        for k in range(100)
    )
    x = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
    found = evaluate(gslang.from_onnx(model), load_dialect("onnx"), {"x": x})
    assert np.array_equal(found[0], np.maximum(x, 0))
    with pytest.raises(EvaluationError, match="`F249` cannot be computed: it calls more than 200 local"):
        evaluate(gslang.from_onnx(chained(250)), load_dialect("onnx"), {"x": x})


def test_steps_without_a_rule_that_can_match_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []

    def noted(graph: Graph, rules: Sequence[CheckedRule], *args: Any) -> Any:
        ran.append(len(rules))
        return run_to_fixed_point(graph, rules, *args)

    monkeypatch.setattr(passes, "run_to_fixed_point", noted)
    rules = gslang.parse_rules(
        "dialect onnx; rule neg(x): Neg(Neg(x)) => x; rule abs(x): Abs(Abs(x)) => Abs(x);"
        "rule exp(x): Relu(Exp(x)) => Exp(x); rule relu(x): Relu(x) => Exp(Exp(x)); "
        "rule last(x): Exp(x) => x;"
        "pass all { neg; abs; repeat { exp; neg; cse; } relu; last; }"
    )
    result = rules.apply(gslang.from_onnx(chained(1)), pass_name="all")
    assert ran == [1, 1, 1]  # `exp`, `relu` and `last` in the function
    assert result.applications == 3 and set(result.progress.counts) == {"neg", "abs", "exp", "relu", "last"}


def test_all_rules_are_looked_at_once_for_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(rules: Iterable[CheckedRule], present: Iterable[str]) -> list[CheckedRule]:
        rules = list(rules)
        asked.append(len(rules))
        return can_ever_match(rules, present)

    monkeypatch.setattr(fixed_point, "can_ever_match", noted)
    rules = gslang.parse_rules(
        "dialect onnx;" + "".join(f"rule r{k}(x): Neg(Neg(x)) => x;" for k in range(20))
        + "rule relu(x): Relu(Relu(x)) => Relu(x);"
    )
    rules.apply(gslang.from_onnx(chained(1)))
    assert asked == [21, 0, 21, 1]  # all, then those that can: in the model's graph, and in the function


def test_steps_that_cannot_match_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[int] = []

    def nothing_matches(rules: Sequence[CheckedRule], *args: Any) -> None:
        noted.append(len(rules))
        fixed_point.nothing_matches(rules, *args)

    monkeypatch.setattr(passes, "nothing_matches", nothing_matches)
    steps = "".join(f"r{k};" for k in range(20))
    rules = gslang.parse_rules(
        "dialect onnx;" + "".join(f"rule r{k}(x): (Neg(x) | Abs(x)) => x;" for k in range(20))
        + f"pass all {{ {steps} }}"
    )
    result = rules.apply(gslang.from_onnx(chained(1)), pass_name="all")
    assert noted == [20, 20]  # in the model's graph, and in the function: each needs one of two operators
    assert len(result.progress.counts) == 20
