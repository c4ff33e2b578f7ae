"""Steps of a pass that have found nothing more to do are not run again until the graph changes."""

from __future__ import annotations

import pytest

import gslang
from gslang.engine import passes
from gslang.engine.rewrite import Application
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from tests.engine.test_why_not import RELAY, x_of

RULES = """
rule twice(x): abs(abs(x)) => abs(x);
rule back(x): negative(negative(x)) => x;
"""


def model() -> Graph:
    builder = Builder(RELAY)
    x = x_of(builder)
    for op in ("abs", "negative", "negative", "abs", "exp"):
        x = builder.call(op, x)
    return builder.finish(x)


def candidates(text: str) -> dict[str, int]:
    progress = gslang.parse_rules(RULES + text).apply(model(), pass_name="p").progress
    return {name: count.candidates for name, count in progress.counts.items()}


def test_a_step_is_not_run_again_on_the_graph_that_it_has_left() -> None:
    assert candidates("pass p { back; }")["back"] == candidates("pass p { back; back; back; }")["back"] > 0


def test_a_step_is_run_again_when_another_has_changed_the_graph() -> None:
    text = "pass p { repeat { twice; fold; back; cse; } }"
    result = gslang.parse_rules(RULES + text).apply(model(), pass_name="p")
    assert [result.graph.op[node] for node in result.graph.in_order()][1:] == ["abs", "exp"]


def test_built_in_steps_are_told_to_observers_whether_or_not_they_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merged: list[Graph] = []
    real = passes.merge_equal_calls
    monkeypatch.setattr(
        passes, "merge_equal_calls", lambda graph, dialect: merged.append(graph) or real(graph, dialect)
    )
    told: list[Application | str] = []
    rules = gslang.parse_rules(RULES + "pass p { cse; cse; back; cse; }")
    rules.apply(model(), pass_name="p", watch=lambda path, graph: lambda number, what: told.append(what))
    assert [what for what in told if isinstance(what, str)] == ["cse"] * 3
    assert len(merged) == 2
