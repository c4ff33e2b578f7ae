"""Targets that no operator takes, although the prime field or the inference of types lets them pass."""

from __future__ import annotations

import gslang.api as api
from gslang.verify.verdict import Settings, Verdict, verify_now


def verdict_on(rule: str) -> Verdict:
    (checked,) = api.parse_rules(f"dialect onnx;\n{rule}").own.values()
    return verify_now(checked, Settings(seconds=20))


def test_a_bias_that_the_field_broadcasts() -> None:
    verdict = verdict_on(
        "rule scalar_bias(x, w: fixed, k: fixed) {"
        " c = Conv(x, w); c + k where k.ndim == 0"
        ' => Conv(x, w, Reshape(k, const(value = [-1], dtype = "int64")), c.*) }'
    )
    assert verdict.verdict == "refuted" and "a bias of [1] does not broadcast" in verdict.reason


def test_floats_of_two_types_where_the_source_converts_them() -> None:
    verdict = verdict_on(
        "rule skipped(x: any(shape = (_, _, _)), y: any(shape = (_, _, _)), g: any(shape = (_,)), b) {"
        '  n = LayerNormalization(Cast(x, to = "float32") + y, g, b, axis = -1, stash_type = 1);'
        "  n.0 where x.shape == y.shape, g.shape[0] == x.shape[2], b.shape == g.shape"
        " => com.microsoft.SkipLayerNormalization(x, y, g, b, epsilon = n.epsilon).0 }"
    )
    assert verdict.verdict == "refuted"
    assert "operands of `com.microsoft.SkipLayerNormalization` are float" in verdict.reason
