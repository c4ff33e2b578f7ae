"""Targets that depend on which optional inputs are there: laid down at once, and as the readable engine
builds them.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import gslang
from gslang.check.checked import CheckedRule
from gslang.engine.fixed_point import Limits
from gslang.engine.generate import source_of
from gslang.engine.lower import program_of
from gslang.graph.graph import Graph
from tests.engine.test_two_engines import both_ways

RULES = """
dialect onnx;

## Both optional inputs decide what is made: one is passed on, one chooses the operator.
rule fold_scale(x, w: fixed, b: any?, low: any?, k: const) {
    c = Conv(x, w, b);
    Clip(c * k, low)
  =>
    s = Reshape(k, const(value = [1] * w.ndim, dtype = "int64"));
    d = Conv(x, w * s, b, c.*);
    Relu(d) if low == none and not (b == none) else Clip(d, low)
}
"""
SHARED = """
dialect onnx;

## What one choice may have made already is not made again behind it.
rule squares(x, w: fixed, b: any?, k: const) {
    c = Conv(x, w, b);
    c * k
  =>
    s = k * k;
    t = (-s if c.group == 2 else s) + (s if b == none else Abs(s));
    Conv(x, w, b, c.*) * t
}
"""
LAYERS = 6


@pytest.fixture(scope="module")
def rule(tmp_path_factory: pytest.TempPathFactory) -> CheckedRule:
    path = tmp_path_factory.mktemp("rules") / "rules.gsl"
    Path(path).write_text(RULES)
    return gslang.load(path).known["fold_scale"]


def network(with_bias: bool, with_limit: bool) -> Graph:
    """Scaled convolutions behind each other; the fourth has a bias in any case."""
    onnx = pytest.importorskip("onnx")
    import numpy as np

    make, nodes, before = onnx.helper.make_node, [], "x"
    for k in range(LAYERS):
        nodes += [
            make("Conv", [before, "w", *["b"] * (with_bias or k == 3)], [f"c{k}"]),
            make("Mul", [f"c{k}", "half"], [f"m{k}"]),
            make("Clip", [f"m{k}", *["low"] * with_limit], [f"y{k}"]),
        ]
        before = f"y{k}"
    weights = {"w": np.ones((2, 2, 1, 1)), "b": np.ones(2), "half": np.full((), 0.5), "low": np.zeros(())}
    tensors = [onnx.numpy_helper.from_array(v.astype(np.float32), name) for name, v in weights.items()]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "g", [value("x", 1, [1, 2, 4, 4])], [value(before, 1, [1, 2, 4, 4])], tensors
    )
    return gslang.from_onnx(
        onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    )


@pytest.mark.parametrize(("with_bias", "with_limit"), list(product((False, True), repeat=2)))
def test_optional_inputs(rule: CheckedRule, with_bias: bool, with_limit: bool) -> None:
    graph, counts = both_ways(network(with_bias, with_limit), [rule])
    assert counts[0][3] == LAYERS
    assert graph.count('"Relu"') == (0 if with_limit else LAYERS if with_bias else 1)


@pytest.mark.parametrize("with_bias", [False, True])
def test_what_is_shared_is_made_once(with_bias: bool, tmp_path: Path) -> None:
    path = tmp_path / "rules.gsl"
    path.write_text(SHARED)
    _, counts = both_ways(
        network(with_bias, False), [gslang.load(path).known["squares"]], Limits(applications=3)
    )
    assert counts[0][3] == 3


def test_each_way_is_laid_down_from_a_stamp(rule: CheckedRule) -> None:
    assert source_of(program_of(rule), "rewrite")[0].count("if stamp is None:") == 4
