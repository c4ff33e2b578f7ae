"""Outputs that are chosen among the users of one tensor: no more choices are tried than a limit says."""

from __future__ import annotations

import pytest

import gslang
from gslang.check.limits import LimitExceeded
from gslang.engine import machine
from gslang.engine.lower import program_of
from gslang.graph.builder import Builder
from tests.engine.test_why_not import RELAY, x_of
from tests.engine.test_why_not_many import readers

# no choice meets the condition, which reads the first and the last output
RULE = (
    "rule r(x) { a = exp(x); e = exp(x); a, exp(x), exp(x), exp(x), e where a.ndim + e.ndim == 1 "
    "=> x, x, x, x, x }"
)


@pytest.mark.parametrize("count", [20, 80])
def test_a_run_ends_with_an_error(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the machine; in generated code, where candidates are a list or a group."""
    monkeypatch.setattr("gslang.engine.tries.MOST_TRIED", 10_000)
    monkeypatch.setattr(machine.Machine, "most_tried", 5_000)
    with pytest.raises(LimitExceeded, match="rule `r`: more than .* choices of outputs"):
        gslang.parse_rules(RULE).apply(readers(count))


def test_a_rule_that_matches_hardly_tries_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gslang.engine.tries.MOST_TRIED", 0)
    text = "rule r(x) { a = exp(x); a, exp(x), exp(x) => a, a, a }"
    assert gslang.parse_rules(text).apply(readers(200)).applications > 90


def test_the_machine_has_a_limit_for_each_first_output() -> None:
    (rule,) = gslang.parse_rules(RULE)
    graph = readers(40)
    with pytest.raises(LimitExceeded, match="100,000 choices"):
        next(machine.matches(program_of(rule.rule), graph, graph.outputs[0]))


@pytest.mark.parametrize("most", [2_000, 10**9])
def test_orders_of_operands(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """24 commutative operators have 16 million orders; on the machine, and in generated code alone."""
    monkeypatch.setattr("gslang.engine.tries.MOST_TRIED", 10_000)
    monkeypatch.setattr(machine.Machine, "most_tried", most)
    monkeypatch.setattr("gslang.engine.first_tries._MOST", 64 if most == 2_000 else 0)
    term = "a"
    for k in range(24):
        term = f"add({term}, b{k})"
    names = ", ".join(f"b{k}" for k in range(24))
    build = Builder(RELAY)
    x = y = x_of(build)
    for _ in range(40):
        x, y = build.call("add", x, y), x
    with pytest.raises(LimitExceeded, match="orders of operands"):
        gslang.parse_rules(f"rule r(a, {names}): {term} where b0.ndim == 9 + a.ndim => a;").apply(
            build.finish(x)
        )
