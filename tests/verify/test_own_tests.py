"""Rules for which no instance can be drawn: their own tests are instances, and what is near them."""

from __future__ import annotations

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.verify.evidence import Settings
from gslang.verify.verdict import Verdict, verify_now

POOL = """dialect onnx;
rule mean_of_all(x) {
    p = AveragePool(x);
    p where p.shape[2:] == [1] * (x.ndim - 2), p.kernel_shape == x.shape[2:], p.pads == none
  =>
    GlobalAveragePool(x)FACTOR
}
test "three channels" for mean_of_all {
    x: input float32[2, 3, 4, 4];
    AveragePool(x, kernel_shape = [4, 4])
  =>
    GlobalAveragePool(x)TESTED
}
"""
LONELY = """dialect relay;
rule lonely(x) { exp(x) where sum(d * d for d in x.shape) == 170 => exp(TARGET) }
test "one shape" for lonely {
    x: input float32[7, 11];
    exp(x)
  =>
    exp(TARGET)
}
"""


def judged(text: str) -> Verdict:
    program = check_source(Source("r.gsl", text))
    assert program.ok, [d.message for d in program.diagnostics]
    (rule,) = program.rules.values()
    return verify_now(rule, Settings(seconds=4.0, proof_steps=0), [program])


def test_other_sizes_than_the_tests_show_the_defect() -> None:
    wrong = POOL.replace("FACTOR", " * const(value = x.shape[1] / 3, dtype = x.dtype)").replace(
        "TESTED", " * 1.0"
    )
    verdict = judged(wrong)
    assert verdict.verdict == "refuted" and verdict.counterexample is not None
    assert "[2, 3, 4, 4]" not in verdict.counterexample.test


def test_other_sizes_than_the_tests_agree() -> None:
    verdict = judged(POOL.replace("FACTOR", "").replace("TESTED", ""))
    assert verdict.instances > 3
    assert verdict.verdict == "exact" or verdict.verdict == "tested" and "not varied" in verdict.reason


@pytest.mark.parametrize("target, expected", [("x + 0.0", "tested"), ("x * 2.0", "refuted")])
def test_own_tests_alone_are_not_exact(target: str, expected: str) -> None:
    verdict = judged(LONELY.replace("TARGET", target))
    assert verdict.verdict == expected
    if expected == "tested":
        assert verdict.reason.startswith("only on its own tests") and verdict.instances == 1
