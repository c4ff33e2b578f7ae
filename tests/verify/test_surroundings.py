"""Rules whose conditions speak of the graph around the match get verdicts like any others."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.verdict import Settings, verify_now

CONDITIONS = (
    "not is_output(c)", "is_output(c)", "users(c) == 2", "users(c, Neg) == 1",
    "users(c) >= 1 and not is_output(c)",
    "not is_output(c) and users(c, Neg) == 1 and users(c) == 1", "users(c, Neg) == users(c) and users(c) > 0",
)  # fmt: skip


@pytest.mark.parametrize("target, verdict", [("Relu(Relu(x))", "exact"), ("Relu(Neg(x))", "refuted")])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_output_of_the_source(condition: str, target: str, verdict: str) -> None:
    rules = api.parse_rules(f"dialect onnx; rule r(x) {{ c = Relu(x); c where {condition} => {target} }}")
    found = verify_now(rules.own["r"], Settings(wanted=6, proof_steps=0))
    assert found.verdict == verdict or (verdict, found.verdict) == ("exact", "tested"), found.reason
    assert "no instance" not in found.reason


def test_two_outputs_of_which_one_is_read_only() -> None:
    rule = "rule r(x) { c = nn.relu(x); d = tanh(x); c, d where not is_output(c) and is_output(d) => c, d }"
    rules = api.parse_rules(rule.replace("=> c, d", "=> nn.relu(nn.relu(x)), tanh(x)"))
    assert verify_now(rules.own["r"], Settings(wanted=6)).verdict == "proved"
