"""Why a rule did not match: one small graph for each reason, and agreement with the matcher on random ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.engine import machine
from gslang.engine.lower import program_of
from gslang.engine.miss import Miss
from gslang.engine.why_not import why_not
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from tests.engine.random_graphs import as_graph, random_graph
from tests.engine.test_oracle import checked

RELAY = load_dialect("relay")
MATCHES = {"matches", "target-value", "target-type"}  # the source matches


def nearest(text: str, make: Callable[[Builder], tuple[int, ...]]) -> tuple[Graph, Miss]:
    build = Builder(RELAY)
    graph = build.finish(*make(build))
    for node in graph.nodes():
        if graph.names[node] is None:
            graph.names[node] = f"n{node}"
    rules = gslang.parse_rules(text)
    (handle,) = rules
    return graph, handle.why_not(graph)[0]


def x_of(b: Builder) -> int:
    return b.input("x", (2, 4))


def two_users(b: Builder) -> tuple[int, ...]:
    inner = b.call("nn.relu", x_of(b))
    return b.call("tanh", inner), b.call("exp", inner)


def unknown_shape(b: Builder) -> tuple[int, ...]:
    x = b.graph.add_input("x", TensorType((2, UNKNOWN), "float32"))
    return (b.call("tanh", x),)


def unknown_rank(b: Builder) -> tuple[int, ...]:
    x = b.graph.add_input("x", TensorType(None, "float32"))
    return (b.call("tanh", x),)


def unknown_dtype(b: Builder) -> tuple[int, ...]:
    x = b.graph.add_input("x", TensorType((2, 4), None))
    return (b.call("tanh", x),)


def dependent(b: Builder) -> tuple[int, ...]:
    x = x_of(b)
    first = b.call("exp", x)
    return first, b.call("add", x, b.call("abs", b.call("tanh", first)))


REASONS = [
    (
        "rule r(x): tanh(nn.relu(x)) => x;",
        lambda b: (b.call("tanh", b.call("exp", x_of(b))),),
        "operator",
        "`nn.relu`",
        "`exp` n1",
    ),
    (
        "rule r(x): tanh(x) => x;",
        lambda b: (b.call("exp", x_of(b)),),
        "no-candidate",
        "`tanh`",
        "it has `exp`",
    ),
    (
        "rule r(x, w): nn.conv2d(x, w) => x;",
        lambda b: (b.graph.add("nn.conv2d", [x_of(b), -1]),),
        "operand-missing",
        "an operand",
        "omitted",
    ),
    (
        "rule r(x, y): concatenate((x, y)) => x;",
        lambda b: (b.call("concatenate", b.pack(x_of(b)), axis=0),),
        "operand-count",
        "2 fields",
        "has 1",
    ),
    (
        "rule r(x): transpose(x, axes = [1, 0]) => x;",
        lambda b: (b.call("transpose", x_of(b), axes=[0, 1]),),
        "attribute",
        "`axes` = (1, 0)",
        "(0, 1)",
    ),
    (
        "rule r(x) { a = split(x); split(a.0, axis = a.axis) => a }",
        lambda b: (
            b.call(
                "split",
                b.field(b.call("split", x_of(b), indices_or_sections=2, axis=1), 0),
                indices_or_sections=2,
                axis=0,
            ),
        ),
        "attribute",
        "`axis` = 1",
        "`axis` = 0",
    ),
    (
        "rule r(x: any(shape = (2, 3))): tanh(x) => x;",
        lambda b: (b.call("tanh", x_of(b)),),
        "shape",
        "shape",
        "(2, 4)",
    ),
    (
        'rule r(x: any(dtype = "float16")): tanh(x) => x;',
        lambda b: (b.call("tanh", x_of(b)),),
        "dtype",
        '"float16"',
        '"float32"',
    ),
    (
        "rule r(x: any(ndim = 3)): tanh(x) => x;",
        lambda b: (b.call("tanh", x_of(b)),),
        "rank",
        "`ndim` = 3",
        "`ndim` = 2",
    ),
    ("rule r(x: any(shape = (2, 4))): tanh(x) => x;", unknown_shape, "unknown-shape", "shape", "(2, ?)"),
    (
        "rule r(x: any(ndim = 2)): tanh(x) => x;",
        unknown_rank,
        "unknown-rank",
        "`ndim` = 2",
        "the rank of input `x` is not known|the rank of x is not known",
    ),
    (
        "rule r(x): x * 2.0 => x;",
        lambda b: (b.call("multiply", x_of(b), b.const(3.0)),),
        "constant-value",
        "2.0",
        "3.0",
    ),
    (
        "rule r(x, c: const): x * c => x;",
        lambda b: (b.call("multiply", x_of(b), b.input("y", (2, 4))),),
        "kind",
        "`const`",
        "input",
    ),
    (
        "rule r(x): x + x => x;",
        lambda b: (b.call("add", x_of(b), b.input("y", (2, 4))),),
        "another-node",
        "`x` once more",
        "input",
    ),
    (
        "rule r(x): tanh(nn.relu(x)) => x;",
        two_users,
        "used-outside",
        "only the pattern",
        "also used by `exp` n3",
    ),
    (
        "rule r(x): tanh(nn.relu(x)) => x;",
        lambda b: ((inner := b.call("nn.relu", x_of(b))), b.call("tanh", inner)),
        "graph-output",
        "only the pattern",
        "is an output of the graph",
    ),
    ("rule r(x, y) { exp(x), x + y => x, x }", dependent, "not-convex", "do not depend", "n1 → n2 → n3"),
    (
        "rule r(x) { a = tanh(x); a where x.ndim == 3 => x }",
        lambda b: (b.call("tanh", x_of(b)),),
        "where",
        "true",
        "false: x.ndim = 2",
    ),
    (
        "rule r(x) { a = tanh(x); a where x.ndim == 2 and x.shape[0] == x.shape[1] => x }",
        lambda b: (b.call("tanh", x_of(b)),),
        "where",
        "true",
        "x.shape = (2, 4)",
    ),
    (
        "rule r(x) { a = tanh(x); a where x.shape[1] > 1 => x }",
        unknown_shape,
        "where-unknown",
        "true",
        "x.shape = (2, ?)",
    ),
    (
        "rule r(x, y) { a = tanh(x); b = tanh(y); z = a + b; z where distinct(x, y) => x }",
        lambda b: (b.call("add", b.call("tanh", (x := x_of(b))), b.call("tanh", x)),),
        "where",
        "true",
        "x",
    ),
    (
        "rule r(x) { exp(x), tanh(x) => x, x }",
        lambda b: (b.call("exp", x_of(b)),),
        "no-further-output",
        "`tanh`",
        "is used by `exp`",
    ),
    (
        "rule r(x) { each b in 2.. { y = tanh(x); } *b.y => *[x for i in range(len(b))] }",
        lambda b: (b.call("tanh", x_of(b)),),
        "too-few-instances",
        "`b`",
        "there is 1",
    ),
    (
        "rule r() { each f in 2.. { y = tanh(any); } concatenate((*f.y,), axis = 0) => f[0].y }",
        lambda b: (b.call("concatenate", b.pack(b.call("tanh", x_of(b))), axis=0),),
        "too-few-instances",
        "`f`",
        "leaves 1",
    ),
    (
        "rule r(f: op(elementwise), x, y) { a = f(x); b = f(y); a + b => x }",
        lambda b: (b.call("add", b.call("tanh", x_of(b)), b.call("exp", b.input("y", (2, 4)))),),
        "operator-variable",
        "`tanh`",
        "`exp`",
    ),
    (
        "rule r(x): tanh(x) => reshape(x, newshape = (x.shape[0] * 2,));",
        unknown_rank,
        "target-value",
        "known values",
        "rank",
    ),
    (
        "rule r(x): tanh(x) => reshape(x, newshape = (8,));",
        lambda b: (b.call("tanh", x_of(b)),),
        "target-type",
        "type",
        "shape [2, 4] against [8]",
    ),
    (
        "rule r(x, y): exp(x) + exp(y) => x;",
        lambda b: (b.call("add", (e := b.call("exp", x_of(b))), e),),
        "not-distinct",
        "no other part",
        "`exp` n1 is matched already",
    ),
    (
        "rule r(x) { exp(x), exp(x) => x, x }",
        lambda b: (b.call("exp", x_of(b)),),
        "no-further-output",
        "another user",
        "is used by `exp`",
    ),
    (
        'rule r(x: any(dtype = "float16")): tanh(x) => x;',
        unknown_dtype,
        "unknown-dtype",
        '"float16"',
        "not known",
    ),
    (
        "rule r(x) { chain c in 1.. from x { y = tanh(prev.y); where prev.y.ndim == 3; } c[-1].y => x }",
        lambda b: (b.call("tanh", x_of(b)),),
        "where",
        "this condition to be true",
        "prev.y.ndim = 2",
    ),
    (
        "rule r(x) { y = nn.relu(x); tanh(y) where users(y, x.op) == 1 => x }",
        lambda b: (b.call("tanh", b.call("nn.relu", x_of(b))),),
        "where",
        "this condition to be true",
        "users(y, no operator) = 0",
    ),
    (
        "@attach(rank = x.ndim, size = x.shape[9]) rule r(x): tanh(x) => exp(x);",
        lambda b: (b.call("tanh", x_of(b)),),
        "target-value",
        "a known value to attach",
        "index out of range",
    ),
]


@pytest.mark.parametrize(
    ("text", "make", "reason", "expected", "found"),
    REASONS,
    ids=[f"{k}-{case[2]}" for k, case in enumerate(REASONS)],
)
def test_reason(
    text: str, make: Callable[[Builder], tuple[int, ...]], reason: str, expected: str, found: str
) -> None:
    _, miss = nearest(text, make)
    assert miss.reason == reason, miss
    assert expected in miss.expected, miss
    assert any(part in miss.found for part in found.split("|")), miss
    assert 0 <= miss.matched < miss.of and miss.span.text


def test_the_place_is_that_of_the_pattern() -> None:
    _, miss = nearest(*REASONS[0][:2])
    assert miss.span.text == "nn.relu(x)" and str(miss.span) == "<rules>:1:17"
    _, miss = nearest(*REASONS[-1][:2])
    assert miss.span.text == "x.shape[9]"


def test_nearer_misses_come_first() -> None:
    build = Builder(RELAY)
    x = x_of(build)
    far = build.call("tanh", build.call("exp", x))
    near = build.call("tanh", build.call("nn.relu", build.call("exp", x)))
    graph = build.finish(far, near)
    rules = gslang.parse_rules("rule r(x): tanh(nn.relu(abs(x))) => x;")
    assert [m.start for m in rules["r"].why_not(graph)] == [near, far]
    assert [m.start for m in rules["r"].why_not(graph, far)] == [far]
    assert rules["r"].why_not(graph, x)[0].reason == "no-candidate" or {
        m.start for m in rules["r"].why_not(graph, x)
    } <= {near, far}


def test_the_graph_stays_as_it_is() -> None:
    build = Builder(RELAY)
    graph = build.finish(build.call("tanh", build.call("abs", x_of(build))))
    size = len(graph.op)
    gslang.parse_rules("rule r(x): tanh(abs(x)) => reshape(exp(x), newshape = (8,));")["r"].why_not(graph)
    assert len(graph.op) == size and not graph.users[graph.outputs[0]]


def disagreements(seeds: range) -> int:
    """Compares with the machine on random rules and graphs, at each start; how many starts matched."""
    matched = 0
    for seed in seeds:
        random, rule, text, checked_rule = checked(seed)
        plan = program_of(checked_rule)
        for _ in range(2):
            graph = as_graph(*random_graph(random, rule))
            size = len(graph.op)
            told = why_not(plan, graph, limit=1000)
            starts = [node for node in graph.nodes() if graph.op[node] in plan.starts]
            found = {node for node in starts if next(machine.matches(plan, graph, node), None) is not None}
            matching = {miss.start for miss in told if miss.reason in MATCHES}
            assert matching <= found and bool(matching) == bool(found), (seed, text)
            for node in starts:
                here = [miss.reason for miss in why_not(plan, graph, node, 1000) if miss.start == node]
                assert len(here) == 1 and (here[0] in MATCHES) == (node in found), (seed, text, node, here)
            assert len(graph.op) == size
            matched += len(found)
    return matched


@pytest.mark.parametrize("chunk", range(4))
def test_it_agrees_with_the_matcher(chunk: int) -> None:
    """A place is told to match exactly where the machine finds a match (that the target may not fit is told
    too).
    """
    assert disagreements(range(chunk * 60, chunk * 60 + 60)) > 20


def test_a_match_whose_target_does_not_fit_comes_before_what_fails_earlier() -> None:
    assert disagreements(range(1158, 1159)) > 0


@pytest.mark.long
def test_it_agrees_with_the_matcher_long() -> None:
    assert disagreements(range(1000, 4000)) > 1000


def test_the_first_outputs_own_operator() -> None:
    build = Builder(RELAY)
    wrong = build.call("exp", build.call("nn.relu", build.call("abs", x_of(build))))
    (miss,) = gslang.parse_rules("rule r(x): tanh(nn.relu(abs(x))) => x;")["r"].why_not(build.finish(wrong))
    assert (miss.reason, miss.start, miss.node, miss.matched) == ("operator", wrong, wrong, miss.of - 1)


def test_what_is_in_the_way_of_one_more_instance() -> None:
    text = (
        "rule r(x) { each b in 2.. { w = param; y = nn.dense(x, w); } *b.y => *[x for i in range(len(b))] }"
    )
    build = Builder(RELAY)
    x = x_of(build)
    outputs = (
        build.call("nn.dense", x, build.param("w", (3, 4))),
        build.call("nn.dense", x, build.input("v", (5, 4))),
    )
    miss = gslang.parse_rules(text)["r"].why_not(graph := build.finish(*outputs))[0]
    assert miss.reason == "too-few-instances" and graph.label(miss.node) == "v"
    assert (
        "there is 1; `nn.dense`" in miss.found
        and "is none: expected a node of kind `param`, found input v" in miss.found
    )


def test_the_node_that_a_condition_reads() -> None:
    """Of `and` the part that fails; where it reads one node, the miss is there."""
    build = Builder(RELAY)
    x, w = build.input("data", (1, 4)), build.input("kernel", (3, 4))
    graph = build.finish(build.call("tanh", build.call("nn.dense", x, w)))
    rules = gslang.parse_rules("""
rule r(x, w) { d = nn.dense(x, w); tanh(d) where x.ndim == 2 and w.kind == "param" => tanh(d) }
rule s(x, w) { d = nn.dense(x, w); tanh(d) where x.shape[0] == w.shape[0] => tanh(d) }
""")
    one, two = rules["r"].why_not(graph)[0], rules["s"].why_not(graph)[0]
    assert (graph.label(one.node), one.found) == (
        "kernel",
        'it is false: w.kind = "input"; w is input kernel',
    )
    assert two.node == two.start and two.found.endswith(
        "x.shape = (1, 4), w.shape = (3, 4); x is input data, w is input kernel"
    )


def test_an_instance_that_depends_on_another() -> None:
    """The path is told, of the only other instance that there could be."""
    text = "rule r(x) { each b in 2.. { w = any; y = nn.dense(x, w); } *b.y => *[x for i in range(len(b))] }"
    build = Builder(RELAY)
    x = build.input("x", (4, 4))
    first = build.call("nn.dense", x, build.param("w", (4, 4)))
    graph = build.finish(build.call("nn.dense", x, build.call("tanh", first)))
    misses = gslang.parse_rules(text)["r"].why_not(graph)
    assert {miss.reason for miss in misses} == {"too-few-instances"}
    path = " → ".join(map(graph.label, (first, *graph.users[first])))
    assert any(
        (
            "is none: expected inputs that do not depend on outputs, found a path leads from an output back "
            f"to an input: {path}"
        )
        in miss.found
        for miss in misses
    ), misses


@pytest.mark.parametrize(("text", "help"), [
    ("exp(nn.relu(x)) => x", "in the graph"),
    ("exp(x + x) => x", "in the graph: `keep (…)`"),
    ("exp(split(x).0) => x", "in the graph: `keep (…)`"),
])  # fmt: skip
def test_how_to_keep_a_node(text: str, help: str) -> None:
    build = Builder(RELAY)
    x = x_of(build)
    inner = {
        "n": build.call("nn.relu", x),
        "x": build.call("add", x, x),
        "s": build.call("split", x, indices_or_sections=2, axis=1),
    }[text[4]]
    shared = build.field(inner, 0) if text[4] == "s" else inner
    graph = build.finish(
        build.call("exp", shared), build.call("tanh", shared) if text[4] != "s" else build.field(inner, 1)
    )
    miss = gslang.parse_rules(f"rule r(x): {text};")["r"].why_not(graph)[0]
    assert miss.reason == "used-outside" and miss.help.endswith(help), miss


def test_shown_arrays_do_not_flood() -> None:
    graph, miss = nearest(
        "rule r(x, c: const(value = 1.0)): x * c => x;",
        lambda b: (b.call("multiply", x_of(b), b.const(np.ones((2, 4)))),),
    )
    assert miss.reason == "constant-value" and "an array [2, 4] of float32" in miss.found


def test_all_conditions_that_fail_are_told() -> None:
    """One of them being repaired is not enough: all are in the way."""
    text = """rule r(x) { a = tanh(x);
        a where x.ndim == 2, x.shape[0] == 3, x.shape[1] == 5 and a.dtype == "int8", x.shape[1] == 4,
          users(x) == 1 and x.ndim > 5
        => x }"""
    _, miss = nearest(text, lambda b: (b.call("tanh", x_of(b)),))
    assert (miss.matched, miss.of) == (6, 9)
    assert miss.span.text == "x.shape[0] == 3"
    assert miss.others == (
        '`x.shape[1] == 5 and a.dtype == "int8"` is false: x.shape = (2, 4), a.dtype = "float32"; '
        "x is input x, a is `tanh` n1",
        "`users(x) == 1 and x.ndim > 5` is false: x.ndim = 2; x is input x",
    )
