"""`std.onnx` on the models of the `onnx` package: the light networks, and every node test of the backend test
suite.
"""

from __future__ import annotations

import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import gslang

LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data").rglob("light_*.onnx"))


@cache
def rules() -> gslang.Rules:
    return gslang.load("std.onnx")


def applied(model: Any, pass_name: str) -> Any:
    return gslang.to_onnx(rules().apply(gslang.from_onnx(model), pass_name=pass_name).graph)


def count(model: Any) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node if node.op_type != "Constant")


SMALL = ("light_squeezenet", "light_shufflenet", "light_inception_v1")


@pytest.mark.parametrize(
    "path", [p if p.stem in SMALL else pytest.param(p, marks=pytest.mark.long) for p in LIGHT],
    ids=lambda p: p.stem,
)
def test_light_models_shrink_and_stay_valid(path: Path) -> None:
    model = onnx.load(path)
    after = applied(model, "inference")
    onnx.checker.check_model(after, full_check=True)
    assert len(after.graph.node) < len(model.graph.node)  # constants count
    assert after.ir_version == 4 and [v.name for v in after.graph.input] == [
        v.name for v in model.graph.input if v in after.graph.input
    ]
    assert not count(after)["Dropout"] and not count(after)["Unsqueeze"]


@pytest.mark.long
@pytest.mark.parametrize("path", LIGHT, ids=lambda p: p.stem)
def test_light_models_compute_the_same(path: Path) -> None:
    model = onnx.load(path)
    given = {tensor.name for tensor in model.graph.initializer}
    data = next(v for v in model.graph.input if v.name not in given)
    shape = [d.dim_value or 1 for d in data.type.tensor_type.shape.dim]
    feeds = {data.name: np.random.default_rng(0).random(shape, np.float32)}
    after = applied(model, "inference")
    for a, b in zip(
        ReferenceEvaluator(model).run(None, feeds), ReferenceEvaluator(after).run(None, feeds), strict=True
    ):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-5)


@cache
def node_cases() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(collect_testcases(None))


def same(a: Any, b: Any) -> bool:
    """Equal values: tensors, or sequences of them, or nothing."""
    if a is None or b is None:
        return a is b
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "OUS":
        return bool((a.astype(str) == b.astype(str)).all())
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    exact = a.dtype.kind in "biuc"
    return bool(np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True) if exact else np.allclose(
        a.astype(np.float64), b.astype(np.float64), rtol=1e-3, atol=1e-5, equal_nan=True))  # fmt: skip


def outputs_of(model: Any, feeds: dict[str, Any]) -> list[Any] | None:
    """None where the reference evaluator cannot run the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(ReferenceEvaluator(model).run(None, feeds))
        except Exception:  # whatever its operators raise
            return None


@pytest.mark.parametrize("pass_name, share", [
    ("basic", 2), pytest.param("basic", 1, marks=pytest.mark.long),
    pytest.param("transformers", 1, marks=pytest.mark.long),
])
def test_node_tests_keep_their_outputs(pass_name: str, share: int) -> None:
    """A model that changes is valid if it was, runs if it did, and gives the outputs of the test, or those it
    gave before.
    """
    wrong, changed = [], 0
    for case in node_cases()[::share]:
        after = applied(case.model, pass_name)
        if after.SerializeToString(deterministic=True) == case.model.SerializeToString(deterministic=True):
            continue
        changed += 1
        if not _valid(after) and _valid(case.model):
            wrong.append(f"{case.name}: not valid")
        for given, expected in case.data_sets:
            feeds = dict(zip((v.name for v in case.model.graph.input), given, strict=False))
            now = outputs_of(after, feeds)
            if now is not None and same(list(expected), now):
                continue
            before = outputs_of(case.model, feeds)
            if before is not None and (now is None or not same(before, now)):
                wrong.append(f"{case.name}: other outputs")
    assert not wrong and changed > 300 // share


def _valid(model: Any) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True
