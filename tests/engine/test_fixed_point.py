"""A fixed point is one: whatever the worklist looked at again, nothing matches anywhere when a run has ended.
"""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

import gslang
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.engine.edits import edits_of
from gslang.engine.externs import with_externs
from gslang.engine.fixed_point import Limits, StopReason, run_to_fixed_point
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Failure, apply_match
from gslang.graph.builder import Builder
from gslang.graph.graph import DEAD, Graph
from tests.engine.plain_patterns import UNARY, as_graph, random_graph, random_pattern, rule_text
from tests.engine.random_graphs import COMMON, Data, infer_all, show
from tests.engine.random_graphs import as_graph as rich_as_graph
from tests.engine.random_graphs import random_graph as rich_graph
from tests.engine.random_rules import random_annotations, random_rule, random_targets
from tests.engine.readable import readable_only
from tests.engine.test_rewrite_invariants import as_written
from tests.engine.written import name_in
from tests.engine.written import rule_text as rich_text
from tests.graph.invariants import check_invariants

pytestmark = pytest.mark.usefixtures("code_at_once")

RELAY = load_dialect("relay")


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
        data += [
            entry if entry[0] == "input" else (entry[0], tuple(o + offset for o in entry[1]))
            for entry in more
        ]
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
                found = next(matches(program_of(rule), graph, node), None)
                assert found is None, (seed, rule.name, node, text)
    return progress.applications - first.applications


@pytest.mark.parametrize("chunk", range(4))
def test_nothing_matches_at_the_end(chunk: int) -> None:
    later = [one_run(seed) for seed in range(chunk * 100, chunk * 100 + 100)]
    assert sum(later) > 0  # else no later sweep had anything to do


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(4, 100))
def test_nothing_matches_at_the_end_long(chunk: int) -> None:
    for seed in range(chunk * 100, chunk * 100 + 100):
        one_run(seed)


def random_case(seed: int) -> tuple[Graph, list[CheckedRule], str]:
    """One to three rules of the whole language on one graph, in which each of them nearly matches; its leaves
    are shared.
    """
    random = Random(seed)
    texts: list[str] = []
    data: Data = []
    ends: list[int] = []
    rules = []
    wanted = random.randint(1, 3)
    while len(rules) < wanted:
        rule = random_rule(random)
        text = rich_text(
            rule, f"r{len(rules)}", random_targets(random, rule), random_annotations(random, rule)
        )
        program = with_externs(check_source(Source("random.gsl", text)), True)
        if not program.ok:
            continue
        texts.append(text)
        rules.append(program.rules[name_in(rule, f"r{len(rules)}")])
        for _ in range(random.choice((1, 1, 2))):
            more, more_ends = rich_graph(random, rule)
            place = {k: k for k in range(COMMON)}
            data = data or more[:COMMON]
            for k, (operator, operands, attributes) in enumerate(more):
                if k not in place:
                    place[k] = len(data)
                    data.append((operator, tuple(place.get(o, o) for o in operands), attributes))
            ends += [place[k] for k in more_ends]
    graph = rich_as_graph(data, ends, TensorType((2, 2) if seed % 2 else None, "float32"))
    return graph, rules if infer_all(graph, RELAY) else [], "\n".join([*texts, show(data, ends)])


def in_line(graph: Graph) -> list[str]:
    """Operators in the order that is kept, which is the order of users, and so of later matches."""
    return [graph.op[node] for node in graph.in_order()]


def one_rich_run(seed: int) -> int:
    """The number of applications; both engines make the same graph, and what they leave is a fixed point.

    A match that is still there after it was rewritten, as the target has its output, is not tried again.
    """
    graph, rules, where = random_case(seed)
    other, told, done = graph.copy(), graph.copy(), set()
    limits = Limits(applications=60)
    progress = run_to_fixed_point(graph, rules, limits)
    with readable_only():
        run_to_fixed_point(other, rules, limits)
    run_to_fixed_point(told, rules, limits, observe=lambda number, a: done.add((a.rule, a.outputs[0])))  # type: ignore[union-attr]
    assert check_invariants(graph) == [], (seed, where)
    assert as_written(graph) == as_written(other) == as_written(told), (seed, where)
    assert in_line(graph) == in_line(other), (seed, where)
    if progress.stop_reason is StopReason.FIXED_POINT and not progress.failures:
        for rule in rules:
            for node in told.in_order():
                if (rule.name, node) not in done and told.op[node] in program_of(rule).starts:
                    copy = told.copy()
                    results = [
                        apply_match(scope, edits_of(copy, RELAY), [])
                        for scope in islice(matches(program_of(rule), copy, node), 1)
                    ]
                    assert not results or results[0] is None or isinstance(results[0], Failure), (
                        seed, rule.name, node, where,
                    )
    return progress.applications


@pytest.mark.parametrize("chunk", range(2))
def test_both_engines_end_at_the_same_fixed_point(chunk: int) -> None:
    assert sum(one_rich_run(seed) for seed in range(chunk * 100, chunk * 100 + 100)) > 50


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(2, 30))
def test_both_engines_end_at_the_same_fixed_point_long(chunk: int) -> None:
    for seed in range(chunk * 100, chunk * 100 + 100):
        one_rich_run(seed)


def run_readable_too(text: str, graph: Graph, limits: Limits = Limits()) -> Graph:
    program = check_source(Source("rules.gsl", text))
    assert program.ok, [d.message for d in program.diagnostics]
    rules = [program.rules[name] for name in program.own_rules]
    other = graph.copy()
    run_to_fixed_point(graph, rules, limits)
    with readable_only():
        run_to_fixed_point(other, rules, limits)
    assert as_written(graph) == as_written(other)
    return graph


def test_users_of_a_hub_that_get_another_place_in_line() -> None:
    """`abs` of the target is the other output's node, which moves before the users of the first one; so do
    candidates that are listed.
    """
    build = Builder(RELAY)
    x = build.input("x", (2, 2))
    graph = build.finish(*[build.call("abs", x) for _ in range(3)], build.call("exp", x))
    text = (
        "rule r(x, f: op(exp | tanh | abs)) { a = f(x); b = abs(x); a, b => b, subtract(add(add(b, x), "
        "abs(x)), b) }"
    )
    run_readable_too(text, graph, Limits(applications=40))


def test_a_node_that_moves_stays_before_its_other_users() -> None:
    """What the target reads stands behind a user of the first output, so it moves behind that output; `two`
    must stay before `abs`.
    """
    build = Builder(RELAY)
    x, two = build.input("x", (2, 2)), build.const(2.0)
    first, between = build.call("exp", x), x
    for _ in range(15):
        between = build.call("sigmoid", between)
    outputs = (
        first, build.call("abs", two), build.call("add", first, between),
        build.call("subtract", x, build.call("multiply", x, two)),
    )
    graph = build.finish(*outputs)
    run_readable_too(
        "rule r(x, y) { a = exp(x); b = subtract(x, y); a, b => tanh(subtract(x, y)), sqrt(x) }", graph
    )
    assert "tanh" in graph.op and check_invariants(graph) == []


def test_an_output_is_found_whichever_alternative_it_is() -> None:
    """The new `exp` makes the match at `abs` possible: the way there leads over `abs?`, though `x` can be the
    alternative itself.
    """
    build = Builder(RELAY)
    x = build.input("x", (2, 2))
    graph = build.finish(build.call("abs", x), build.call("multiply", x, x))
    text = (
        "rule two(x) { b = exp(x); a = abs?(x); a, b => sigmoid(x), sqrt(x) }\n"
        "rule later(x): multiply(x, x) => exp(x);"
    )
    assert "sigmoid" in run_readable_too(text, graph).op


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


def test_a_new_tuple_of_what_no_pattern_has_is_not_tried_again() -> None:
    """A second sweep has no candidates: the new `concatenate` reads weights, not products."""
    rules = gslang.parse_rules(
        """dialect relay;
        rule joined(x, w0: var, w1: var) {
            a = nn.matmul(x, w0);
            concatenate((a, nn.matmul(x, w1)), axis = 1)
          => nn.matmul(x, concatenate((w0, w1), axis = 1), a.*, units = none)
        }"""
    )
    builder = Builder(rules.dialect)
    x = builder.input("x", (4, 4))
    products = [builder.call("nn.matmul", x, builder.input(name, (4, 2))) for name in ("w0", "w1")]
    result = rules.apply(builder.finish(builder.call("concatenate", builder.pack(*products), axis=1)))
    assert result.applications == 1
    assert result.progress.counts["joined"].candidates == 1
