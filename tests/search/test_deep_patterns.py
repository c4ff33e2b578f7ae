"""A deep pattern is tried only where the graph is as deep."""

from __future__ import annotations

from collections.abc import Container, Iterator

import pytest

from gslang.api import parse_rules
from gslang.dialect.load import load_dialect
from gslang.engine.program import MatchProgram
from gslang.engine.scope import Scope
from gslang.graph.builder import Builder
from gslang.search import match_classes, saturate
from gslang.search.egraph import EGraph


def test_classes_that_are_not_deep_enough_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def noted(program: MatchProgram, egraph: EGraph, of: int, seen: Container[object]) -> Iterator[Scope]:
        tried.append(of)
        return match_classes.class_matches(program, egraph, of, seen)

    monkeypatch.setattr(saturate, "class_matches", noted)
    names = ["a", *(f"v{k}" for k in range(60))]
    lines = "".join(f"{name} = nn.relu({below});" for below, name in zip(names, names[1:]))
    (rule,) = parse_rules(f"dialect relay; rule r(a) {{ {lines} v59 => nn.relu(a) }}")
    build = Builder(load_dialect("relay"))
    node = build.input("x", (2, 3))
    for _ in range(60):
        node = build.call("nn.relu", node)
    egraph = EGraph(build.finish(node), load_dialect("relay"))
    progress = saturate.saturate(egraph, [rule.rule], saturate.Limits())
    assert progress.applications == {"r": 1}
    assert len(tried) < 10
