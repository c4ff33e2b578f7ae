"""A counterexample is one: `gslc run` gives other numbers on both graphs, and its `test` fails in the rule's
own file.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gslang.api as api
from gslang.cli.main import main
from gslang.evaluate.random_inputs import random_inputs
from gslang.verify.comparison.rounding import lost
from gslang.verify.instances.draw import Search, drawn

FOLDER = Path(__file__).parent / "wrong"
# Both sides can be computed, and differ in values or in shapes.
RUN = [
    ("elementwise", "sub_commutes_wrong"), ("elementwise", "relu_negative_wrong"),
    ("elementwise", "clip_wrong"), ("elementwise", "constant_sum_wrong"), ("layout", "split_swapped_wrong"),
    ("layout", "reshape_transpose_wrong"), ("linear", "conv_relu_wrong"),
    ("linear", "conv_pair_grouped_wrong"), ("linear", "dense_transposed_wrong"),
    ("reduction", "softmax_axis_wrong"), ("normalise", "fold_broadcast_wrong"),
    ("convolution", "pad_pool_wrong"), ("slices", "repeat_wrong"), ("branches", "each_order_wrong"),
    ("branches", "dense_dense_wrong"), ("onnx_elementwise", "onnx_sub_wrong"),
    ("onnx_linear", "onnx_gemm_alpha_wrong"), ("onnx_linear", "onnx_conv_pair_wrong"),
    ("onnx_layout", "onnx_split_wrong"), ("onnx_layout", "onnx_softmax_wrong"),
]
# The twin has a condition more; the graph of the counterexample does not fulfil it.
MENDED = [
    ("elementwise", "zero_unconstrained"), ("elementwise", "one_unconstrained"),
    ("elementwise", "broadcast_lost"), ("linear", "conv_two_groups"), ("linear", "conv_pair_grouped"),
    ("linear", "conv_scale_input"), ("slices", "slice_concat"), ("branches", "mean_concat"),
    ("onnx_elementwise", "onnx_zero"), ("onnx_linear", "onnx_conv_pair"), ("onnx_linear", "onnx_gemm_alpha"),
]


def counterexample(file: str, rule: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["verify", str(FOLDER / f"{file}.gsl"), "--rule", rule, "--format", "json"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert entry["verdict"] == "refuted"
    found = entry["counterexample"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(("file", "rule"), RUN, ids=[rule for _, rule in RUN])
def test_both_graphs_differ_when_they_are_run(
    file: str, rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = counterexample(file, rule, capsys)
    types = {
        node["id"]: node["dtype"] for node in example["source"]["nodes"] if node["kind"] in ("input", "param")
    }
    np.savez(
        tmp_path / "inputs.npz",
        **{name: np.array(value, types[name]) for name, value in example["inputs"].items()},
    )
    results = []
    for side in ("source", "target"):
        graph = tmp_path / f"{side}.json"
        graph.write_text(json.dumps(example[side]))
        assert (
            main([
                "run", str(graph), "--inputs", str(tmp_path / "inputs.npz"), "-o",
                str(tmp_path / f"{side}.npz"),
            ])
            == 0
        )
        with np.load(tmp_path / f"{side}.npz") as values:
            results.append([values[name] for name in values.files])
    left, right = results
    assert len(left) == len(right) > 0
    if example["max_abs"] is None:  # other shapes or types
        assert any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(left, right))
    else:
        gap = max(
            float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))) for a, b in zip(left, right)
        )
        assert gap > 0 and gap == pytest.approx(example["max_abs"], rel=1e-3)


@pytest.mark.parametrize(("file", "rule"), RUN, ids=[rule for _, rule in RUN])
def test_the_pasted_test_fails(
    file: str, rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = counterexample(file, rule, capsys)
    pasted = tmp_path / f"{file}.gsl"
    pasted.write_text((FOLDER / f"{file}.gsl").read_text(encoding="utf-8") + "\n" + example["test"])
    assert main(["check", str(pasted)]) == 0
    assert main(["test", str(pasted), "--rule", rule]) == 1
    assert "times, expected: unchanged" in "".join(capsys.readouterr())


@pytest.mark.parametrize(("file", "rule"), MENDED, ids=[rule for _, rule in MENDED])
def test_the_pasted_test_passes_once_the_rule_is_mended(
    file: str, rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = counterexample(file, f"{rule}_wrong", capsys)
    pasted = tmp_path / f"{file}.gsl"
    pasted.write_text(
        (FOLDER / f"{file}.gsl").read_text(encoding="utf-8") + "\n"
        + example["test"].replace("_wrong", "_right")
    )
    assert main(["test", str(pasted), "--rule", f"{rule}_right"]) == 0
    assert "1 passed" in "".join(capsys.readouterr())


def test_what_is_lost_by_denormal_doubles_alone_is_rounding() -> None:
    """There is no wider type in which they would be numbers like others."""
    rules = api.parse_rules(
        'dialect onnx;\nrule r(x: input(shape = (1,), dtype = "float64"), '
        'y: input(shape = (1,), dtype = "float64"), k: input(shape = (1,), dtype = "float64")): '
        "x * y / k => x * (y / k);"
    )
    found = next(filter(None, (drawn(rules.own["r"], Search(), 0, seed) for seed in range(50))))
    assert found.after is not None
    k, x, y = sorted(random_inputs(found.before, 0))
    words = partial(lost, found.before, found.after, rules.own["r"].dialect)
    assert not words({x: np.array([1e-320]), y: np.array([1.0]), k: np.array([5e-324])})
    assert words({x: np.array([1e-300]), y: np.array([1e200]), k: np.array([1e-200])})
