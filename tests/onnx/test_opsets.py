"""Rules and operator sets: `@opset`, conditions on `opset`, targets that the model's version cannot say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from onnx import helper

import gslang
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.dialect.onnx.versions import history, misfit, type_misfit, version_at
from tests.onnx.models import model, value


def negated(opset: int) -> Any:
    return gslang.from_onnx(
        model([helper.make_node("Neg", ["x"], ["y"])], [value("x")], [value("y")], opset=opset)
    )


def applied(rules: str, opset: int) -> gslang.Result:
    return gslang.parse_rules(f"dialect onnx;\n{rules}").apply(negated(opset))


@pytest.mark.parametrize(
    ("range", "opset", "applies"),
    [
        ("11..", 11, True), ("11..", 10, False), ("..12", 12, True), ("..12", 13, False), ("13", 13, True),
        ("13", 14, False), ("11..13", 12, True),
    ],
)
def test_annotated_ranges(range: str, opset: int, applies: bool) -> None:
    result = applied(f"@opset({range}) rule r(x): Neg(x) => Relu(x);", opset)
    assert result.applications == applies
    assert ("r" in result.report()["skipped"]) is not applies


@pytest.mark.parametrize(
    ("condition", "opset", "applies"),
    [
        ("opset >= 13", 13, True), ("opset >= 13", 12, False), ("not opset >= 13", 12, True),
        ("opset == 11 or opset == 13", 12, False), ("opset >= 13 or x.ndim == 2", 12, True),
        ("opset % 2 == 0", 12, True), ("opset % 2 == 0", 13, False),
    ],
)
def test_conditions(condition: str, opset: int, applies: bool) -> None:
    assert applied(f"rule r(x): Neg(x) where {condition} => Relu(x);", opset).applications == applies


def test_a_bound_name_hides_it() -> None:
    assert applied("rule r(opset): Neg(opset) where opset.ndim == 2 => Relu(opset);", 13).applications == 1


def test_other_dialects_have_none() -> None:
    found = check_source(Source("r.gsl", "rule r(x): exp(x) where opset >= 13 => x;")).diagnostics
    assert [d.code for d in found] == ["E0201"]


@pytest.mark.parametrize(
    ("target", "opset", "why"),
    [
        ("Gelu(x)", 17, "`Gelu` needs operator set 20, the model imports 17"), ("Gelu(x)", 20, None),
        ("Relu(Gelu(x))", 17, "`Gelu` needs operator set 20"),
        ("Split(x, num_outputs = 1).0", 17, "`Split` has no `num_outputs` in operator set 17"),
        ("Split(x, num_outputs = 1).0", 18, None),
        (
            'x + Cast(ArgMax(x, select_last_index = 1), to = "float32")', 11,
            "`ArgMax` has no `select_last_index` in operator set 11",
        ),
        ('x + Cast(ArgMax(x, select_last_index = 0), to = "float32")', 11, None),
        ("Softmax(x, axis = -1)", 12, "`Softmax` means something else before operator set 13"),
        ("Clip(x, 0.0, 6.0)", 6, None),
        ("Upsample(x, [1.0, 1.0])", 13, "`Upsample` was removed in operator set 10"),
        ("Gelu(x) if opset >= 20 else Relu(x)", 17, None), ("Relu(x) if opset >= 11 else Gelu(x)", 17, None),
    ],
)
def test_targets_that_the_version_cannot_say(target: str, opset: int, why: str | None) -> None:
    result = applied(f"rule r(x): Neg(x) => {target};", opset)
    assert result.applications == (why is None), result.report()
    assert not result.failures
    if why is None:
        assert gslang.to_onnx(result.graph).graph.node
    else:
        assert result.report()["skipped"]["r"].startswith(why)
        (miss,) = gslang.parse_rules(f"dialect onnx;\nrule r(x): Neg(x) => {target};")["r"].why_not(
            negated(opset)
        )
        assert miss.reason == "opset" and miss.found.startswith(why)


@pytest.mark.parametrize(
    ("rule", "opset", "element", "why"),
    [
        ("rule r(x): Neg(x) => Relu(x) if x.ndim == 3 else Gelu(x);", 17, 1, "`Gelu` needs operator set 20"),
        ("rule r(x): Neg(x) => Relu(x) if x.ndim == 2 else Gelu(x);", 17, 1, None),
        (
            "rule r(x): Neg(x) => Relu(x);", 13, 6,
            (
                "operand `X` of `Relu` must be bfloat16, float16, float32 or float64, got int32 in operator "
                "set 13"
            ),
        ),
        ("rule r(x): Neg(x) => Relu(x);", 14, 6, None),
        (
            "rule r(x): Neg(x) => ReduceSum(x, Shape(x), keepdims = 1) + x;", 12, 7,
            "`axes` of `ReduceSum` is an attribute in operator set 12",
        ),
        ("rule r(x): Neg(x) => ReduceSum(x, Shape(x), keepdims = 1) + x;", 13, 7, None),
        ("rule r(x): Neg(x) => ReduceSum(x, [0], keepdims = 1) + x;", 12, 7, None),
    ],
)
def test_what_is_decided_at_the_match(rule: str, opset: int, element: int, why: str | None) -> None:
    """A match whose target the version cannot say is none: no failure, and `why_not` tells."""
    found = model(
        [helper.make_node("Neg", ["x"], ["y"])], [value("x", element=element)], [value("y", element=element)],
        opset=opset,
    )
    graph = gslang.from_onnx(found)
    rules = gslang.parse_rules(f"dialect onnx;\n{rule}")
    result = rules.apply(graph)
    assert result.applications == (why is None) and not result.failures
    assert [reason.startswith(why or "") for reason in result.report()["refused"]] == (
        [] if why is None else [True]
    )
    traced = rules.apply(graph, provenance=True)
    assert traced.applications == result.applications and not traced.failures
    (miss,) = rules["r"].why_not(graph)
    assert miss.reason == ("matches" if why is None else "target-value") and miss.found.startswith(why or "")
    after = gslang.to_onnx(result.graph)
    assert (after == found) is (why is not None)


def test_element_types_that_no_version_takes_are_a_mistake_of_the_rule() -> None:
    result = applied('rule r(x): Neg(x) => x + Cast(x, to = "int64");', 17)
    assert result.failures and "operands of `Add` are float32 and int64" in result.failures[0].message


def test_who_names_the_version_answers_for_the_meaning() -> None:
    assert applied("@opset(11..) rule r(x): Neg(x) => Softmax(x, axis = -1);", 12).applications == 1


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("@opset(11..) rule r(x): x * Sigmoid(x) => Swish(x);", "11..23"),
        ("@opset(23) rule r(x): x * Sigmoid(x) => Swish(x);", "23"),
        ("@opset(14..) rule r(x): Neg(x) => Split(x, num_outputs = 1).0;", "14..17"),
        ("@opset(9..12) rule r(x): Neg(x) => HardSwish(x);", "9..12"),
    ],
)
def test_ranges_that_promise_too_much(rule: str, shown: str) -> None:
    (found,) = check_source(Source("r.gsl", f"dialect onnx;\n{rule}")).diagnostics
    assert found.code == "E0705" and f"operator set {shown}," in found.message


@pytest.mark.parametrize(
    "rule",
    [
        "@opset(24..) rule r(x): x * Sigmoid(x) => Swish(x);",
        "@opset(11..) rule r(x): x * Sigmoid(x) where opset >= 24 => Swish(x);",
        "@opset(14..) rule r(x): x * Sigmoid(x) => Swish(x) if opset >= 24 else HardSwish(x);",
        "rule r(x): x * Sigmoid(x) => Swish(x);",
        "@opset(11..) rule r(x): Neg(x) => com.me.Op(x); op com.me.Op(x: tensor) -> tensor;".replace(
            "rule", "rule"
        ),
    ],
)
def test_ranges_that_hold(rule: str) -> None:
    if "op com.me" in rule:
        rule = "op com.me.Op(x: tensor) -> tensor; " + rule.partition(" op ")[0]
    assert not check_source(Source("r.gsl", f"dialect onnx;\n{rule}")).diagnostics


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("@opset(..13) rule r(x): Neg(HardSwish(x)) => Neg(x);", "`HardSwish` needs operator set 14"),
        ("@opset(10..) rule r(x): Upsample(x, [1.0, 1.0]) => x;", "`Upsample` was removed"),
        ("@opset(..14) rule r(x): Neg(HardSwish(x)) => Neg(x);", None),
        ("@opset(..13) rule r(x): Neg(HardSwish(x) | Relu(x)) => Neg(x);", None),
    ],
)
def test_sources_that_never_match(rule: str, said: str | None) -> None:
    found = check_source(Source("r.gsl", f"dialect onnx;\n{rule}")).diagnostics
    assert [d.code for d in found] == (["E0705"] if said else []) and (
        said is None or said in found[0].message
    )


def test_an_empty_range() -> None:
    (found,) = check_source(
        Source("r.gsl", "dialect onnx;\n@opset(13..11) rule r(x): Neg(x) => Relu(x);")
    ).diagnostics
    assert found.code == "E0702" and "empty" in found.message


def test_the_report_and_why_not_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    import onnx

    from gslang.cli.main import main

    onnx.save(
        model([helper.make_node("Neg", ["x"], ["y"])], [value("x")], [value("y")], opset=17),
        tmp_path / "m.onnx",
    )
    (tmp_path / "r.gsl").write_text("dialect onnx;\nrule r(x): Neg(x) => Gelu(x);\n")
    rules, graph = str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx")
    assert (
        main([rules, graph, "-o", str(tmp_path / "o.onnx"), "--report", str(tmp_path / "report.json")]) == 0
    )
    assert "Gelu" in json.loads((tmp_path / "report.json").read_text())["skipped"]["r"]
    assert (tmp_path / "o.onnx").read_bytes() == onnx.load(graph).SerializeToString(deterministic=True)
    capsys.readouterr()
    assert main(["match", rules, graph, "--why-not"]) == 0
    assert "`Gelu` needs operator set 20, the model imports 17" in capsys.readouterr().out


def test_versions() -> None:
    assert version_at("Squeeze", 12).attributes == ("axes",) and version_at("Squeeze", 13).operands == (
        "data", "axes",
    )  # type: ignore[union-attr]
    assert version_at("GroupNormalization", 20) is None and version_at("GroupNormalization", 21) is not None
    assert version_at("Upsample", 10) is None and history().latest >= 20
    assert misfit("Unsqueeze", 11, {"axes": (0,)}, [0], None) is None
    assert type_misfit("Relu", 12, ("int32",)) and type_misfit("Relu", 14, ("int32",)) is None
    assert type_misfit("Add", 14, ("float32", "float16")) == "operands of `Add` are float32 and float16"
    assert type_misfit("Where", 16, ("bool", "float32", "float32")) is None


def test_tests_may_state_an_operator_set() -> None:
    from gslang.testing import run_tests

    text = """dialect onnx;
    rule gelu(x): Neg(x) => Gelu(x);
    @once @opset(..12) rule old(x) { s = Squeeze(x, axes = [0]); s where opset < 12
        => Squeeze(Identity(x), s.*) }
    @opset(17) test "too old" for gelu { x: input float32[2]; Neg(x) => unchanged }
    @opset(11) test "old" for old { x: input float32[1, 2]; Squeeze(x, axes = [0])
        => Squeeze(Identity(x), axes = [0]) }
    @opset(12) test "not old enough" for old { x: input float32[1, 2]; Squeeze(x, axes = [0]) => unchanged }
    """
    program = check_source(Source("t.gsl", text))
    assert not program.diagnostics
    problems = {o.title: o.problem for o in run_tests(program)}
    assert problems == {"too old": None, "old": None, "not old enough": None}
    for wrong in ("@opset(11..12)", "@opset"):
        found = check_source(Source("t.gsl", text.replace("@opset(17) test", f"{wrong} test"))).diagnostics
        assert [d.code for d in found] == ["E0702"]
