"""Why a rule did not match, where a value has many readers or a graph many places: the work is bounded, and
what is told is certain.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gslang
from gslang.engine import machine
from gslang.engine.effort import Effort
from gslang.engine.lower import program_of
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from tests.engine.test_why_not import RELAY, x_of


def test_a_match_behind_many_others_is_found() -> None:
    """One start, thousands of users to try: more than either look is worth, so the matcher itself is asked.
    """
    build = Builder(RELAY)
    x, y, c = x_of(build), build.input("y", (2, 4)), build.param("c", (2, 4))
    start = build.call("exp", x)
    graph = build.finish(start, *[build.call("add", x, y) for _ in range(2000)], build.call("add", x, c))
    (rule,) = gslang.parse_rules("rule r(x, c: param) { exp(x), x + c => x, x }")
    assert [(m.start, m.reason) for m in rule.why_not(graph)] == [(start, "matches")]


def test_many_places_above_one_node() -> None:
    """Each of 1,000 places could go with each of 1,000 others; the best are told all the same, for sure."""
    build = Builder(RELAY)
    x = x_of(build)
    firsts = [build.call("exp", x) for _ in range(1000)]
    graph = build.finish(*firsts, *[build.call("tanh", x) for _ in range(1000)])
    rules = gslang.parse_rules(
        "rule r(x) { exp(x), tanh(x) where x.ndim == 3 => x, x }\nrule s(x) { exp(x), tanh(x) => x, x }"
    )
    assert [(m.start, m.reason) for m in rules["r"].why_not(graph, limit=3)] == [
        (first, "where") for first in firsts[:3]
    ]
    assert rules["s"].why_not(graph)[0].reason == "matches"


def readers(count: int) -> Graph:
    """That many calls of one value."""
    build = Builder(RELAY)
    x = x_of(build)
    return build.finish(*[build.call("exp", x) for _ in range(count)])


def test_a_match_with_all_readers_is_looked_for_once() -> None:
    text = "rule r(x) { each e in 2.. { y = exp(x); }  *e.y => *[e[0].y for b in e] }"
    (rule,) = gslang.parse_rules(text)

    def steps(count: int) -> int:
        effort = Effort(10**9)
        assert [miss.reason for miss in rule.why_not(readers(count), effort=effort)] == ["matches"]
        return effort.taken

    assert steps(400) < 2.5 * steps(200)


def test_of_many_readers_those_are_taken_that_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    class Read(list[int]):
        def __iter__(self) -> Iterator[int]:
            nonlocal read
            for node in super().__iter__():
                read += 1
                yield node

    candidates = machine.Machine.candidates
    monkeypatch.setattr(machine.Machine, "candidates", lambda self, climb: Read(candidates(self, climb)))
    (rule,) = gslang.parse_rules("rule r(x) { exp(x), exp(x) => x, x }")
    next(machine.matches(program_of(rule.rule), graph := readers(300), graph.outputs[0]))
    assert 0 < read < 10


def test_what_cannot_be_told_is_no_miss() -> None:
    """Five of 40 calls can be chosen in 79 million ways, none of which is one."""
    (rule,) = gslang.parse_rules(
        "rule r(x) { a = exp(x); e = exp(x); a, exp(x), exp(x), exp(x), e where a.ndim + e.ndim == 1 "
        "=> x, x, x, x, x }"
    )
    misses = rule.why_not(readers(40), effort=(effort := Effort(50_000)))
    assert {miss.reason for miss in misses} == {"gave-up"} and effort.stopped and effort.taken < 100_000


@pytest.mark.parametrize("where", [4, 4999, 9989])
def test_the_nearest_of_thousands(where: int) -> None:
    """In a chain that the rule matches nowhere, one place fails only by an operator, wherever that is."""
    build = Builder(RELAY)
    node = x_of(build)
    for k in range(10_000):
        node = build.call(
            {0: "abs", 1: "nn.relu", 2: "tanh"}.get(k - where, ("tanh", "nn.relu", "exp")[k % 3]), node
        )
        if k == where:
            odd = node
    graph = build.finish(node)
    (rule,) = gslang.parse_rules("rule r(x): tanh(nn.relu(exp(x))) => x;")
    assert not any(rule.matches(graph))
    miss = rule.why_not(graph)[0]
    assert (miss.reason, miss.node, miss.matched) == ("operator", odd, miss.of - 1)
