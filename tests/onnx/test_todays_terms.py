"""One rule for all versions: attributes that have become operands, changed defaults, changed meanings."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.versions import CHANGED_MEANING, former, history, version_at
from gslang.evaluate.run import evaluate
from gslang.formats.onnx.normal_form import changed_defaults, drop_meaningless, former_attributes, is_current
from gslang.formats.onnx.runtime import run_graph
from gslang.graph.domains import values_outside
from tests.onnx.models import model, value

REDUCTIONS = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare"
).split()

# operator, shape of x, attributes that are operands today in their places, other attributes, results,
# operator sets: the last where they are attributes, the first where they are operands
CASES: list[tuple[str, tuple[int, ...], list[tuple[str, Any]], dict[str, Any], int, int, int]] = [
    ("Squeeze", (1, 3, 1), [("axes", [0])], {}, 1, 12, 13),
    ("Unsqueeze", (2, 3), [("axes", [0, 2])], {}, 1, 12, 13),
    *(
        (
            name, (2, 3, 4), [("axes", [1])], {"keepdims": 0}, 1, 12 if name == "ReduceSum" else 17,
            13 if name == "ReduceSum" else 18,
        )
        for name in REDUCTIONS
    ),
    ("Clip", (2, 3), [("min", -0.5), ("max", 0.5)], {}, 1, 10, 11),
    ("Clip", (2, 3), [("min", None), ("max", 0.5)], {}, 1, 10, 11),
    ("Pad", (2, 3), [("pads", [0, 1, 1, 0]), ("constant_value", 1.5)], {}, 1, 10, 11),
    ("Slice", (4, 5), [("starts", [1, 0]), ("ends", [3, 4]), ("axes", [0, 1])], {}, 1, 9, 10),
    ("Split", (2, 6), [("split", [1, 2, 3])], {"axis": 1}, 3, 12, 13),
    ("TopK", (2, 6), [("K", 2)], {"axis": 1}, 2, 9, 10),
    ("Dropout", (2, 3), [("ratio", 0.25)], {}, 1, 11, 12),
    ("Upsample", (1, 1, 2, 2), [("scales", [1.0, 1.0, 2.0, 2.0])], {}, 1, 8, 9),
    ("Reshape", (2, 3), [("shape", [3, 2])], {}, 1, 4, 5),
]
IDS = [f"{c[0]}-{k}" for k, c in enumerate(CASES)]


def built(case: Any, as_operands: bool) -> onnx.ModelProto:
    operator, shape, moved, others, results, before, after = case
    names = [f"y{k}" for k in range(results)]
    if not as_operands:
        attrs = {(former(operator, name, ("value", "k")) or name): v for name, v in moved if v is not None}
        nodes = [helper.make_node(operator, ["x"], names, **attrs, **others)]
        weights = {}
    else:
        given = [name if v is not None else "" for name, v in moved]
        nodes = [helper.make_node(operator, ["x", *given], names, **others)]
        weights = {
            name: np.asarray(v, np.float32 if isinstance(v, float) or name == "scales" else np.int64)
            for name, v in moved if v is not None
        }
        if operator == "TopK":
            weights["K"] = weights["K"].reshape(1)
    outputs = [helper.make_empty_tensor_value_info(name) for name in names]
    found = model(nodes, [value("x", shape)], outputs, weights, opset=after if as_operands else before, ir=7)
    inferred = onnx.shape_inference.infer_shapes(found, data_prop=True)
    types = {v.name: v for v in inferred.graph.output}
    for output in found.graph.output:
        if types[output.name].type.HasField("tensor_type"):
            output.CopyFrom(types[output.name])
        if not output.type.tensor_type.HasField("shape"):  # nothing was inferred for `Reshape` then
            output.CopyFrom(value(output.name, (3, 2)))
    return found


def written(value: Any) -> str:
    return "none" if value is None else str(value)


def rules_for(case: Any) -> dict[str, str]:
    """Ways to say the same pattern: by keywords, by places, by inputs; its target copies, or says it again.
    """
    operator, _, moved, others, results, before, after = case
    keywords = ", ".join(f"{name} = {written(v)}" for name, v in moved)
    places = ", ".join(written(v) if name != "K" else "k" for name, v in moved)
    inputs = ", ".join(f"i{k}" for k, (_, v) in enumerate(moved) if v is not None)
    passed = ", ".join(f"i{k}" if v is not None else "none" for k, (_, v) in enumerate(moved))
    outs = lambda name: (
        ", ".join(f"{name}.{k}" for k in range(results)) if results > 1 or operator == "Dropout" else name
    )
    extra = "".join(f", {name} = {v}" for name, v in others.items())

    def rule(source: str, target: str, header: str) -> str:
        return (
            f"dialect onnx;\n@once @opset({before}..{after}) rule r({header}) {{ s = {source}; {outs('s')} "
            f"=> t = {target}; {outs('t')} }}"
        )

    found = {
        "spread": rule(f"{operator}(x, {keywords})", f"{operator}(Identity(x), s.*)", "x"),
        "places": rule(
            f"{operator}(x, {places})", f"{operator}(Identity(x), {places}{extra})",
            "x" + (", k: const" if "k" in places.split(", ") else ""),
        ),
        "inputs": rule(f"{operator}(x, {passed})", f"{operator}(Identity(x), {passed}, s.*)", f"x, {inputs}"),
    }
    if operator != "Upsample":
        found["keywords"] = rule(
            f"{operator}(x, {keywords})", f"{operator}(Identity(x), {keywords}{extra})", "x"
        )
    return found


@pytest.mark.parametrize("as_operands", [False, True], ids=["attributes", "operands"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_one_rule_for_all_versions(case: Any, as_operands: bool) -> None:
    found = built(case, as_operands)
    onnx.checker.check_model(found)
    graph = gslang.from_onnx(found)
    assert gslang.to_onnx(graph) == found
    operator = case[0]
    x = (np.abs(np.random.default_rng(0).standard_normal(case[1])) + 0.1).astype(np.float32)
    unknown = operator == "Upsample" or (operator == "Reshape" and not as_operands)  # to the reference
    expected = None if unknown else ReferenceEvaluator(found).run(None, {"x": x})
    for how, text in rules_for(case).items():
        result = gslang.parse_rules(text).apply(graph)
        assert result.applications == 1 and not result.failures, (how, text, result.failures)
        after = gslang.to_onnx(result.graph)
        onnx.checker.check_model(after, full_check=True)
        (made,) = [n for n in after.graph.node if n.op_type == operator]
        assert [n.op_type for n in after.graph.node if n.op_type != "Constant"] == ["Identity", operator]
        assert (len(made.input) > 1) is as_operands, how
        old = found.graph.node[0]
        assert sorted(a.name for a in made.attribute) == sorted(a.name for a in old.attribute), how
        if expected is not None:
            for a, b in zip(ReferenceEvaluator(after).run(None, {"x": x}), expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
            for a, b in zip(evaluate(result.graph, load_dialect("onnx"), {"x": x}), expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_no_operator_is_forgotten() -> None:
    moved = {
        operator
        for operator, versions in history().operators.items()
        for then in versions[:-1]
        if any(
            name not in then.operands and former(operator, name, then.attributes)
            for name in versions[-1].operands
        )
    }
    assert moved - {case[0] for case in CASES} == {"DFT"} and "DFT" in CHANGED_MEANING


def test_another_value_does_not_match() -> None:
    graph = gslang.from_onnx(built(CASES[0], False))
    for pattern in (
        "Squeeze(x, axes = [2])", "Squeeze(x, [2])", "Squeeze(x, none)", "Squeeze(x, axes = none)",
        "Squeeze(x, axes = [0, 2])",
    ):
        assert (
            gslang.parse_rules(f"dialect onnx;\nrule r(x): {pattern} => x;").apply(graph).applications == 0
        ), pattern


def test_operands_of_two_nodes_may_be_one_pattern_node() -> None:
    """`Unsqueeze(Squeeze(x, a), a)`, in a version where each node has its own attribute."""
    for opset in (11, 13):
        attrs: dict[str, Any] = {"axes": [0]} if opset == 11 else {}
        more = [] if opset == 11 else ["a"]
        nodes = [
            helper.make_node("Squeeze", ["x", *more], ["s"], **attrs),
            helper.make_node("Unsqueeze", ["s", *more], ["y"], **attrs),
        ]
        found = model(
            nodes, [value("x", (1, 3))], [value("y", (1, 3))], {} if opset == 11 else {"a": np.array([0])},
            opset=opset,
        )
        rules = "dialect onnx;\nrule r(x) { s = Squeeze(x, axes = _); Unsqueeze(s, axes = s.axes) => x }"
        result = gslang.parse_rules(rules).apply(gslang.from_onnx(found))
        assert result.applications == 1
        assert [n.op_type for n in gslang.to_onnx(result.graph).graph.node] == ["Identity"]


def test_operator_variables_carry_operands_too() -> None:
    """`f(x, a.*)` with one of several reductions keeps the axes, wherever they stand."""
    for opset in (11, 18):
        more = [] if opset == 11 else ["a"]
        attrs: dict[str, Any] = {"axes": [1], "keepdims": 0} if opset == 11 else {"keepdims": 0}
        found = model(
            [helper.make_node("ReduceMax", ["x", *more], ["y"], **attrs)], [value("x")], [value("y", (2,))],
            {} if opset == 11 else {"a": np.array([1])}, opset=opset,
        )
        rules = (
            "dialect onnx;\n@once rule r(f: op(ReduceMean | ReduceMax), x) { a = f(x, axes = _); a => "
            "f(Identity(x), a.*) }"
        )
        result = gslang.parse_rules(rules).apply(gslang.from_onnx(found))
        assert result.applications == 1 and not result.failures
        after = gslang.to_onnx(result.graph)
        onnx.checker.check_model(after, full_check=True)
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(ReferenceEvaluator(after).run(None, {"x": x})[0], x.max(axis=1))


def test_operands_that_are_no_constants_have_no_value() -> None:
    nodes = [helper.make_node("ReduceSum", ["x", "a"], ["y"], keepdims=1)]
    found = model(nodes, [value("x"), value("a", (1,), 7)], [value("y", (None, None))], opset=13)
    graph = gslang.from_onnx(found)
    assert (
        gslang.parse_rules("dialect onnx;\nrule r(x): ReduceSum(x, axes = [1]) => x;")
        .apply(graph)
        .applications == 0
    )
    assert (
        gslang.parse_rules(
            "dialect onnx;\nrule r(x) { s = ReduceSum(x, axes = _); s => ReduceSum(Relu(x), s.*) }"
        )
        .apply(graph)
        .applications == 0
    )
    rules = "dialect onnx;\n@once rule r(x, a) { s = ReduceSum(x, a); s => ReduceSum(Relu(x), a, s.*) }"
    result = gslang.parse_rules(rules).apply(graph)
    assert result.applications == 1 and list(gslang.to_onnx(result.graph).graph.node[-1].input)[1] == "a"


# ── meanings ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("operator", "attrs", "shape", "opset", "name"),
    [
        ("Softmax", {"axis": 1}, (2, 3, 4), 11, "ai.onnx.v11.Softmax"),
        ("Softmax", {}, (2, 3, 4), 12, "ai.onnx.v12.Softmax"),
        ("Softmax", {"axis": 2}, (2, 3, 4), 11, "Softmax"),
        ("Softmax", {"axis": -1}, (2, 3, 4), 11, "Softmax"), ("Softmax", {}, (2, 3), 11, "Softmax"),
        ("Softmax", {"axis": 1}, (2, 3, 4), 13, "Softmax"),
        ("LogSoftmax", {"axis": 0}, (2, 3), 11, "ai.onnx.v11.LogSoftmax"),
        ("Hardmax", {"axis": 0}, (2, 3), 11, "ai.onnx.v11.Hardmax"),
        ("Dropout", {}, (2, 3), 6, "ai.onnx.v6.Dropout"), ("Dropout", {"is_test": 1}, (2, 3), 6, "Dropout"),
        ("Dropout", {}, (2, 3), 7, "Dropout"),
    ],
)
def test_old_meanings_have_names_of_their_own(
    operator: str, attrs: dict[str, Any], shape: tuple[int, ...], opset: int, name: str
) -> None:
    nodes = [
        helper.make_node(operator, ["x"], ["a"], **attrs), helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    found = model(nodes, [value("x", shape)], [value("y", shape)], opset=opset, ir=4)
    graph = gslang.from_onnx(found)
    assert [graph.op[n] for n in graph.in_order() if graph.is_call(n)][0] == name
    assert gslang.to_onnx(graph) == found
    rules = gslang.parse_rules(
        "dialect onnx;\nrule s(x): Softmax(x, axis = -1) => Relu(x); rule n(x): Neg(Neg(x)) => x;"
    )
    result = rules.apply(graph)
    assert result.progress.counts["n"].applications == 1
    after = gslang.to_onnx(result.graph)
    assert after.graph.node[0].op_type == operator or name == "Softmax"
    if operator != "Dropout" and after.graph.node[0].op_type == operator:
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.testing.assert_allclose(
            evaluate(graph, load_dialect("onnx"), {"x": x})[0], run_graph(graph, {"x": x})[0], rtol=1e-5
        )


def test_old_meanings_outlive_json() -> None:
    nodes = [helper.make_node("Softmax", ["x"], ["y"], axis=1)]
    found = model(nodes, [value("x", (2, 3, 4))], [value("y", (2, 3, 4))], opset=11)
    from gslang.formats.registry import graph_from_bytes, graph_text

    graph = gslang.from_onnx(found)
    again = graph_from_bytes(graph_text(graph, "json").encode(), "g.json", "json")
    after = gslang.to_onnx(again)
    assert [(n.op_type, n.domain, n.attribute[0].i) for n in after.graph.node] == [
        ("Softmax", "", 1)
    ] and after.opset_import[0].version == 11


def test_nodes_are_read_as_they_are_only_where_nothing_has_changed() -> None:
    """In every operator set: an operator that is said to be as today's has lost no attribute, moved none, and
    changed no default.
    """
    dialect, current = load_dialect("onnx"), 0
    for operator in history().operators:
        for opset in range(1, history().latest + 1):
            then = version_at(operator, opset)
            if then is None or not is_current(operator, opset):
                continue
            current += 1
            given = dict.fromkeys(then.kinds, 1)
            kept = dict(given)
            assert drop_meaningless(operator, opset, kept) and kept == given
            assert former_attributes(operator, opset, kept) == [] and kept == given
            assert changed_defaults(operator, opset, {}, dialect.get(operator)) == {}
    assert current > 2000


@pytest.mark.parametrize("mode", [None, "bilinear", "bicubic", "nearest"])
def test_modes_of_grid_samples_in_the_words_of_their_operator_set(mode: str | None) -> None:
    """Today's words in the graph, without a warning; those of the model in nodes that are written anew."""
    from gslang.formats.registry import graph_from_bytes, graph_text

    stated = {} if mode is None else {"mode": mode}
    nodes = [helper.make_node("GridSample", ["x", "grid"], ["y"], **stated)]
    inputs = [value("x", (1, 2, 4, 4)), value("grid", (1, 3, 3, 2))]
    graph = gslang.from_onnx(model(nodes, inputs, [value("y", (1, 2, 3, 3))], opset=16))
    today = {"bilinear": "linear", "bicubic": "cubic"}.get(mode or "bilinear", mode)
    assert graph.attrs[graph.outputs[0]]["mode"] == today
    assert values_outside(graph, load_dialect("onnx")) == []
    again = gslang.to_onnx(graph_from_bytes(graph_text(graph, "json").encode(), "g.json", "json"))
    assert {a.name: a.s.decode() for a in again.graph.node[0].attribute} == {"mode": mode or "bilinear"}
