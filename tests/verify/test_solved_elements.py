"""Conditions on the elements of constants are solved, infinite ones too; else the unsolved one is named."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.verdict import Settings, Verdict, verify_now

FLOATS = 'dialect onnx;\nrule r(x: any(dtype = "float32"), c: const(dtype = "float32")) '


def verdict_on(source: str, condition: str, target: str) -> Verdict:
    text = f"{FLOATS} {{ y = {source}; y where c.shape == x.shape, {condition} => {target} }}"
    (rule,) = api.parse_rules(text).own.values()
    return verify_now(rule, Settings(seconds=20, proof_steps=0))


@pytest.mark.parametrize("condition, source, right, wrong", [
    ("min(c.value) == -inf", "Max(x, c)", "Max(c, x)", "x"),
    ("min(c.value) == -inf, max(c.value) == -inf", "Max(x, c)", "x", "c"),
    ("min(c.value) == inf", "Min(x, c)", "x", "c"),
    ("max(c.value) == 3.5", "Max(x, c)", "Max(c, x)", "x"),
    ("any(v == -inf for v in c.value)", "Max(x, c)", "Max(c, x)", "x"),
    ("not any(v < inf for v in c.value)", "Min(x, c)", "x", "c"),
    ("all(v == 0 or v == -inf for v in c.value)", "Max(x, c)", "Max(c, x)", "x"),
    ("any(v == 2.5 for v in c.value), any(v == -inf for v in c.value)", "Max(x, c)", "Max(c, x)", "x"),
])
def test_conditions_on_elements(condition: str, source: str, right: str, wrong: str) -> None:
    accepted, refuted = (verdict_on(source, condition, target) for target in (right, wrong))
    assert accepted.verdict in {"exact", "tested"}, accepted.reason
    assert refuted.verdict == "refuted", refuted.reason


def test_the_condition_without_a_solution_is_named() -> None:
    verdict = verdict_on("Min(x, c)", "sum(v * v for v in c.value) == 3.7", "Min(c, x)")
    assert "`sum(v * v for v in c.value) == 3.7` never held" in verdict.reason
