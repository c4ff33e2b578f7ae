"""Operators that a rule file declares: with a value they verify by it, without one they are unknown
functions.
"""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.verdict import Settings, Verdict, verify_now

DECLARED = """
op my.scale(x: tensor, by: float) -> tensor { shape = x.shape, dtype = x.dtype, value = x * by };
op my.mix(x: tensor, y: tensor, by: float = 1.0) -> tensor { shape = x.shape, dtype = x.dtype };
op my.dense_relu(data: tensor, weight: tensor) -> tensor { value = nn.relu(nn.dense(data, weight)) };
op my.swap(x: tensor) -> tensor { value = transpose(x, axes = [1, 0]) };
op my.mean_of(x: tensor) -> tensor { value = mean(x, axis = [-1], keepdims = true) };
"""


def verdict(rule: str) -> Verdict:
    rules = api.parse_rules(DECLARED + rule)
    assert rules.diagnostics == ()
    return verify_now(rules.own["r"], Settings(seconds=3, wanted=8))


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x) { a = my.scale(x); b = my.scale(a); b => my.scale(x, by = a.by * b.by) }",
        "rule r(x) { a = my.scale(x); a => x * a.by }",
        "rule r(x, w: var): nn.relu(nn.dense(x, w, out_dtype = \"\")) => my.dense_relu(x, w);",
        "rule r(x): my.swap(my.swap(x)) => x;",
        "rule r(x, y: any(shape = x.shape)): my.swap(x) + my.swap(y) => my.swap(x + y);",
        (
            'rule r(x: any(dtype = "float32")) { y = x * 2.0; my.mean_of(y) where y.ndim == x.ndim '
            "=> my.mean_of(x) * 2.0 }"
        ),
    ],
)  # fmt: skip
def test_declared_values_are_used(rule: str) -> None:
    found = verdict(rule)
    assert found.verdict in ("exact", "proved"), found


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x) { a = my.scale(x); b = my.scale(a); b => my.scale(x, by = a.by + b.by) }",
        "rule r(x, w: var): nn.relu(nn.dense(x, w, out_dtype = \"\")) => my.dense_relu(-x, w);",
        "rule r(x): my.swap(x) => x;",
        "rule r(x, y: any(shape = x.shape)): my.swap(x) + y => my.swap(x + y);",
        'rule r(x: any(dtype = "float32")): my.mean_of(x * x) => my.mean_of(x) * my.mean_of(x);',
    ],
)  # fmt: skip
def test_declared_values_refute(rule: str) -> None:
    found = verdict(rule)
    assert found.verdict == "refuted" and found.counterexample is not None, found


def test_without_a_value_equal_operands_give_equal_results() -> None:
    found = verdict("rule r(x, y: any(shape = x.shape)) { m = my.mix(x + y, y); m => my.mix(y + x, y, m.*) }")
    assert found.verdict in ("exact", "proved") and "my.mix" in found.reason


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x, y: any(shape = x.shape)) { m = my.mix(x, y); m => my.mix(y, x, m.*) }",
        "rule r(x, y: any(shape = x.shape)) { m = my.mix(x, y, by = 2.0); m => my.mix(x, y, by = 3.0) }",
        "rule r(x, y: any(shape = x.shape)) { m = my.mix(x, y); m => x }",
    ],
)
def test_without_a_value_nothing_else_is_known(rule: str) -> None:
    found = verdict(rule)
    assert found.verdict == "unknown" and found.counterexample is None, found


def test_a_declared_operator_beside_wrong_arithmetic_is_still_unknown() -> None:
    """The unknown function might make it right: a constant one would."""
    assert (
        verdict(
            "rule r(x, y: any(shape = x.shape)) { m = my.mix(x - y, y); m => my.mix(y - x, y, m.*) }"
        ).verdict
        == "unknown"
    )


def test_onnx_rules_use_declared_values_too() -> None:
    declared = "dialect onnx;\nop my.Scale(x: tensor, by: float) -> tensor { value = Mul(x, by) };\n"
    right = api.parse_rules(
        declared + 'rule r(x: any(dtype = "float32")) { a = my.Scale(x); '
        "Relu(a) where a.by > 0.0 => my.Scale(Relu(x), a.*) }"
    )
    assert right.diagnostics == ()
    assert verify_now(right.own["r"], Settings(seconds=3, wanted=8)).verdict in ("tested", "exact", "proved")
    wrong = api.parse_rules(
        declared + "rule r(x): Relu(my.Scale(x, by = -0.5)) => my.Scale(Relu(x), by = -0.5);"
    )
    assert verify_now(wrong.own["r"], Settings(seconds=3, wanted=8)).verdict == "refuted"
