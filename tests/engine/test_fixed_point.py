"""A fixed point is one: whatever the worklist looked at again, nothing matches anywhere when a run has ended."""

from __future__ import annotations

from random import Random

import pytest

import gslang
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.dialect.load import load_dialect
from gslang.engine.fixed_point import Limits, StopReason, run_to_fixed_point
from gslang.engine.interpret import matches
from gslang.engine.plan import plan_of
from gslang.graph.builder import Builder
from gslang.graph.graph import DEAD, Graph
from gslang.graph.invariants import check_invariants
from tests.engine.plain_patterns import UNARY, as_graph, random_graph, random_pattern, rule_text


def random_run(seed: int) -> tuple[Graph, list, str]:
    random = Random(seed)
    texts, patterns = [], []
    for k in range(random.randint(1, 3)):
        pattern, outputs, keep = random_pattern(random)
        patterns.append((pattern, outputs))
        text = rule_text(pattern, outputs, keep).replace("rule r(", f"rule r{k}(")
        texts.append(text.replace("negative(", f"{random.choice(UNARY)}("))  # results that can match again
    program = check_source(Source("random.gsl", "\n".join(texts)))
    assert program.ok, texts
    data, ends = random_graph(random, *patterns[0])
    offset = len(data)
    for pattern, outputs in patterns[1:]:
        more, more_ends = random_graph(random, pattern, outputs)
        data += [entry if entry[0] == "input" else (entry[0], tuple(o + offset for o in entry[1])) for entry in more]
        ends += [n + offset for n in more_ends]
        offset = len(data)
    return as_graph(data, ends), [program.rules[f"r{k}"] for k in range(len(texts))], "\n".join(texts)


def one_run(seed: int) -> int:
    """The number of applications after the first sweep."""
    graph, rules, text = random_run(seed)
    first = run_to_fixed_point(graph.copy(), rules, Limits(applications=200, sweeps=1))
    progress = run_to_fixed_point(graph, rules, Limits(applications=200))
    assert check_invariants(graph) == [], (seed, text)
    if progress.stop_reason is not StopReason.FIXED_POINT:
        return 0
    for rule in rules:
        for node in range(len(graph.op)):
            if graph.op[node] is not DEAD:
                found = next(matches(plan_of(rule), graph, node), None)
                assert found is None, (seed, rule.name, node, text)
    return progress.applications - first.applications


@pytest.mark.parametrize("chunk", range(10))
def test_nothing_matches_at_the_end(chunk: int) -> None:
    later = [one_run(seed) for seed in range(chunk * 100, chunk * 100 + 100)]
    assert sum(later) > 0  # else no later sweep had anything to do


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10, 100))
def test_nothing_matches_at_the_end_long(chunk: int) -> None:
    for seed in range(chunk * 100, chunk * 100 + 100):
        one_run(seed)


def test_a_path_that_is_cut_far_away_makes_a_match_possible() -> None:
    """`z` depends on the first sum until `multiply(…, 0.0)` is replaced; no changed node is near the pair."""
    rules = gslang.parse_rules(
        "rule pair(x, y, z) { a = x + y; b = x - z; a, b => tanh(x + y), tanh(x - z) }\n"
        "rule zero(p): p * 0.0 => const(value = 0.0, dtype = p.dtype, shape = p.shape);"
    )
    build = Builder(load_dialect("relay"))
    x, y = build.input("x", (2, 2)), build.input("y", (2, 2))
    a = build.call("add", x, y)
    z = a
    for operator in ("exp", "sigmoid", "abs", "multiply", "exp", "sigmoid", "abs", "sqrt"):
        z = build.call(operator, z, build.const(0.0)) if operator == "multiply" else build.call(operator, z)
    graph = build.finish(a, build.call("subtract", x, z))
    result = rules.apply(graph, sweeps=3)
    assert [name for name, count in result.progress.counts.items() if count.applications] == ["pair", "zero"]
