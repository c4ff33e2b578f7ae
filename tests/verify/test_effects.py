"""Attributes that a rule's target cannot depend on."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.comparison.effects import unread


@pytest.mark.parametrize(
    "to, eight_bits",
    [('"float32" | "float16"', False), ('"int8"', False), ('"float8e4m3fn" | "float16"', True), ("_", True)],
)
def test_conversions_saturate_to_floats_of_eight_bits(to: str, eight_bits: bool) -> None:
    rule = api.parse_rules(f"dialect onnx;\nrule r(x): Neg(Neg(Cast(x, to = {to}))) => Identity(x);").own["r"]
    assert (("Cast", "saturate") in unread(rule)) is eight_bits
    assert (("Cast", "round_mode") in unread(rule)) is eight_bits
