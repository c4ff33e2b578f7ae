"""`then_branch = Relu(x)`: patterns on what the bodies of `If`, `Loop` and `Scan` compute."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import permutations
from random import Random
from typing import Union

import numpy
import pytest

pytest.importorskip("onnx")

from onnx.parser import parse_model

import gslang
from gslang import api
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.graph.graph import Graph
from gslang.lint.run_lints import lint_program
from tests.engine.readable import readable_only

IF = """<ir_version: 9, opset_import: ["": %(opset)d]>
agraph (float[2, 3] x, float[2, 3] w, bool c) => (float[2, 3] z)
{
    y = If (c) <
        then_branch = g1 () => (float[2, 3] t) { %(then)s },
        else_branch = g2 () => (float[2, 3] e) { %(other)s }
    >
    z = Abs(y)
}"""
LOOP = """<ir_version: 9, opset_import: ["": 18]>
agraph (float[2] x, int64 n, bool go) => (float[2] last)
{
    last = Loop (n, go, x) <
        body = b (int64 k, bool on, float[2] now) => (bool more, float[2] next) { %s }
    >
}"""


def branches(then: str, other: str, opset: int = 18) -> Graph:
    return gslang.from_onnx(parse_model(IF % {"then": then, "other": other, "opset": opset}))


def matches(source: str, graph: Graph, readable: bool = False) -> int:
    rules = api.parse_rules(f"dialect onnx; rule r(c, x, w) {{ y = {source}; y => w }}")
    with readable_only() if readable else nullcontext():
        return len(list(rules["r"].matches(graph)))


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(
    ("then", "fits", "differs"),
    [
        ("t = Add(x, w)", "Add(x, w)", "Sub(x, w)"),
        ("t = Add(x, w)", "w + x", "x + x"),
        ("t = Sub(x, w)", "x - w", "w - x"),
        ("s = Softmax<axis = 0>(x)  t = Mul(s, w)", "Softmax(x, axis = 0) * w", "Softmax(x, axis = 1) * w"),
        ("s = Softmax(x)  t = Mul(s, w)", "Softmax(_, axis = -1) * w", "Softmax(_, axis = (a := 2)) * w"),
        ("k = Constant<value = float {2.0}>()  s = Mul(x, k)  t = Add(s, w)", "2 * x + w", "3 * x + w"),
        ("k = Constant<value = float {2.0}>()  s = Mul(x, k)  t = Add(s, w)", "const() * x + w", "w * x + w"),
        ("s = Identity(x)  r = Add(s, w)  t = Identity(r)", "x + w", "x + Identity(w)"),
        ("a, b = Split<axis = 0, num_outputs = 2>(x)  s = Concat<axis = 0>(b, a)  t = Add(s, w)",
         "Concat(Split(x, axis = 0, num_outputs = 2)[1], _, axis = 0) + w",
         "Concat(Split(x, axis = 0, num_outputs = 2)[0], _, axis = 0) + w"),
        ("k = Constant<value = float {0.0}>()  s = Clip(x, k)  t = Add(s, w)", "Clip(x, 0) + w",
         "Clip(x, 0, _) + w"),
        ("k = Constant<value = float {0.0}>()  s = Clip(x, , k)  t = Add(s, w)", "Clip(x, max = 0) + w",
         "Clip(x, 0) + w"),
    ],
)  # fmt: skip
def test_what_a_branch_computes(then: str, fits: str, differs: str, readable: bool) -> None:
    graph = branches(then, "e = Exp(x)")
    assert matches(f"If(c, x, w, then_branch = {fits}, else_branch = Exp(x)).0", graph, readable) == 1
    assert matches(f"If(c, x, w, then_branch = {differs}, else_branch = Exp(x)).0", graph, readable) == 0
    assert matches(f"If(c, x, w, then_branch = {fits}, else_branch = Exp(_ + x)).0", graph, readable) == 0


@pytest.mark.parametrize("readable", [False, True])
def test_the_order_in_which_a_model_reads_values_does_not_matter(readable: bool) -> None:
    source = "If(c, x, w, then_branch = Relu(x), else_branch = Neg(w)).0"
    assert matches(source, branches("t = Relu(x)", "e = Neg(w)"), readable) == 1
    assert matches(source, branches("t = Relu(w)", "e = Neg(x)"), readable) == 1
    assert matches(source, branches("t = Neg(w)", "e = Relu(x)"), readable) == 0


def test_operators_are_those_of_the_latest_version() -> None:
    graph = branches("s = Softmax(x)  t = Mul(s, w)", "e = Exp(x)", opset=11)
    source = "If(c, x, w, then_branch = Softmax(x, axis = {}) * w, else_branch = _).0"
    assert matches(source.format(-1), graph) == 0  # it was flattened from axis 1 on in this version


@pytest.mark.parametrize("readable", [False, True])
def test_a_loop_that_changes_nothing_is_its_start(readable: bool) -> None:
    rules = api.parse_rules(
        "dialect onnx; rule r(n, go, x) { y = Loop(n, go, x, body = (input[1], input[2])); y.0 => x }"
    )
    for body, left in [
        ("more = Identity(on)  next = Identity(now)", []),
        ("more = Identity(on)  next = Tanh(now)", ["Loop"]),
        ("more = Not(on)  next = Identity(now)", ["Loop"]),
        ("more = Identity(on)  next = Identity(x)", ["Loop"]),
    ]:
        graph = gslang.from_onnx(parse_model(LOOP % body))
        with readable_only() if readable else nullcontext():
            result = rules.apply(graph)
        assert [op for op in result.graph.op if op == "Loop"] == left


@pytest.mark.parametrize("readable", [False, True])
def test_values_that_only_another_body_reads_are_found_too(readable: bool) -> None:
    graph = branches("t = Sub(w, x)", "e = Relu(w)")
    assert matches("If(c, x, w, then_branch = _, else_branch = Relu(x)).0", graph, readable) == 1
    assert matches("If(c, x, w, then_branch = _, else_branch = Relu(w)).0", graph, readable) == 1
    assert matches("If(c, x, then_branch = _, else_branch = Relu(x)).0 | w", graph, readable) == 0


@pytest.mark.parametrize("readable", [False, True])
def test_alternatives_in_a_body(readable: bool) -> None:
    source = "If(c, x, w, then_branch = Relu(x) | Neg(x), else_branch = Exp(w | Abs(w))).0"
    found = [
        matches(source, branches(then, other), readable)
        for then in ("t = Relu(x)", "t = Neg(x)", "t = Abs(x)")
        for other in ("e = Exp(w)", "a = Abs(w)  e = Exp(a)", "e = Abs(w)")
    ]
    assert found == [1, 1, 0, 1, 1, 0, 0, 0, 0]
    optional = "If(c, x, w, then_branch = Neg(Relu?(x)), else_branch = w).0"
    bodies = ("t = Neg(x)", "r = Relu(x)  t = Neg(r)", "r = Abs(x)  t = Neg(r)")
    assert [matches(optional, branches(then, "e = Identity(w)"), readable) for then in bodies] == [1, 1, 0]


@pytest.mark.parametrize("readable", [False, True])
def test_an_alternative_may_be_an_identity(readable: bool) -> None:
    source = "If(c, x, w, then_branch = Identity(x) | Neg(x), else_branch = w).0"
    assert matches(source, branches("t = Identity(x)", "e = Identity(w)"), readable) == 1
    assert matches(source, branches("t = Neg(x)", "e = Identity(w)"), readable) == 1


@pytest.mark.parametrize("readable", [False, True])
def test_attributes_in_bodies_can_be_captured(readable: bool) -> None:
    rules = api.parse_rules(
        "dialect onnx; rule r(c, x, w) {"
        "  y = If(c, x, w, then_branch = Softmax(x, axis = (a := _)),"
        "         else_branch = Softmax(w, axis = (b := _)));"
        "  y.0 where a == b => Softmax(Where(c, x, w), axis = a) }"
    )
    for then, other, axis in [
        ("t = Softmax<axis = 0>(x)", "e = Softmax<axis = 0>(w)", 0),
        ("t = Softmax<axis = 1>(w)", "e = Softmax<axis = 1>(x)", 1),
        ("t = Softmax<axis = 1>(w)", "e = Softmax<axis = 0>(x)", None),
    ]:
        with readable_only() if readable else nullcontext():
            graph = rules.apply(branches(then, other)).graph
        found = [graph.attrs[n]["axis"] for n in graph.nodes() if graph.op[n] == "Softmax"]
        assert found == ([] if axis is None else [axis])


def test_models_compute_the_same_without_the_bodies() -> None:
    from onnx.reference import ReferenceEvaluator

    rules = api.parse_rules(
        "dialect onnx;"
        "rule same(c, x) for F in Relu, Neg { If(c, x, then_branch = F(x), else_branch = F(x)).0 => F(x) }"
        "rule select(c, a, b): If(c, a, b, then_branch = a, else_branch = Exp(b)).0 => Where(c, a, Exp(b));"
    )
    rng = numpy.random.default_rng(0)
    for then, other in [("t = Neg(x)", "e = Neg(x)"), ("t = Identity(w)", "e = Exp(x)")]:
        before = parse_model(IF % {"then": then, "other": other, "opset": 18})
        result = rules.apply(gslang.from_onnx(before))
        assert result.applications == 1 and "If" not in result.graph.op
        for condition in (False, True):
            given = {name: rng.standard_normal((2, 3)).astype("float32") for name in "xw"}
            given["c"] = numpy.array(condition)
            after = gslang.to_onnx(result.graph)
            numpy.testing.assert_allclose(
                ReferenceEvaluator(after).run(None, given)[0], ReferenceEvaluator(before).run(None, given)[0]
            )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("If(c, x, then_branch = Relu(w), else_branch = _).0", "reads `w`, which is not an operand"),
        ("If(c, x, then_branch = Reluu(x), else_branch = _).0", "did you mean `Relu`"),
        ("If(c, x, then_branch = Relu(x, w), else_branch = _).0", "takes 1 operand"),
        ("If(c, x, then_branch = Softmax(x, axs = 1), else_branch = _).0", "did you mean `axis`"),
        ("If(c, x, then_branch = any(), else_branch = _).0", "`any` is a kind of input"),
        ("If(c, x, then_branch = keep Relu(x), else_branch = _).0", "a body is described by calls"),
        ('If(c, x, then_branch = "x", else_branch = _).0', "expected a tensor"),
        ("If(c, x, then_branch = Dropout(x), else_branch = _).0", "project one: `Dropout"),
        ("If(c, x, then_branch = If(c, then_branch = x).0, else_branch = _).0", "a body inside a body"),
        ("If(c, x, then_branch = f(x), else_branch = _).0", "write a rule for each operator"),
        ("If(c, x, then_branch = twice(x), else_branch = _).0", "write its calls instead"),
        ("If(c, c, x, w, x, w, x, then_branch = Relu(x), else_branch = _).0", "may read at most 4 values"),
        ("f(Relu(x)); z = If(c, then_branch = Relu(x)).0", "a target cannot create bodies"),
    ],
)
def test_mistakes_are_told(source: str, message: str) -> None:
    source, _, target = source.partition("; z = ")
    rule = f"rule r(c, x, w, f: op(elementwise, unary)) {{ {source} => {target or 'w'} }}"
    with pytest.raises(api.RuleError, match=message):
        api.parse_rules(f"dialect onnx; fn twice(x) = x + x; {rule}")


def test_why_not_says_what_a_body_returns() -> None:
    rules = api.parse_rules(
        "dialect onnx; rule r(c, x, w) { If(c, x, w, then_branch = Relu(x), else_branch = w).0 => w }"
    )
    misses = rules["r"].why_not(branches("s = Add(x, w)  t = Relu(s)", "e = Identity(w)"))
    assert any("`then_branch = Relu(x)`" in str(m) and "returns Relu(Add(x, w))" in str(m) for m in misses)
    misses = rules["r"].why_not(branches('t = Gelu<approximate = "tanh">(x)', "e = Identity(w)", 20))
    assert any('returns Gelu(x, approximate = "tanh")' in str(m) for m in misses)


def test_no_test_is_missed_where_none_can_be_written() -> None:
    text = (
        "dialect onnx;\n## Nothing is done.\n"
        "rule idle(n, go, x): Loop(n, go, x, body = (input[1], input[2])).0 => x;\n"
    )
    source = Source("rules.gsl", text)
    program = check_source(source)
    assert program.ok and lint_program(source, program, frozenset({"L0109"})) == []


# ── a second reading of bodies, of which nothing is the engine's ────────────────────────────────────────────

Tree = Union[str, tuple[str, "Tree"], tuple[str, "Tree", "Tree"]]


def random_tree(rng: Random, depth: int) -> Tree:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice("xxxwww23")
    if rng.random() < 0.4:
        return (rng.choice(["Neg", "Relu"]), random_tree(rng, depth - 1))
    return (
        rng.choice(["Add", "Sub"]),
        random_tree(rng, depth - 1),
        random_tree(rng, depth - 1),
    )


def changed(rng: Random, tree: Tree) -> Tree:
    """A description of the tree: operands of sums swapped, parts left open, one of two, or something else."""
    if rng.random() < 0.05:
        return random_tree(rng, 1)
    if rng.random() < 0.05:
        return "_"
    if rng.random() < 0.1:
        either = [changed(rng, tree), random_tree(rng, 1)]
        rng.shuffle(either)
        return ("|", *either)
    if isinstance(tree, str):
        return "const()" if tree in "23" and rng.random() < 0.3 else tree
    below = [changed(rng, part) for part in tree[1:]]
    if tree[0] == "Add" and rng.random() < 0.5:
        below.reverse()
    return (tree[0], *below)  # type: ignore[return-value]


def renamed(tree: Tree, names: dict[str, str]) -> Tree:
    if isinstance(tree, str):
        return names.get(tree, tree)
    return (tree[0], *[renamed(part, names) for part in tree[1:]])  # type: ignore[return-value]


def meaning(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    below = [meaning(part) for part in tree[1:]]
    return f"{tree[0]}({', '.join(sorted(below) if tree[0] == 'Add' else below)})"


def fits(stated: Tree, tree: Tree) -> bool:
    """Whether a description is one of a tree."""
    if isinstance(stated, str):
        return stated == "_" or (tree in ("2", "3") if stated == "const()" else stated == tree)
    if stated[0] == "|":
        return any(fits(part, tree) for part in stated[1:])
    orders = [tree[1:], tree[:0:-1]] if stated[0] == "Add" else [tree[1:]]
    return stated[0] == tree[0] and any(all(map(fits, stated[1:], order)) for order in orders)


def as_body(rng: Random, tree: Tree, result: str) -> str:
    """The statements of a body: equal parts at times once, in a random order of operands, with identities."""
    lines: list[str] = []
    made: dict[str, str] = {}

    def name_of(part: Tree, wanted: str | None = None) -> str:
        if isinstance(part, str) and part not in "23" and wanted is None:
            return part
        if wanted is None and meaning(part) in made and rng.random() < 0.5:
            return made[meaning(part)]
        if isinstance(part, str):
            text = f"Constant<value = float {{{part}.0}}>()" if part in "23" else f"Identity({part})"
        else:
            order = list(enumerate(part[1:]))
            rng.shuffle(order)
            below = dict(sorted([(k, name_of(operand)) for k, operand in order]))
            text = f"{part[0]}({', '.join(below[k] for k in sorted(below))})"
        name = wanted or f"{result}{len(lines)}"
        if rng.random() < 0.2:
            lines.append(f"{name}i = {text}")
            text = f"Identity({name}i)"
        lines.append(f"{name} = {text}")
        made[meaning(part)] = name
        return name

    name_of(tree, result)
    return "  ".join(lines)


def as_pattern(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    parts = [as_pattern(part) for part in tree[1:]]
    return f"({' | '.join(parts)})" if tree[0] == "|" else f"{tree[0]}({', '.join(parts)})"


def leaves(tree: Tree) -> set[str]:
    return {tree} - {"2", "3"} if isinstance(tree, str) else set().union(*map(leaves, tree[1:]))


def test_random_bodies_agree_with_a_second_reading() -> None:
    found = []
    for seed in range(160):
        rng = Random(seed)
        bodies = [random_tree(rng, 2), random_tree(rng, 2)]
        if leaves(bodies[0]) | leaves(bodies[1]) != {"x", "w"}:
            continue
        names = dict(zip("xw", rng.sample("xw", 2)))
        stated = [changed(rng, renamed(body, names)) for body in bodies]
        graph = branches(as_body(rng, bodies[0], "t"), as_body(rng, bodies[1], "e"))
        expected = any(
            all(fits(renamed(a, dict(zip("xw", order))), b) for a, b in zip(stated, bodies))
            for order in permutations("xw")
        )
        then, other = map(as_pattern, stated)
        if "_" in (then, other):
            continue  # no description: then the order of operands counts
        source = f"If(c, x, w, then_branch = {then}, else_branch = {other}).0"
        for readable in (False, True):
            assert matches(source, graph, readable) == expected, (seed, source)
        found.append(expected)
    assert 20 < sum(found) < len(found) - 10


# ── in chains ───────────────────────────────────────────────────────────────────────────────────────────────


def choices_in_a_row(*bodies: tuple[str, str]) -> Graph:
    """Ifs that each read the result of the one before; `v` in a body stands for that, `w` is an input."""
    lines = [
        f"r{k + 1} = If (c) <then_branch = g{k} () => (float[2] t) {{ {then.replace('v', f'r{k}')} }}, "
        f"else_branch = h{k} () => (float[2] e) {{ {other.replace('v', f'r{k}')} }}>"
        for k, (then, other) in enumerate(bodies)
    ]
    return gslang.from_onnx(parse_model(
        '<ir_version: 9, opset_import: ["": 18]>\n'
        f"agraph (float[2] x, float[2] w, bool c) => (float[2] z) {{\nr0 = Neg(x)\n{chr(10).join(lines)}\n"
        f"z = Abs(r{len(bodies)})\n}}"
    ))  # fmt: skip


@pytest.mark.parametrize("readable", [False, True])
def test_a_body_reads_the_previous_instance(readable: bool) -> None:
    rules = api.parse_rules(
        "dialect onnx; rule r(c, x) { chain i in 1.. from x { y = If(c, prev.y, then_branch = Relu(prev.y), "
        "else_branch = prev.y).0; } i[-1].y => Relu(x) }"
    )
    fits, other = ("t = Relu(v)", "e = Identity(v)"), ("t = Relu(v)", "e = Neg(v)")
    reads_more = ("t = Relu(w)", "e = Identity(v)")
    for bodies, left, relus in [
        ((fits,), 0, 1), ((fits, fits, fits), 0, 1), ((fits, other, fits), 1, 2), ((other,), 1, 0),
        ((reads_more, fits), 1, 1),
    ]:  # fmt: skip
        with readable_only() if readable else nullcontext():
            result = rules.apply(choices_in_a_row(*bodies))
        assert [result.graph.op.count(name) for name in ("If", "Relu")] == [left, relus]


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(
    ("then", "other"), [("t = Sub(x, w)", "e = Mul(w, w)"), ("t = Sub(w, x)", "e = Mul(x, x)")]
)
def test_bodies_that_are_passed_on_read_what_they_read(then: str, other: str, readable: bool) -> None:
    """A described call matches its outer values in any order; the new call has them in that order, too."""
    from onnx.reference import ReferenceEvaluator

    before = parse_model(IF % {"then": then, "other": other, "opset": 18})
    rules = api.parse_rules(
        "dialect onnx; rule r(c, a, b) {"
        " y = If(c, a, b, then_branch = Sub(a, b), else_branch = Mul(b, b)); y.0 where c.kind != \"call\""
        " => If(Not(c), a, b, then_branch = y.else_branch, else_branch = y.then_branch).0 }"
    )
    with readable_only() if readable else nullcontext():
        result = rules.apply(gslang.from_onnx(before))
    assert result.applications == 1
    given = {"x": numpy.arange(6, dtype="float32").reshape(2, 3), "w": numpy.full((2, 3), 2, "float32")}
    for condition in (False, True):
        given["c"] = numpy.array(condition)
        after = ReferenceEvaluator(gslang.to_onnx(result.graph)).run(None, given)
        numpy.testing.assert_array_equal(after[0], ReferenceEvaluator(before).run(None, given)[0])
