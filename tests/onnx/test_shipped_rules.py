"""The shipped rules pass their own tests, and do their work on models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import gslang
from tests.onnx.models import model, value

RULES = Path(__file__).parent.parent.parent / "stdlib_rules" / "onnx"


@pytest.mark.parametrize("path", sorted(RULES.glob("*.gsl")), ids=lambda p: p.stem)
def test_their_tests(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gslang.cli.main import main

    assert main(["test", str(path)]) == 0, capsys.readouterr()
    assert " 0 failed" in "".join(capsys.readouterr())


def test_queries_keys_and_values_in_a_model() -> None:
    weights = {name: np.random.default_rng(k).standard_normal((3, 4)).astype(np.float32) for k, name in enumerate("qkv")}
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
    for a, b in zip(ReferenceEvaluator(found).run(None, feeds), ReferenceEvaluator(after).run(None, feeds), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
