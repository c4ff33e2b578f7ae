"""`--opset N`: models brought to a newer operator set, with the same numbers; what a newer one would admit is
said.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gslang
from benchmarks.exports import feeds
from gslang.cli.main import main
from gslang.evaluate.memory import Memory
from gslang.formats.onnx.runtime import run_model
from tests.onnx import backend_suite
from tests.onnx.models import branching, model, value

node = helper.make_node
# Those that we were given where they are, else the few that are copied here. No CPU computes bfloat16; those
# of operator set 23 are new enough.
FOLDERS = (Path(__file__).parents[3] / "shared/data/exports", Path(__file__).parent / "exports")
EXPORTS = next(
    found
    for folder in FOLDERS
    if (found := sorted(
        p
        for p in folder.glob("*.onnx") if "bf16" not in p.name and not re.search(r"\.\w+2[3-9]\.", p.name)
    ))
)


def check(before: onnx.ModelProto, opset: int, feeds: dict[str, np.ndarray]) -> onnx.ModelProto:
    after: onnx.ModelProto = gslang.to_onnx(gslang.from_onnx(before, opset=opset))
    assert [e.version for e in after.opset_import if e.domain == ""] == [opset]
    onnx.checker.check_model(after)
    memory = Memory(gslang.from_onnx(before), feeds)
    results = (run_model(model, "", feeds, memory) for model in (before, after))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    return after


def test_attributes_that_have_become_operands() -> None:
    nodes = [
        node("Squeeze", ["x"], ["s"], axes=[0]), node("ReduceSum", ["s"], ["y"], axes=[0], keepdims=0),
        node("Relu", ["y"], ["z"]),
    ]
    after = check(
        model(nodes, [value("x", (1, 3, 2))], [value("z", (2,))], opset=11), 21,
        {"x": np.ones((1, 3, 2), np.float32)},
    )
    assert [len(n.input) for n in after.graph.node if n.op_type in ("Squeeze", "ReduceSum")] == [2, 2]


def test_a_split_without_sizes() -> None:
    nodes = [node("Split", ["x"], ["a", "b"], axis=0), node("Sub", ["a", "b"], ["y"])]
    check(
        model(nodes, [value("x", (4, 3))], [value("y", (2, 3))], opset=13), 18,
        {"x": np.arange(12, dtype=np.float32).reshape(4, 3)},
    )


def test_what_has_another_meaning_is_converted() -> None:
    found = model(
        [node("Softmax", ["x"], ["y"], axis=1)], [value("x", (2, 3, 4))], [value("y", (2, 3, 4))], opset=11
    )
    check(found, 17, {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)})


def test_bodies_too() -> None:
    before = branching()
    now = next(e.version for e in before.opset_import if e.domain == "")
    after: onnx.ModelProto = gslang.to_onnx(gslang.from_onnx(before, opset=23))
    onnx.checker.check_model(after)
    assert now < 23


def test_a_set_newer_than_any_known_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model([node("Relu", ["x"], ["y"])], [value("x")], [value("y")], opset=999), tmp_path / "m.onnx")
    assert main(["convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "o.onnx")]) == 0
    assert "warning: operator set 999 is newer than" in capsys.readouterr().err


def test_impossible_ones_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model([node("Relu", ["x"], ["y"])], [value("x")], [value("y")], opset=17), tmp_path / "m.onnx")
    path, out = str(tmp_path / "m.onnx"), tmp_path / "o.onnx"
    for opset, code, words in ((13, 3, "set 17 and cannot be converted"), (999, 3, "not known"), (0, 2, "")):
        assert main(["convert", path, "-o", str(out), "--opset", str(opset)]) == code
        assert words in capsys.readouterr().err and not out.exists()
    assert main(["convert", path, "-o", str(out), "--opset", "23"]) == 0
    assert onnx.load(out).opset_import[0].version == 23
    (tmp_path / "g.relay").write_text("def @main(%x: float32) { exp(%x) }")
    assert main(["convert", str(tmp_path / "g.relay"), "-o", str(tmp_path / "g.json"), "--opset", "23"]) == 3
    assert "has no operator set" in capsys.readouterr().err


def test_what_a_newer_operator_set_admits_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [node("Neg", ["x"], ["a"]), node("Exp", ["a"], ["b"]), node("Abs", ["b"], ["y"])]
    onnx.save(
        model(nodes, [value("x", (2, 3), TensorProto.FLOAT)], [value("y", (2, 3))], opset=17),
        tmp_path / "m.onnx",
    )
    rules = tmp_path / "r.gsl"
    rules.write_text(
        "dialect onnx;\nrule a(x): Neg(x) => Gelu(x);\nrule b(x): Exp(x) => Swish(x);\n"
        "rule c(x): Sin(x) => Gelu(x);\n@opset(..12) rule d(x): Abs(x) => x;"
    )
    out = str(tmp_path / "o.onnx")
    assert main([str(rules), str(tmp_path / "m.onnx"), "-o", out]) == 0
    assert (
        capsys.readouterr().err.splitlines()[-1] == "2 fusions skipped: need opset 20 to 24; try --opset 24"
    )
    assert main([str(rules), str(tmp_path / "m.onnx"), "-o", out, "--opset", "20"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "1 fusion skipped: needs opset 24; try --opset 24"
    assert main([str(rules), str(tmp_path / "m.onnx"), "-o", out, "--opset", "24"]) == 0
    assert "skipped" not in capsys.readouterr().err
    assert {n.op_type for n in onnx.load(out).graph.node} == {"Gelu", "Swish", "Abs"}


@pytest.mark.long
@pytest.mark.parametrize("opset", [21, 23])
def test_the_backend_suite_in_a_newer_operator_set(opset: int) -> None:
    faults = [
        f"{case.name}: {why}"
        for case in backend_suite.cases() if (why := backend_suite.fault_upgraded(case, opset))
    ]
    assert faults == []


@pytest.mark.long
@pytest.mark.parametrize("path", EXPORTS, ids=lambda p: p.stem)
def test_exported_models_in_a_newer_operator_set(path: Path) -> None:
    before, after = onnx.load(path), gslang.to_onnx(gslang.from_onnx(path, opset=23))
    for said, given in feeds(path.parent, path.stem):
        memory = Memory(gslang.from_onnx(path), given)
        results = (run_model(model, str(path.parent), given, memory) for model in (before, after))
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4, err_msg=said)
