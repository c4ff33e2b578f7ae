"""Matches over classes that are found from assignments are those that the match machine finds."""

from __future__ import annotations

import pytest

import gslang
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.engine.lower import program_of
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from gslang.search.assignments import plan_of
from gslang.search.egraph import EGraph
from gslang.search.match_classes import ClassMachine, class_matches, match_key
from gslang.search.saturate import Limits, saturate
from tests.search.test_random_pairs import true_pair

RELAY = load_dialect("relay")


def compare(rule: CheckedRule, egraph: EGraph) -> int:
    """How many matches there are; they are the same in both ways, at each class."""
    program, count = program_of(rule), 0
    for of in egraph.classes_with(program.starts):
        machine = ClassMachine(program, egraph, of)
        expected = {match_key(machine.scope, egraph) for _ in machine.solve(program.steps)}
        found = [match_key(scope, egraph) for scope in class_matches(program, egraph, of)]
        assert set(found) == expected, rule.name
        assert not [*class_matches(program, egraph, of, expected)], rule.name
        count += len(expected)
    return count


def products() -> Graph:
    """Products, sums and concatenations in which many of TASO's rules match."""
    b = Builder(RELAY)
    x, y, z, w = (b.input(name, (4, 4)) for name in "xyzw")

    def product(a: int, c: int) -> int:
        return b.call("nn.matmul", a, c, transpose_a=False, transpose_b=False, out_dtype="")

    deep = product(product(product(x, y), z), y)
    joined = b.call("concatenate", b.pack(product(x, z), product(x, w)), axis=1)
    mixed = b.call("multiply", b.call("add", deep, b.call("nn.relu", x)), b.call("add", x, y))
    return b.finish(mixed, b.call("nn.relu", joined), b.call("transpose", deep, axes=(1, 0)))


def test_rules_of_taso_match_alike_in_a_saturated_egraph() -> None:
    loaded = gslang.load("std.taso")
    (step,) = loaded.steps(None, None, ())
    rules = [loaded.known[name] for name in step.rules]
    egraph = EGraph(products(), RELAY)
    saturate(egraph, rules, Limits(nodes=300, rounds=3))
    planned = [rule for rule in rules if plan_of(program_of(rule)) is not None]
    assert len(planned) > 100
    assert sum(compare(rule, egraph) > 0 for rule in planned) >= 10


@pytest.mark.parametrize("seed", range(40))
def test_random_rules_match_alike(seed: int) -> None:
    pair = true_pair(seed)
    if pair is None:
        return
    rule, _, graph, _ = pair
    egraph = EGraph(graph, RELAY)
    saturate(egraph, [rule], Limits(nodes=30, rounds=2))
    compare(rule, egraph)


def test_a_rule_of_any_depth() -> None:
    """Deeper than Python's calls."""
    statements = "".join(f"v{k + 1} = nn.relu(v{k});" for k in range(1500))
    rules = gslang.parse_rules(f"rule r(v0) {{ {statements} v1500 => v0 }}")
    b = Builder(RELAY)
    graph = b.finish(b.call("nn.relu", b.call("nn.relu", b.input("x", (4,)))))
    assert rules.search(graph, require="any").applications == {}
