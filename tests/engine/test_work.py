"""The work of conditions and attributes: of all evaluations of a run together, no more than a limit says."""

from __future__ import annotations

import pytest

import gslang
from gslang.base.source import Source
from gslang.check import limits
from gslang.check.check import check_source
from gslang.check.limits import LimitExceeded, counted_work, spend, uncounted_work
from gslang.discover.implied import implied
from gslang.engine.rounds import work_of_round
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from gslang.lint.registry import REGISTRY
from gslang.lint.run_lints import lint_program
from tests.engine.test_why_not import RELAY, x_of

# within the limits of one value, each of them
LONG = {
    "rounds": "sum([i % 7 for i in 0..3000]) > 10 ** 9",
    "parts of a round": "sum([i % 7 + i % 6 + i % 5 + i % 4 + i % 3 for i in 0..700]) > 10 ** 9",
    "a function": "len([i for i in 0..200 if sum(range(20000)) == i]) > 3",
    "a comparison": "len([i for i in 0..200 if range(20000) == range(20000)[1:]]) > 3",
    "a search": "len([i for i in 0..200 if 10 ** 6 in range(20000)]) > 3",
    "a slice": "len([i for i in 0..200 if len(range(20000)[1:]) == 1]) > 3",
    "a product": "len([i for i in 0..200 if 3 ** 2000 % 5 == i + 7]) > 3",
}


def rule(condition: str) -> str:
    return f"rule r(a): nn.relu(a) where ({condition}) or users(a) > 5 => tanh(a);\n"


def relus(count: int = 30) -> Graph:
    build = Builder(RELAY)
    value = x_of(build)
    for _ in range(count):
        value = build.call("nn.relu", value)
    return build.finish(value)


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_WORK", 20_000)
    monkeypatch.setattr(limits, "MORE_WORK_FOR_A_NODE", 100)


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize("condition", LONG.values(), ids=LONG.keys())
def test_a_run_ends_with_an_error(condition: str, code: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the machine, and in generated code."""
    monkeypatch.setattr("gslang.engine.first_tries._MOST", 0 if code else 10**9)
    with pytest.raises(LimitExceeded, match="rule `r`: conditions .* 23,[0-9]* steps, the limit in this"):
        gslang.parse_rules(rule(condition)).apply(relus())


@pytest.mark.usefixtures("little")
def test_other_runs_end_too() -> None:
    rules = gslang.parse_rules(rule(LONG["rounds"]))
    with pytest.raises(LimitExceeded):
        rules.search(relus(), require="any")
    with pytest.raises(LimitExceeded):
        rules.search(relus(), require="any", method="backtrack")
    source = Source("r.gsl", "dialect relay;\n" + rule(LONG["rounds"]))
    found = lint_program(source, check_source(source), frozenset(REGISTRY), cache=False)
    assert any("linting stopped at `r`" in diagnostic.message for diagnostic in found)
    other = gslang.parse_rules("rule s(a): nn.relu(nn.relu(a)) => nn.relu(a);")
    answer = implied(other.known["s"], [rules.known["r"]])
    assert not answer.implied and "conditions and attributes of this run" in answer.reason


@pytest.mark.usefixtures("little")
def test_the_limit_is_that_of_a_run() -> None:
    """The next run has as much; and in a larger graph there is more."""
    rules = gslang.parse_rules(rule("sum([i % 7 for i in 0..15]) > 10 ** 9"))
    for _ in range(40):
        rules.apply(relus(20))
    rules.apply(relus(2_000))


def test_runs_inside_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_WORK", 10)
    spend(1_000)
    with counted_work(0):
        with counted_work(1_000_000):
            spend(6)
        with uncounted_work():
            spend(1_000)
        with pytest.raises(LimitExceeded):
            spend(6)
    spend(1_000)


def test_what_is_shared_counts_once() -> None:
    program = check_source(Source(
        "r.gsl",
        "dialect relay;\nfn f(i) = i * 3 + i;\nfn g(i) = f(i) * f(i);\n"
        "rule r(a): nn.relu(a) where sum([g(i) for i in 0..9]) > a.ndim => a;\n",
    ))
    (condition,) = program.rules["r"].where
    assert 3 < work_of_round(condition.left.arguments[0]) < 20
