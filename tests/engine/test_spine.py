"""A deep pattern is matched only where the graph goes on as deep; ways to its first output end where nothing
is.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gslang.api import parse_rules
from gslang.dialect.load import load_dialect
from gslang.engine import machine, worklist
from gslang.engine.fixed_point import run_to_fixed_point
from gslang.engine.lower import program_of
from gslang.engine.machine import Machine, matches
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

LEVELS = 60


def deep(level: str) -> machine.MatchProgram:
    """The program of a rule whose levels are `level` of the one below."""
    names = ["a", *(f"v{k}" for k in range(LEVELS))]
    lines = "".join(f"{name} = {level.format(below)};" for below, name in zip(names, names[1:]))
    (rule,) = parse_rules(f"dialect relay; rule r(a, b) {{ {lines} {names[-1]} + b => nn.relu(a) + b }}")
    return program_of(rule.rule)


def chain(step: Callable[[Builder, int, int], int]) -> Graph:
    """As many steps from `x`, with `b`, and the sum of the last one and `b`."""
    build = Builder(load_dialect("relay"))
    node, b = build.input("x", (2, 3)), build.input("b", (2, 3))
    for _ in range(LEVELS):
        node = build.call("nn.relu", step(build, node, b))
    return build.finish(build.call("add", b, node))


@pytest.mark.parametrize(
    "level, step",
    [
        ("nn.relu({})", lambda build, node, b: node),
        ("nn.relu(b + {})", lambda build, node, b: build.call("add", node, b)),
        ("nn.relu({0} - {0})", lambda build, node, b: build.call("subtract", node, node)),
    ],
)
def test_a_pattern_is_tried_where_it_may_end(
    level: str, step: Callable[[Builder, int, int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, graph = deep(level), chain(step)
    tried: list[int] = []
    scopes = Machine.scopes
    monkeypatch.setattr(Machine, "scopes", lambda run: tried.append(run.start) or scopes(run))
    relus = [n for n in graph.in_order() if graph.op[n] == "nn.relu"]
    names = [n for n in graph.in_order() if graph.op[n] == "add" and graph.operands[n][1] == relus[-1]]
    found = [n for n in graph.in_order() if graph.op[n] == "add" for _ in matches(program, graph, n)]
    assert found == tried == names


def test_a_shallow_pattern_is_matched_at_once() -> None:
    (rule,) = parse_rules("dialect relay; rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);")
    assert not program_of(rule.rule).spine


def test_no_way_goes_on_where_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    program, graph = deep("nn.relu({})"), chain(lambda build, node, b: node)
    steps: list[int] = []

    class Way(tuple[worklist.Move, ...]):
        def __getitem__(self, at: object) -> object:
            steps.append(1)
            return super().__getitem__(at)  # type: ignore[index]

    ways = {op: [Way(way) for way in found] for op, found in worklist.ways_of([program]).items()}
    monkeypatch.setattr("gslang.engine.fixed_point.ways_of", lambda _: ways)
    run_to_fixed_point(graph, [program.rule])
    assert len(graph) == 4 and 0 < len(steps) < 4 * LEVELS
