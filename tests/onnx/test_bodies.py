"""Rules inside bodies of `If`, `Loop` and `Scan` and inside local functions: valid models, equal numbers,
nothing reached out for.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import gslang
from gslang.base.diagnostics import InputError
from gslang.dialect.load import load_dialect
from gslang.evaluate.onnx_loops import loop_operators
from gslang.evaluate.run import evaluate
from gslang.graph.compare import differences
from tests.engine.readable import readable_only
from tests.onnx.models import branching, model, value

node = helper.make_node
RULES = "rule neg(x): Neg(Neg(x)) => x; rule zero(x): x + splat(0.0) => x; rule two(x): x + x => x * 2.0;"


def feeds_of(found: Any) -> dict[str, Any]:
    random = np.random.default_rng(0)
    feeds = {}
    for v in found.graph.input:
        shape = [d.dim_value for d in v.type.tensor_type.shape.dim]
        element = v.type.tensor_type.elem_type
        feeds[v.name] = (
            np.array(True) if element == TensorProto.BOOL
            else random.standard_normal(shape).astype(np.float32)
        )
    return feeds


def rewritten(found: Any, rules: str = RULES, **options: Any) -> tuple[Any, Any]:
    """The model after the rules, checked and compared in numbers, and the result."""
    graph = gslang.from_onnx(found)
    result = gslang.parse_rules(f"dialect onnx;\n{rules}").apply(graph, **options)
    assert not result.failures
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    assert gslang.to_onnx(graph) == found, "the graph that was given stays as it is"
    feeds = feeds_of(found)
    loops = list(loop_operators())
    expected = ReferenceEvaluator(found, new_ops=loops).run(None, feeds)
    for a, b in zip(ReferenceEvaluator(after, new_ops=loops).run(None, feeds), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    for a, b in zip(evaluate(result.graph, load_dialect("onnx"), feeds), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    names = [name for n in nodes_of(after.graph) for name in n.output if name]
    assert len(names) == len(set(names)), "names are new in the whole model"
    return after, result


def nodes_of(graph: Any) -> list[Any]:
    found = []
    for n in graph.node:
        found.append(n)
        for a in n.attribute:
            for inner in ([a.g] if a.HasField("g") else []) + list(a.graphs):
                found += nodes_of(inner)
    return found


def ops(graph: Any) -> list[str]:
    return [n.op_type for n in graph.node]


def branches(after: Any) -> dict[str, Any]:
    (branch,) = [n for n in after.graph.node if n.op_type == "If"]
    return {a.name: a.g for a in branch.attribute}


def branching_over(
    then: list[Any],
    other: list[Any],
    outer: list[Any],
    weights: dict[str, Any] | None = None,
    inner: list[Any] = [],
) -> Any:
    bodies = {
        "then_branch": helper.make_graph(then, "t", [], [value("th")], inner),
        "else_branch": helper.make_graph(other, "e", [], [value("el")]),
    }
    return model(
        [*outer, node("If", ["cond"], ["y"], "branch", **bodies)], [value("x"), value("cond", (), 9)],
        [value("y")], weights,
    )


def test_both_branches() -> None:
    found = branching_over(
        [node("Neg", ["c"], ["t1"]), node("Neg", ["t1"], ["t2"]), node("Abs", ["t2"], ["th"])],
        [node("Add", ["c", "c"], ["el"])], [node("Sigmoid", ["x"], ["c"])],
    )  # fmt: skip
    after, result = rewritten(found)
    assert ops(branches(after)["then_branch"]) == ["Abs"] and list(
        branches(after)["then_branch"].node[0].input
    ) == ["c"]
    assert ops(branches(after)["else_branch"]) == ["Mul"]
    assert result.applications == 2 and result.report()["rules"]["neg"]["applications"] == 1
    assert after.graph.node[1].name == "branch"


def test_the_switch() -> None:
    found = branching_over(
        [node("Add", ["c", "c"], ["th"])], [node("Abs", ["c"], ["el"])], [node("Sigmoid", ["x"], ["c"])]
    )
    after, result = rewritten(found, subgraphs=False)
    assert after == found and not result.applications


def test_outer_values_are_never_interior() -> None:
    """`Neg` outside and `Neg` inside are no pair: the body is a graph of its own."""
    found = branching_over(
        [node("Neg", ["c"], ["th"])], [node("Abs", ["c"], ["el"])], [node("Neg", ["x"], ["c"])]
    )
    after, result = rewritten(found)
    assert after == found and not result.applications


def test_outer_constants_are_constants_inside() -> None:
    found = branching_over(
        [node("Add", ["c", "zero"], ["t"]), node("Abs", ["t"], ["th"])], [node("Abs", ["c"], ["el"])],
        [node("Sigmoid", ["x"], ["c"])], {"zero": np.zeros((1, 3), np.float32)},
    )
    after, result = rewritten(found)
    assert (
        ops(branches(after)["then_branch"]) == ["Abs"] and result.applications == 1
        and not after.graph.initializer
    )


def test_a_large_outer_constant_is_one_inside_and_stays_outside() -> None:
    then = [
        node("MatMul", ["big", "c"], ["m"]), node("ReduceSum", ["m"], ["r"]), node("Mul", ["c", "r"], ["th"]),
    ]
    found = branching_over(
        then, [node("Abs", ["c"], ["el"])], [node("Sigmoid", ["x"], ["c"])],
        {"big": np.ones((2000, 2), np.float32)},
    )
    after, result = rewritten(
        found,
        "rule r(w: const, x): MatMul(w, x) where w.value[0][0] == 1.0 => MatMul(w, x * w.value[0][0]);",
        once=True,
    )
    then_after = branches(after)["then_branch"]
    assert result.applications == 1 and ops(then_after) == ["Mul", "MatMul", "ReduceSum", "Mul"]
    assert [t.dims for t in then_after.initializer] == [[]] and [t.name for t in after.graph.initializer] == [
        "big"
    ]


def test_what_a_body_reads_no_longer_goes() -> None:
    found = branching_over(
        [node("Mul", ["c", "zero"], ["t"]), node("Add", ["c", "t"], ["th"])], [node("Abs", ["c"], ["el"])],
        [node("Sigmoid", ["x"], ["c"]), node("Identity", ["z"], ["zero"])],
        {"z": np.zeros((2, 3), np.float32)},
    )
    result = gslang.parse_rules("dialect onnx;\nrule r(x, z): x + x * z => x * 1.0;").apply(
        gslang.from_onnx(found)
    )
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    assert ops(after.graph) == ["Sigmoid", "If"] and not after.graph.initializer


def test_then_the_graph_outside_is_looked_at_again() -> None:
    """A branch that no longer reads the product makes that private: the outer pair matches now."""
    outer = [node("Neg", ["x"], ["n"]), node("Neg", ["n"], ["c"])]
    found = branching_over(
        [
            node("Add", ["n", "n"], ["a"]), node("Sub", ["a", "n"], ["b"]), node("Sub", ["b", "n"], ["d"]),
            node("Add", ["c", "d"], ["th"]),
        ],
        [node("Abs", ["c"], ["el"])], outer,
    )
    rules = "rule neg(x): Neg(Neg(x)) => x; rule gone(x, n): x + (n + n - n - n) => Identity(x);"
    after, _ = rewritten(found, rules)
    assert ops(after.graph) == ["If"] and list(branches(after)["else_branch"].node[0].input) == ["x"]


def test_an_output_that_becomes_an_outer_value() -> None:
    found = branching_over(
        [node("Neg", ["c"], ["t"]), node("Neg", ["t"], ["th"])], [node("Abs", ["c"], ["el"])],
        [node("Sigmoid", ["x"], ["c"])],
    )
    after, _ = rewritten(found)
    then = branches(after)["then_branch"]
    assert ops(then) == ["Identity"] and [v.name for v in then.output] == ["th"]


def loop(body: Any) -> Any:
    nodes = [node("Identity", ["x"], ["c"]), node("Loop", ["n", "yes", "x"], ["last", "all"], body=body)]
    return model(
        nodes, [value("x")], [value("last"), value("all", (3, 2, 3))],
        {"n": np.array(3), "yes": np.array(True)},
    )


def loop_body(nodes: list[Any]) -> Any:
    return helper.make_graph(
        [*nodes, node("Identity", ["go"], ["on"])], "body",
        [value("i", (), 7), value("go", (), 9), value("s")], [value("on", (), 9), value("t"), value("out")],
    )


def test_a_loop() -> None:
    after, _ = rewritten(loop(loop_body([
        node("Add", ["s", "s"], ["d"]), node("Add", ["d", "c"], ["t"]), node("Neg", ["t"], ["u"]),
        node("Neg", ["u"], ["out"]),
    ])))
    (body,) = [a.g for n in after.graph.node for a in n.attribute if a.HasField("g")]
    assert sorted(ops(body)) == ["Add", "Identity", "Identity", "Mul"]


def test_a_scan() -> None:
    body = helper.make_graph(
        [
            node("Add", ["s", "v"], ["t"]), node("Neg", ["t"], ["u"]), node("Neg", ["u"], ["w"]),
            node("Mul", ["w", "c"], ["out"]),
        ],
        "body", [value("s", (3,)), value("v", (3,))], [value("t", (3,)), value("out", (3,))],
    )
    nodes = [
        node("Sigmoid", ["b"], ["c"]),
        node("Scan", ["b", "x"], ["last", "all"], body=body, num_scan_inputs=1),
    ]
    found = model(nodes, [value("x"), value("b", (3,))], [value("last", (3,)), value("all", (2, 3))])
    after, _ = rewritten(found)
    (inner,) = [a.g for a in after.graph.node[1].attribute if a.name == "body"]
    assert ops(inner) == ["Add", "Mul"]


def test_bodies_in_bodies() -> None:
    inner = {
        "then_branch": helper.make_graph(
            [node("Neg", ["s"], ["p"]), node("Neg", ["p"], ["q"]), node("Abs", ["q"], ["th"])], "t", [],
            [value("th")],
        ),
        "else_branch": helper.make_graph([node("Add", ["c", "c"], ["el"])], "e", [], [value("el")]),
    }
    found = loop(loop_body([node("If", ["go"], ["t"], **inner), node("Add", ["t", "t"], ["out"])]))
    after, result = rewritten(found)
    (body,) = [a.g for n in after.graph.node for a in n.attribute if a.HasField("g")]
    assert result.applications == 3 and sorted(ops(body)) == ["Identity", "If", "Mul"]


def test_new_operator_sets_reach_the_model() -> None:
    found = branching_over(
        [node("Relu", ["c"], ["th"])], [node("Abs", ["c"], ["el"])], [node("Sigmoid", ["x"], ["c"])]
    )
    result = gslang.parse_rules("dialect onnx;\nrule r(x): Relu(x) => com.microsoft.QuickGelu(x);").apply(
        gslang.from_onnx(found)
    )
    after = gslang.to_onnx(result.graph)
    assert {e.domain for e in after.opset_import} == {"", "com.microsoft"} and branches(after)[
        "then_branch"
    ].node[0].domain == "com.microsoft"
    onnx.checker.check_model(after)


def test_passes_fold_inside() -> None:
    found = branching_over(
        [node("Add", ["w", "w"], ["t"]), node("Mul", ["c", "t"], ["th"])], [node("Abs", ["c"], ["el"])],
        [node("Sigmoid", ["x"], ["c"])], {"w": np.ones((1, 3), np.float32)},
    )
    after, _ = rewritten(found, "rule r(x): Neg(Neg(x)) => x;", fold=True)
    then = branches(after)["then_branch"]
    assert ops(then) == ["Mul"] and len(then.initializer) == 1 and not after.graph.initializer


def test_provenance_and_limits() -> None:
    found = branching_over(
        [node("Add", ["c", "c"], ["th"])], [node("Add", ["c", "c"], ["el"])], [node("Add", ["x", "x"], ["c"])]
    )
    rules = gslang.parse_rules(f"dialect onnx;\n{RULES}")
    assert rules.apply(gslang.from_onnx(found), stop_after=2).applications == 2
    assert rules.apply(gslang.from_onnx(found)).applications == 3
    seen: list[tuple[str, int]] = []
    rules.apply(
        gslang.from_onnx(found), watch=lambda path, graph: lambda number, what: seen.append((path, number))
    )
    assert seen == [("", 1), ("y/else_branch", 2), ("y/then_branch", 3)], (
        "applications are numbered over the whole model"
    )


# ── functions ───────────────────────────────────────────────────────────────────────────────────────────────


def with_function(nodes: list[Any], attributes: list[str] = [], **given: Any) -> Any:
    found = model([node("F", ["x"], ["y"], domain="com.me", **given)], [value("x")], [value("y")])
    found.opset_import.append(helper.make_opsetid("com.me", 1))
    found.functions.append(
        helper.make_function("com.me", "F", ["a"], ["b"], nodes, [helper.make_opsetid("", 17)], attributes)
    )
    return found


def test_a_function() -> None:
    found = with_function(
        [node("Neg", ["a"], ["p"]), node("Neg", ["p"], ["q"]), node("Add", ["q", "q"], ["b"])]
    )
    after, result = rewritten(found)
    assert [n.op_type for n in after.functions[0].node] == ["Constant", "Mul"] and result.applications == 2


def test_attributes_that_the_caller_gives_are_unknown() -> None:
    leaky = node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    found = with_function([leaky], ["slope"], slope=0.5)
    result = gslang.parse_rules(
        "dialect onnx;\nrule r(x) { l = LeakyRelu(x); l where l.alpha != 0.3 => Relu(x) }"
    ).apply(gslang.from_onnx(found))
    assert not result.applications and gslang.to_onnx(result.graph) == found


# ── depth ───────────────────────────────────────────────────────────────────────────────────────────────────


def nested(depth: int) -> Any:
    then = helper.make_graph(
        [node("Neg", ["c"], ["p0"]), node("Neg", ["p0"], ["q0"]), node("Abs", ["q0"], ["th0"])], "t0", [],
        [value("th0")],
    )
    for k in range(1, depth):
        other = helper.make_graph([node("Abs", ["c"], [f"el{k}"])], f"e{k}", [], [value(f"el{k}")])
        branch = node("If", ["cond"], [f"th{k}"], then_branch=then, else_branch=other)
        then = onnx.GraphProto(name=f"t{k}", node=[branch], output=[value(f"th{k}")])
    other = helper.make_graph([node("Abs", ["c"], ["el"])], "e", [], [value("el")])
    found = model([node("Sigmoid", ["x"], ["c"])], [value("x"), value("cond", (), 9)], [value("y")])
    found.graph.node.append(node("If", ["cond"], ["y"], then_branch=then, else_branch=other))
    return found


def test_as_deep_as_files_go(tmp_path: Path) -> None:
    depth = 24
    onnx.save(nested(depth), tmp_path / "m.onnx")
    result = gslang.parse_rules(f"dialect onnx;\n{RULES}").apply(gslang.read(tmp_path / "m.onnx"))
    assert result.applications == 1
    gslang.write(result.graph, tmp_path / "o.onnx")
    assert ops_at(onnx.load(tmp_path / "o.onnx").graph, depth) == ["Abs"]


def ops_at(graph: Any, depth: int) -> list[str]:
    for _ in range(depth):
        graph = next(
            a.g for n in graph.node if n.op_type == "If" for a in n.attribute if a.name == "then_branch"
        )
    return ops(graph)


@pytest.mark.parametrize("depth", [80, 2000])
def test_deeper_than_files_go(depth: int) -> None:
    """In memory, built from outside to inside: messages cannot be copied that deep."""
    found = model([node("Sigmoid", ["x"], ["c"])], [value("x"), value("cond", (), 9)], [value("y")])
    graph = found.graph
    for k in range(depth):
        branch = graph.node.add(op_type="If", output=[f"y{k}" if k else "y"])
        branch.input.append("cond")
        branch.attribute.add(name="else_branch", type=5).g.name = "e"
        graph = branch.attribute.add(name="then_branch", type=5).g
        graph.output.add(name=f"y{k + 1}")
    graph.node.add(op_type="Neg", input=["c"], output=[f"y{depth}"])
    with pytest.raises(InputError, match="nested more than 50 deep"):
        gslang.from_onnx(found)


def test_two_thousand_levels_in_a_file(tmp_path: Path) -> None:
    """Made of bytes: no library writes such a file."""

    def field(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2]) + varint(len(data)) + data

    def varint(number: int) -> bytes:
        found = bytearray()
        while True:
            found.append(number & 127 | (128 if number > 127 else 0))
            number >>= 7
            if not number:
                return bytes(found)

    graph = field(2, b"deep")
    for _ in range(2000):
        attribute = field(1, b"then_branch") + b"\xa0\x01\x05" + field(6, graph)
        graph = field(2, b"deep") + field(1, field(4, b"If") + field(2, b"y") + field(5, attribute))
    (tmp_path / "m.onnx").write_bytes(b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11"))
    with pytest.raises(InputError, match="not an ONNX model"):
        gslang.read(tmp_path / "m.onnx")


def test_the_command_line(tmp_path: Path) -> None:
    from gslang.cli.main import main

    onnx.save(branching(), tmp_path / "m.onnx")
    (tmp_path / "r.gsl").write_text("dialect onnx;\nrule r(x): Relu(x) => Max(x, 0.0);\n")
    command = [str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "-o", str(tmp_path / "o.onnx")]
    assert main([*command, "--check-numbers"]) == 0
    assert ops(branches(onnx.load(tmp_path / "o.onnx"))["then_branch"]) == ["Max"]
    assert main([*command, "--no-subgraphs"]) == 0
    assert ops(branches(onnx.load(tmp_path / "o.onnx"))["then_branch"]) == ["Relu"]


BRANCHES = ("then_branch = tb () => (float[4,6] t) {{ t = Sub(x, k) }}",
            "else_branch = eb () => (float[4,6] e) {{ e = {} }}")  # fmt: skip
OTHER_BRANCH = {"the other way round": "Sub(k, x)", "of one value": "Neg(k)"}


def written_branches(order: int, other: str) -> Any:
    """A model of an `If` with two branches, stated in either order."""
    attributes = ", ".join(BRANCHES[::order]).format(OTHER_BRANCH[other])
    return onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[4,6] x, bool c, float[4,6] k) => (float[4,6] z) '
        f"{{ z = If(c) <{attributes}> }}"
    )


@pytest.mark.usefixtures("code_at_once")
@pytest.mark.parametrize("other", OTHER_BRANCH)
@pytest.mark.parametrize("order", [1, -1])
def test_branches_mean_the_same_in_a_new_call(order: int, other: str) -> None:
    found = written_branches(order, other)
    again = "then_branch = y.then_branch, else_branch = y.else_branch"
    exchanged = "then_branch = y.else_branch, else_branch = y.then_branch"
    for target in (f"If(c, a, b, {again})", "If(c, a, b, y.*)", f"If(Not(c), a, b, {exchanged})"):
        rule = f"@once rule r(c, a, b) {{ y = If(c, a, b); y.0 => {target}.0 }}"
        for engine in (nullcontext, readable_only):
            with engine():
                _, result = rewritten(found, rule)
            assert result.applications == 1


def test_a_dropped_branch_changes_no_operands() -> None:
    both = "If(c, a, b, then_branch = y.then_branch, else_branch = y.then_branch)"
    for order in (1, -1):
        found = written_branches(order, "of one value")
        after = gslang.to_onnx(
            gslang.parse_rules(f"dialect onnx; @once rule r(c, a, b) {{ y = If(c, a, b); y.0 => {both}.0 }}")
            .apply(gslang.from_onnx(found)).graph
        )
        onnx.checker.check_model(after, full_check=True)
        feeds = feeds_of(found)
        for condition in (False, True):
            feeds["c"] = np.array(condition)
            (value,) = ReferenceEvaluator(after).run(None, feeds)
            np.testing.assert_array_equal(value, feeds["x"] - feeds["k"])


def test_the_order_of_branches_makes_no_difference() -> None:
    either = [gslang.from_onnx(written_branches(order, "the other way round")) for order in (1, -1)]
    assert not differences(*either)
