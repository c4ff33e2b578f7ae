"""A rule whose target the evaluator has no code for is not judged: what it cannot compute may be right."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.verdict import Settings, verify_now

RULES = {
    "image.resize2d": """dialect relay;
rule r(x): (c := image.resize2d(x, method = "linear")) => image.resize2d(x, c.*, method = "cubic");
""",
    "com.microsoft.Attention": """dialect onnx;
rule r(x, w, b): (a := com.microsoft.Attention(x, w, b, do_rotary = 0)).0
  => com.microsoft.Attention(x, w, b, a.*, do_rotary = 1).0;
""",
}


@pytest.mark.parametrize("operator", RULES)
def test_it_is_unknown(operator: str) -> None:
    verdict = verify_now(api.parse_rules(RULES[operator]).own["r"], Settings())
    assert verdict.verdict == "unknown"
    assert f"`{operator}`" in verdict.reason and "no evaluator is known for it with " in verdict.reason
