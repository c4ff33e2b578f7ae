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
