"""The shipped rules pass their own tests, and do their work on models."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import gslang
from tests.onnx.models import model, value

SHIPPED = Path(__file__).parent.parent.parent / "stdlib_rules"
FILES = sorted([*(SHIPPED / "onnx").glob("*.gsl"), *(SHIPPED / "onnxruntime").glob("*.gsl")])


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_their_tests(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gslang.cli.main import main

    assert main(["test", str(path)]) == 0, capsys.readouterr()
    assert " 0 failed" in "".join(capsys.readouterr())


def test_every_rule_has_a_test_that_keeps_a_graph_and_one_that_does_not() -> None:
    """Rules that need types from outside a test's graph have their test of success in `test_rules_networks`
    and `test_dynamic_shapes`.
    """
    elsewhere = {
        "reshape_target", "reshape_target_rest", "expand_target", "resize_scales",
    }
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    rules = re.findall(r"^rule (\w+)", text, re.MULTILINE)
    tests = re.findall(r'^test "[^"]*" for (\w+)(?:\[[^]]*\])? \{(.*?)^\}', text, re.MULTILINE | re.DOTALL)
    kept = {name for name, body in tests if "unchanged" in body}
    changed = {name for name, body in tests if "unchanged" not in body}
    assert len(rules) == len(set(rules)) >= 60
    assert [name for name in rules if name not in kept] == []
    assert [name for name in rules if name not in changed | elsewhere] == []


def test_queries_keys_and_values_in_a_model() -> None:
    weights = {
        name: np.random.default_rng(k).standard_normal((3, 4)).astype(np.float32)
        for k, name in enumerate("qkv")
    }
    nodes = [helper.make_node("MatMul", ["x", name], [f"o{name}"]) for name in weights]
    params = [value(name, (3, 4)) for name in weights]
    found = model(nodes, [value("x"), *params], [value(f"o{name}", (2, 4)) for name in weights], weights)
    result = gslang.load("std.onnx.parallel").apply(gslang.from_onnx(found))
    assert result.applications == 1
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    assert [n.op_type for n in after.graph.node] == ["Concat", "MatMul", "Split"]
    assert list(after.graph.node[-1].output) == ["oq", "ok", "ov"]
    x = np.ones((2, 3), np.float32)
    feeds = {"x": x}
    for a, b in zip(
        ReferenceEvaluator(found).run(None, feeds), ReferenceEvaluator(after).run(None, feeds), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-5)
