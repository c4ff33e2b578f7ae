"""A graph that is cheaper by measured calls is measured as a whole, and not chosen where it is slower."""

from __future__ import annotations

from pathlib import Path

import pytest

import gslang
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder
from gslang.graph.graph import PARAM, Graph
from gslang.search.cost import measured
from gslang.search.cost.measured import MeasuredCosts
from gslang.search.cost.whole_graph import relative_time, runnable
from gslang.search.cost.work import Call
from gslang.search.search import METHODS, Found, Settings, search

RELAY = load_dialect("relay")
RULES = gslang.parse_rules("rule quicker(x): exp(x) => tanh(x);\nrule quick(x): exp(x) => abs(x);")
COSTS = {"exp": 10.0, "abs": 5.0, "tanh": 1.0}


class Table:
    """Costs of calls, and what is said of whole graphs, one answer after the other."""

    name, unit, weights = "mine", "", "free"

    def __init__(self, *answers: float | None) -> None:
        self.answers = list(answers)

    def cost(self, call: Call) -> float:
        return COSTS[call.operator]

    def slowdown(self, before: Graph, after: Graph, dialect: Dialect) -> float | None:
        return self.answers.pop(0)


def exponential() -> Graph:
    b = Builder(RELAY)
    return b.finish(b.call("exp", b.input("x", (4, 4))))


def find(method: str, *answers: float | None) -> Found:
    table = Table(*answers)
    rules = [RULES.known[name] for name in RULES.own]
    found = search(exponential(), RELAY, rules, table, Settings(method), traced=True)
    assert not table.answers
    return found


@pytest.mark.parametrize("method", METHODS)
def test_a_graph_that_is_no_slower_is_chosen(method: str) -> None:
    found = find(method, None)
    assert found.cost < found.before and found.slower is None and "slower_graph" not in found.report()


@pytest.mark.parametrize("method", METHODS)
def test_a_slower_graph_is_not_chosen(method: str) -> None:
    found = find(method, *([3.0, 2.0, 2.0] if method == "eqsat" else [3.0]))
    assert found.slower == 3.0 == found.report()["slower_graph"]
    assert found.cost == found.before == 10 and not found.led
    assert write_json(found.graph) == write_json(exponential())
    assert found.trace is not None and len(found.trace.entries) == 1  # the head alone


@pytest.mark.parametrize("slower", [1, 2])
def test_backtracking_may_find_one_that_is_faster(slower: int) -> None:
    """With the `alpha` asked for, or with 1."""
    found = find("eqsat", *[3.0] * slower, None)
    assert found.slower == 3.0 and found.cost == 1 and found.led == {"quicker": 1}
    assert found.trace is not None and len(found.trace.entries) == 2


def test_nothing_cheaper_is_not_measured() -> None:
    b = Builder(RELAY)
    found = search(b.finish(b.call("tanh", b.input("x", (2,)))), RELAY, [RULES.known["quick"]], Table())
    assert found.cost == found.before == 1


def test_one_round_without_loss_is_enough() -> None:
    first, second = exponential(), exponential()

    def times(*of_second: float) -> list[float]:
        left = list(of_second)
        ratio = relative_time(first, second, lambda graph: 2.0 if graph is first else left.pop(0))
        return [ratio, *left]

    assert times(1.0, 9.0) == [0.5, 9.0]
    assert times(4.0, 2.02, 9.0) == [1.01, 9.0]
    assert times(4.0, 3.0, 5.0, 6.0) == [2.25]


def test_a_measurement_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def seconds_of(graph: Graph, level: str) -> float:
        assert level == "all"
        asked.append(graph.op[graph.outputs[0]])
        return {"Exp": 1.0, "Tanh": 1.5, "Abs": 0.5}[asked[-1]]

    monkeypatch.setattr(measured, "seconds_of", seconds_of)
    b = Builder(RELAY)
    other = b.finish(b.call("tanh", b.input("x", (4, 4))))
    b = Builder(RELAY)
    third = b.finish(b.call("abs", b.input("x", (4, 4))))
    for _ in range(2):
        table = MeasuredCosts(path=tmp_path / "costs.sqlite")
        assert table.slowdown(exponential(), other, RELAY) == 1.5
        assert table.slowdown(exponential(), third, RELAY) is None
    assert len(asked) == 10  # four rounds and one
    monkeypatch.setattr(measured, "seconds_of", lambda graph, level: 1 / 0)
    assert table.slowdown(third, other, RELAY) is None  # what cannot be run is not called slower


def test_parameters_without_values_have_some_when_run() -> None:
    b = Builder(RELAY)
    graph = b.finish(b.call("nn.matmul", b.input("x", (4, 4)), b.param("w", (4, 4))))
    weights = [n for n in graph.nodes() if graph.op[n] is PARAM]
    assert weights and not any(graph.values.get(node) is not None for node in weights)
    assert measured.seconds_of(runnable(graph, RELAY), "all") >= 0
    assert not any(graph.values.get(node) is not None for node in weights)
