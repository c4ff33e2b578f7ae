"""After every rewrite the graph is whole, and a rewrite that fails leaves no trace.

Random rules with real targets on random graphs: invariants and types after each single application, by the
generated and by the readable rewriter, which must make the same graph. Then the ways in which an application
can fail, one by one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.engine.edits import edits_of
from gslang.engine.externs import with_externs
from gslang.engine.fixed_point import Limits, StopReason, run_to_fixed_point
from gslang.engine.generate import compile_matcher, compile_rewriter
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Failure, apply_match
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from gslang.graph.inference import contradiction, infer_node
from tests.engine.random_graphs import as_graph, infer_all, random_graph, show
from tests.engine.random_rules import random_annotations, random_rule, random_targets
from tests.engine.written import name_in, rule_text
from tests.graph.invariants import check_invariants

RELAY = load_dialect("relay")


def columns(graph: Graph) -> dict[str, Any]:
    """Everything that a graph says, to compare."""
    return {
        "op": graph.op[:],
        "operands": graph.operands[:],
        "attrs": [dict(a) for a in graph.attrs],
        "types": graph.types[:],
        "names": graph.names[:],
        "users": [list(users) for users in graph.users],
        "outputs": graph.outputs[:],
        "output_uses": {k: v[:] for k, v in graph.output_uses.items()},
        "values": {k: id(v) for k, v in graph.values.items()},
        "extras": dict(graph.extras),
        "dead": graph.dead,
        "order": list(graph.ordered()),
    }


def by_inference(graph: Graph) -> set[int]:
    """Nodes whose type is not what inference says.

    The random graphs have some: scalars joined along an axis, say.
    """

    def is_wrong(node: int) -> bool:
        try:
            return contradiction(graph.types[node], infer_node(graph, RELAY, node)) is not None
        except TypeInferenceError:
            return True

    return {node for node in graph.nodes() if is_wrong(node)}


def may_be_wrong(before: Graph, after: Graph, node: int) -> bool:
    """A target may be of one rank where the source's was not known; what reads it then may want another one.
    Nobody can tell from the source's type that the rule is wrong there.
    """
    new = [o for o in after.operands[node] if o >= len(before.op)]
    return bool(new) and any(
        getattr(before.types[o], "shape", None) is None
        for o in before.operands[node] if o not in after.operands[node]
    )


def random_case(seed: int) -> tuple[CheckedRule, str, Graph, str]:
    """A rule with a real target, and a graph whose types are known (one in three: only its dtypes)."""
    random = Random(seed)
    while True:
        rule = random_rule(random)
        text = rule_text(
            rule, targets=random_targets(random, rule), annotations=random_annotations(random, rule)
        )
        program = with_externs(check_source(Source("random.gsl", text)), True)
        if program.ok:
            break
    for attempt in range(20):
        data, ends = random_graph(random, rule)
        graph = as_graph(data, ends, TensorType((2, 2) if seed % 3 and attempt < 19 else None, "float32"))
        if infer_all(graph, RELAY):
            break
    return program.rules[name_in(rule)], text, graph, show(data, ends)


def readable(rule: CheckedRule, graph: Graph, start: int) -> Any:
    edits = edits_of(graph, RELAY)
    for scope in matches(program_of(rule), graph, start):
        if (result := apply_match(scope, edits, [])) is not None:
            return result
    return None


def one_case(seed: int) -> Counter[str]:
    rule, text, original, shown = random_case(seed)
    outcomes: Counter[str] = Counter()
    wrong_before = by_inference(original)
    rewrite = compile_rewriter(program_of(rule))
    for start in original.in_order():
        if original.op[start] not in program_of(rule).starts:
            continue
        graph, other = original.copy(), original.copy()
        before, where = columns(graph), f"seed {seed}, first output %{start}\n{text}\n{shown}"
        seeds: list[int] = []
        result = readable(rule, other, start)
        assert check_invariants(other) == [], where
        if result is True:
            assert all(may_be_wrong(original, other, node) for node in by_inference(other) - wrong_before), (
                where
            )
        else:
            assert columns(other) == before, where
        outcomes["rewritten" if result is True else "failed" if isinstance(result, Failure) else "none"] += 1
        again = rewrite(edits_of(graph, RELAY))(start, seeds)
        assert (result is True, type(result)) == (again is True, type(again)), where
        assert check_invariants(graph) == [], where
        if result is True:
            assert all(
                may_be_wrong(original, graph, node) for node in by_inference(graph) - wrong_before
            ) and as_written(graph) == as_written(other), where
        else:
            assert columns(graph) == before and seeds == [], where
    return outcomes


def as_written(graph: Graph) -> list[tuple[Any, ...]]:
    """The graph from its outputs, free of node numbers."""
    number = {node: k for k, node in enumerate(graph.reverse_post_order())}
    nodes = [
        (
            graph.op[n], tuple(number[o] if o >= 0 else o for o in graph.operands[n]),
            sorted(graph.attrs[n].items()), str(graph.types[n]),
        )
        for n in number
    ]
    return [*nodes, tuple(number[n] for n in graph.outputs)]


@pytest.mark.parametrize("chunk", range(5))
def test_every_rewrite_leaves_a_whole_graph(chunk: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(chunk * 75, chunk * 75 + 75):
        total += one_case(seed)
    assert total["rewritten"] > 15


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(5, 60))
def test_every_rewrite_leaves_a_whole_graph_long(chunk: int) -> None:
    for seed in range(chunk * 75, chunk * 75 + 75):
        one_case(seed)


def test_runs_leave_whole_graphs() -> None:
    """Many applications one after the other, up to a limit in the middle."""
    stopped = 0
    for seed in range(130):
        rule, text, graph, shown = random_case(seed)
        wrong_before = by_inference(graph)
        progress = run_to_fixed_point(graph, [rule], Limits(applications=12))
        stopped += progress.stop_reason is StopReason.APPLICATION_LIMIT
        assert check_invariants(graph) == [], (seed, text, shown)
        assert by_inference(graph) <= wrong_before, (seed, text, shown)
    assert stopped > 0


# ── the ways to fail ────────────────────────────────────────────────────────────────────────────────────────

# The first target of each is built before the second one fails. What is expected: an application that is
# reported as failed (its message has these words), or None: no match.
FAILURES = {
    "type contradiction": ("e => concatenate((negative(x), x), axis = 0)", "shape"),
    "type error": ("e => e2 = negative(x); concatenate((e2, sum(x, axis = [0])), axis = 0)", "concatenate"),
    "axis out of range": ("e => transpose(negative(x), axes = [0, 7])", "transpose"),
    "failing expression": ("e => nn.softmax(negative(x), axis = x.shape[5])", None),
    "division by zero": ("e => nn.softmax(negative(x), axis = 1 // (x.ndim - 2))", None),
    "unknown dimension": (
        "e => transpose(negative(x), axes = [0, (u.shape[0] if x.ndim == 2 else 1)])", None,
    ),
    "attribute that is not given": ("e => nn.softmax(negative(x), axis = c.axis)", None),
}


def only_rule(text: str) -> CheckedRule:
    program = check_source(Source("rule.gsl", text))
    assert program.ok, [d.message for d in program.diagnostics]
    return program.rules["r"]


def failing_case(name: str) -> tuple[CheckedRule, Graph, int]:
    target = FAILURES[name][0]
    source, declared = "e = exp(x);", ""
    if "u." in target:
        source += " u = abs(x); f = e + u;"
        target = target.replace("e =>", "f =>").replace("e2", "e3")
    if "c." in target:
        declared = "op my.axis(x: tensor, axis: int?) -> tensor;\n"
        source = "c = my.axis(x); e = exp(c);"
    rule = only_rule(f"{declared}rule r(x) {{ {source} {target} }}")
    build = Builder(rule.dialect)
    x = build.input("x", (2, 2))
    if "c." in target:
        e = build.call("exp", build.call("my.axis", x))
    else:
        e = build.call("exp", x)
    if "u." in target:
        u = build.call("abs", x)
        build.graph.types[u] = TensorType((UNKNOWN, 2), "float32")
        e = build.call("add", e, u)
    return rule, build.finish(build.call("tanh", e), e), e


@pytest.mark.parametrize("generated", [True, False], ids=["generated", "readable"])
@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_leaves_no_trace(name: str, generated: bool) -> None:
    rule, graph, start = failing_case(name)
    before = columns(graph)
    assert next(matches(program_of(rule), graph, start), None) is not None  # the source does match
    result = (
        compile_rewriter(program_of(rule))(edits_of(graph, rule.dialect))(start, []) if generated
        else readable(rule, graph, start)
    )
    words = FAILURES[name][1]
    assert (result is None) if words is None else (isinstance(result, Failure) and words in result.message), (
        result
    )
    assert columns(graph) == before and check_invariants(graph) == []


@pytest.mark.parametrize("name", [name for name, (_, words) in FAILURES.items() if words is not None])
def test_the_run_goes_on_after_a_failure(name: str) -> None:
    rule, graph, _ = failing_case(name)
    before = columns(graph)
    after = only_rule("rule r(x): tanh(x) => abs(x);")
    progress = run_to_fixed_point(graph, [rule, replace(after, name="after")])
    assert {f.rule for f in progress.failures} == {"r"} and progress.applications == 1
    assert sorted(graph.op[n] for n in graph.nodes()) == sorted(
        "abs" if op == "tanh" else op for op in before["op"]
    )


@pytest.mark.parametrize("applications", range(1, 8))
def test_the_application_limit_stops_between_two_applications(applications: int) -> None:
    """The graph is what as many applications make of it, no more and no less."""
    rule = only_rule("rule r(x) { exp(x), tanh(x) => y = negative(x); exp(y), tanh(y) }")
    build = Builder(RELAY)
    x = build.input("x", (2, 2))
    limited = build.finish(build.call("exp", x), build.call("tanh", x))
    stopped, by_hand = limited.copy(), limited.copy()
    progress = run_to_fixed_point(limited, [rule], Limits(applications=applications))
    assert progress.stop_reason is StopReason.APPLICATION_LIMIT and progress.applications == applications
    run_to_fixed_point(stopped, [rule], Limits(stop_after=applications))
    for _ in range(applications):
        start = next(node for node in by_hand.nodes() if by_hand.op[node] == "exp")
        assert readable(rule, by_hand, start) is True
    assert check_invariants(limited) == [] and columns(limited) == columns(stopped)
    assert as_written(limited) == as_written(by_hand)


# ── what random rules have found ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text, first", [
    ("rule r(x) { y = tanh(x); a = exp?(y); b = abs(y); a, b => b, b }", "tanh"),
    ("rule r(x) { a = tanh(x); b = abs(a); c = tanh(x); b, c => a, negative(subtract(a, b)) }", "abs"),
])  # fmt: skip
def test_a_node_that_stays_keeps_what_it_reads(text: str, first: str) -> None:
    rule = only_rule(text)
    build = Builder(RELAY)
    y = build.call("tanh", build.input("x", (2, 2)))
    graph = build.finish(build.call("exp", y), build.call("abs", y))
    start = next(node for node in graph.nodes() if graph.op[node] == first)
    assert compile_rewriter(program_of(rule))(edits_of(graph, RELAY))(start, []) is True
    assert check_invariants(graph) == []


@pytest.mark.parametrize("target", ["y", "exp(y)", "exp(x)", "tanh(add(y, y))"])
@pytest.mark.parametrize("read", [True, False], ids=["read", "output"])
def test_an_input_may_be_an_interior_node(target: str, read: bool) -> None:
    """`y` is the `tanh` that the source has as an interior node too; it stays as long as something reads it.
    """
    rule = only_rule(f"rule r(x, y) {{ add(tanh(x), y) => {target} }}")
    build = Builder(RELAY)
    t = build.call("tanh", build.input("x", (2, 2)))
    total = build.call("add", t, t)
    graph = build.finish(build.call("abs", total) if read else total)
    other = graph.copy()
    assert compile_rewriter(program_of(rule))(edits_of(graph, RELAY))(total, []) is True
    assert readable(rule, other, total) is True
    assert check_invariants(graph) == [] and as_written(graph) == as_written(other)
    assert ("tanh" in graph.op) == (target != "exp(x)")


def test_an_output_is_no_node_of_an_instance() -> None:
    rule = only_rule(
        "rule r(x) { each f in 1.. { y = any(); t = tanh(y); } c = concatenate((x, *f.t)); c, tanh(x) => "
        "abs(x), abs(x) }"
    )
    build = Builder(RELAY)
    x = build.input("x", (2, 2))
    c = build.call("concatenate", build.pack(x, build.call("tanh", x)), axis=0)
    graph = build.finish(c)
    assert next(matches(program_of(rule), graph, c), None) is None
    assert compile_matcher(program_of(rule))(graph)(c, lambda scope: True) is None
