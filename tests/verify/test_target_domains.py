"""Attributes that a target computes have values that their operator has."""

from __future__ import annotations

import gslang.api as api
from gslang.verify.verdict import Settings, verify_now

RULE = """dialect onnx;
rule again(x, s: const(shape = (_,))) { r = Resize(x, none, s); r where x.ndim == 4, s.shape == (4,)
  => Resize(x, none, s, r.*, exclude_outside = VALUE) }
"""


def test_a_value_that_is_none_of_those_declared_refutes() -> None:
    (rule,) = api.parse_rules(RULE.replace("VALUE", "-r.exclude_outside")).own.values()
    found = verify_now(rule, Settings(seconds=60, proof_steps=0))
    assert found.verdict == "refuted"
    assert "`exclude_outside` of `Resize` would be -1, but its declared values are 0 | 1" in found.reason


def test_a_value_that_is_declared_does_not() -> None:
    (rule,) = api.parse_rules(RULE.replace("VALUE", "r.exclude_outside")).own.values()
    assert verify_now(rule, Settings(seconds=60, proof_steps=0)).verdict != "refuted"
