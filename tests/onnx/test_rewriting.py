"""Rules over ONNX models: names, versions, bodies, numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.evaluate.run import evaluate
from tests.onnx.models import branching, model, value


def node(op: str, inputs: list[str], outputs: list[str], **attrs: Any) -> Any:
    return helper.make_node(op, inputs, outputs, **attrs)


def rewritten(rules: str, found: Any) -> Any:
    """The model after the rules, valid, with at least one application; and equal numbers."""
    result = gslang.parse_rules(f"dialect onnx;\n{rules}").apply(gslang.from_onnx(found))
    assert result.applications
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    random = np.random.default_rng(0)
    feeds = {}
    for v in found.graph.input:
        shape = [d.dim_value or 2 for d in v.type.tensor_type.shape.dim]
        feeds[v.name] = (
            np.array(True) if v.type.tensor_type.elem_type == 9
            else random.standard_normal(shape).astype(np.float32)
        )
    for a, b in zip(
        ReferenceEvaluator(found).run(None, feeds), ReferenceEvaluator(after).run(None, feeds), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return after


def ops(found: Any) -> list[str]:
    return [n.op_type for n in found.graph.node]


def test_a_replaced_output_keeps_its_name() -> None:
    found = model(
        [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["y"])], [value("x")],
        [value("y", (2, 4))], {"w": np.ones((3, 4), np.float32), "b": np.ones(4, np.float32)},
    )
    after = rewritten("rule r(a, b, c: const): MatMul(a, b) + c => Gemm(a, b, c);", found)
    assert (
        ops(after) == ["Gemm"] and after.graph.node[0].output == ["y"]
        and list(after.graph.node[0].input) == ["x", "w", "b"]
    )


def test_an_output_that_becomes_an_input_is_copied() -> None:
    found = model([node("Neg", ["x"], ["a"]), node("Neg", ["a"], ["y"])], [value("x")], [value("y")])
    after = rewritten("rule r(x): Neg(Neg(x)) => x;", found)
    assert (
        ops(after) == ["Identity"] and list(after.graph.node[0].input) == ["x"]
        and list(after.graph.node[0].output) == ["y"]
    )


def test_an_output_that_becomes_another_output() -> None:
    found = model(
        [node("Relu", ["x"], ["a"]), node("Identity", ["a"], ["y"])], [value("x")], [value("y"), value("a")]
    )
    after = rewritten("rule r(x): Identity(x) => x;", found)
    assert sorted(ops(after)) == ["Identity", "Relu"] and [v.name for v in after.graph.output] == ["y", "a"]


def test_what_a_body_reads_is_followed() -> None:
    after = rewritten("rule r(x): Identity(x) => x;", branching())
    assert ops(after) == ["Abs", "If"]
    bodies = {a.name: a.g.node[0] for a in after.graph.node[1].attribute}
    assert list(bodies["then_branch"].input) == ["a"] and list(bodies["else_branch"].input) == ["a"]


def test_what_a_body_reads_is_not_interior() -> None:
    rules = gslang.parse_rules("dialect onnx;\nrule r(x): Identity(Abs(x)) => Relu(x);")
    found = branching()
    found.graph.node.append(node("Identity", ["c"], ["z"]))
    found.graph.output.append(value("z"))
    two = gslang.parse_rules("dialect onnx;\nrule r(x): Identity(Identity(x)) => Relu(x);")
    assert two.apply(gslang.from_onnx(found)).applications == 0
    assert rules.apply(gslang.from_onnx(branching())).applications == 1


@pytest.mark.parametrize(("opset", "operands"), [(11, 1), (13, 2), (18, 2)])
def test_axes_as_the_version_wants_them(opset: int, operands: int) -> None:
    found = model(
        [node("Relu", ["x"], ["a"]), node("Flatten", ["a"], ["y"], axis=0)], [value("x")],
        [value("y", (1, 6))], opset=opset,
    )
    after = rewritten(
        "rule r(x): Flatten(Relu(x), axis = 0) => Unsqueeze(Reshape(Relu(x), [-1]), axes = [0]);", found
    )
    assert ops(after)[-1] == "Unsqueeze" and len(after.graph.node[-1].input) == operands


def test_old_defaults_are_seen_and_stated() -> None:
    soft = model([node("Softmax", ["x"], ["y"])], [value("x")], [value("y")], opset=11)
    graph = gslang.from_onnx(soft)
    assert graph.attrs[graph.outputs[0]]["axis"] == 1
    assert gslang.to_onnx(graph) == soft
    found = model(
        [node("Neg", ["x"], ["a"]), node("Softmax", ["a"], ["y"])], [value("x")], [value("y")], opset=11
    )
    after = rewritten(
        "@opset(11..) rule r(x): Softmax(Neg(x), axis = 1) => Softmax(x * -1.0, axis = -1);", found
    )
    assert [(a.name, a.i) for a in after.graph.node[-1].attribute] == [("axis", -1)]


def test_several_results() -> None:
    found = model(
        [node("Split", ["x"], ["a", "b"], axis=0), node("Add", ["b", "a"], ["y"])], [value("x")],
        [value("y", (1, 3))],
    )
    after = rewritten("rule r(a, b): Add(a, b) => Sub(a, Neg(b));", found)
    assert ops(after) == ["Split", "Neg", "Sub"] and list(after.graph.node[0].output) == ["a", "b"]


def test_an_unread_mask_is_no_obstacle() -> None:
    found = model(
        [node("Relu", ["x"], ["a"]), node("Dropout", ["a"], ["y", "mask"])], [value("x")], [value("y")]
    )
    after = rewritten("rule r(x): Dropout(Relu(x)).0 => Relu(x);", found)
    assert ops(after) == ["Relu"]


def test_dtypes_are_names() -> None:
    found = model([node("Relu", ["x"], ["a"]), node("Cast", ["a"], ["y"], to=1)], [value("x")], [value("y")])
    assert ops(rewritten("rule r(x): Cast(x, to = x.dtype) => x;", found)) == ["Relu"]
    after = rewritten(
        '@once rule r(x): Cast(x, to = "float32") => Cast(Cast(x, to = "float64"), to = "float32");', found
    )
    assert [a.i for n in after.graph.node for a in n.attribute] == [11, 1]


def test_new_initializers_raise_the_ir_version_to_4() -> None:
    """Before 4 they would have to be inputs, and change the model's interface."""
    found = model([node("Neg", ["x"], ["y"])], [value("x")], [value("y")], ir=3)
    after = rewritten("rule r(x): Neg(x) => x * -1.0;", found)
    onnx.checker.check_model(after, full_check=True)
    assert ops(after) == ["Mul"] and len(after.graph.initializer) == 1 and after.ir_version == 4
    assert list(after.graph.input) == list(found.graph.input) and list(after.opset_import) == list(
        found.opset_import
    )
    assert rewritten("@once rule r(x): Neg(x) => Identity(Neg(x));", found).ir_version == 3


def test_models_older_than_operator_sets() -> None:
    found = model([node("Neg", ["x"], ["y"])], [value("x")], [value("y")], ir=1)
    del found.opset_import[:]
    for rule, version, imported in (
        ("Abs(x)", 1, []), ("Sum(x, 1.0)", 4, [("", 1)]),
        ("com.microsoft.Gelu(x)", 4, [("com.microsoft", 1), ("", 1)]),
    ):
        rules = gslang.parse_rules(f"dialect onnx;\nrule r(x): Neg(x) => {rule};")
        after = gslang.to_onnx(rules.apply(gslang.from_onnx(found)).graph)
        assert (after.ir_version, [(entry.domain, entry.version) for entry in after.opset_import]) == (
            version, imported,
        )
        onnx.checker.check_model(after)
    assert gslang.to_onnx(gslang.from_onnx(found)) == found


def test_new_constants_in_bodies_before_ir_4_are_nodes() -> None:
    """A body's initializers would have to be its inputs, and the bodies of an `If` have none."""
    found = branching()
    found.ir_version = 3
    after = rewritten("rule r(x): Neg(x) => x * -1.0;", found)
    body = next(a.g for a in after.graph.node[-1].attribute if a.name == "else_branch")
    assert (
        [n.op_type for n in body.node] == ["Constant", "Mul"] and not body.initializer
        and after.ir_version == 3
    )


def test_shapes_are_inferred_with_symbols() -> None:
    found = model(
        [node("Transpose", ["x"], ["a"], perm=[1, 0]), node("Relu", ["a"], ["y"])], [value("x", ("N", 3))],
        [value("y", None)],
    )
    graph = gslang.from_onnx(found)
    assert graph.types[graph.outputs[0]] == TensorType((3, Symbol("N")), "float32")


def test_evaluation_is_that_of_the_reference() -> None:
    found = branching()
    x = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
    feeds = {"x": x, "cond": np.array(False)}
    values = evaluate(gslang.from_onnx(found), load_dialect("onnx"), feeds)
    np.testing.assert_array_equal(values[0], ReferenceEvaluator(found).run(None, feeds)[0])


def test_folding(tmp_path: Path) -> None:
    found = model(
        [node("Add", ["w", "w"], ["a"]), node("Mul", ["x", "a"], ["y"])], [value("x")], [value("y")],
        {"w": np.ones((2, 3), np.float32)},
    )
    result = gslang.parse_rules("dialect onnx;\nrule r(x): Neg(Neg(x)) => x;").apply(
        gslang.from_onnx(found), fold=True
    )
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    assert ops(after) == ["Mul"] and [t.name for t in after.graph.initializer] == ["a"]


def test_the_command_line(tmp_path: Path) -> None:
    from gslang.cli.main import main

    onnx.save(branching(), tmp_path / "m.onnx")
    (tmp_path / "r.gsl").write_text("dialect onnx;\nrule r(x): Identity(x) => x;\n")
    code = main(
        [str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "-o", str(tmp_path / "o.onnx"), "--check-numbers"]
    )
    assert code == 0 and ops(onnx.load(tmp_path / "o.onnx")) == ["Abs", "If"]


def test_loops(tmp_path: Path) -> None:
    """A loop that carries a value and reads one from outside, which a rule replaces; rewritten, evaluated,
    folded.
    """
    body = helper.make_graph(
        [node("Add", ["s", "c"], ["t"]), node("Identity", ["go"], ["on"]), node("Neg", ["t"], ["out"])],
        "body", [value("i", (), 7), value("go", (), 9), value("s")],
        [value("on", (), 9), value("t"), value("out")],
    )
    found = model(
        [node("Identity", ["x"], ["c"]), node("Loop", ["n", "yes", "x"], ["last", "all"], body=body)],
        [value("x")], [value("last"), value("all", (3, 2, 3))], {"n": np.array(3), "yes": np.array(True)},
    )
    after = rewritten("rule r(x): Identity(x) => x;", found)
    assert ops(after) == ["Loop"] and list(after.graph.node[0].attribute[0].g.node[0].input) == ["s", "x"]
    feeds = {"x": np.ones((2, 3), np.float32)}
    expected = [4 * feeds["x"], np.stack([-k * feeds["x"] for k in (2, 3, 4)])]
    for a, b in zip(evaluate(gslang.from_onnx(found), load_dialect("onnx"), feeds), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_equal_initializers_are_equal_operands() -> None:
    """`cse` compares small constants by value; those of a model are lazy handles."""
    nodes = [node("Add", ["x", "a"], ["l"]), node("Add", ["x", "b"], ["r"]), node("Mul", ["l", "r"], ["y"])]
    found = model(
        nodes, [value("x")], [value("y")], {"a": np.ones(3, np.float32), "b": np.ones(3, np.float32)}
    )
    rules = gslang.parse_rules("dialect onnx;\nrule r(x): Neg(Neg(x)) => x;\npass p { r; cse; }")
    after = gslang.to_onnx(rules.apply(gslang.from_onnx(found), pass_name="p").graph)
    assert ops(after) == ["Add", "Mul"] and [t.name for t in after.graph.initializer] == ["a"]
    onnx.checker.check_model(after, full_check=True)


@pytest.mark.parametrize("opset", [None, 23])
def test_new_nodes_have_names_that_no_node_has(opset: int | None) -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x, float[3,4] w, float[4] b, float[4,4] v)'
        " => (float[2,4] y) { [Gemm_1] h = Gemm(x, w, b) [MatMul_2] m = MatMul(h, v) [Add_3] y = Add(m, b) }"
    )
    model = onnx.parser.parse_model(text)
    found = gslang.onnx.optimize(model) if opset is None else gslang.onnx.optimize(model, opset=opset)
    names = [node.name for node in found.graph.node]
    assert len(names) == len(set(names)) == 2


def test_a_product_needs_an_addend_in_old_operator_sets() -> None:
    text = "g (float[2,3] x) => (float[2,2] y) { t = Transpose<perm=[1,0]>(x) y = MatMul(x, t) }"
    for opset, calls in ((9, ["Transpose", "MatMul"]), (11, ["Gemm"])):
        found = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')
        after = gslang.onnx.optimize(found)
        onnx.checker.check_model(after)
        assert [node.op_type for node in after.graph.node] == calls
