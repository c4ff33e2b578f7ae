"""Relay's `clip` with bounds in any order: the lower one has the last word, as in TVM."""

from __future__ import annotations

import numpy as np
import pytest

import gslang.api as api
from gslang.dialect.load import load_dialect
from gslang.evaluate.run import evaluate
from gslang.graph.builder import Builder
from gslang.verify.verdict import Settings, verify_now

INNER = "const(value = c.a_min, dtype = \"float32\")"
OUTER = "const(value = c.a_max, dtype = \"float32\")"


@pytest.mark.parametrize("low, high, wanted", [(-1.0, 1.0, [-1, 0.5, 1]), (1.0, -1.0, [1, 1, 1])])
def test_the_lower_bound_has_the_last_word(low: float, high: float, wanted: list[float]) -> None:
    build = Builder(load_dialect("relay"))
    clipped = build.call("clip", build.input("x", (3,), "float32"), a_min=low, a_max=high)
    (found,) = evaluate(build.finish(clipped), build.dialect, {"x": np.float32([-2, 0.5, 2])})
    assert found.tolist() == wanted


@pytest.mark.parametrize(
    "target, verdict",
    [
        (f"maximum(minimum(x, {OUTER}), {INNER})", "proved"),
        (f"minimum(maximum(x, {INNER}), {OUTER})", "refuted"),
    ],
)
def test_the_order_of_both_limits_matters(target: str, verdict: str) -> None:
    rule = f'rule r(x: any(dtype = "float32")) {{ c = clip(x); c => {target} }}'
    assert verify_now(api.parse_rules(rule).own["r"], Settings(seconds=20)).verdict == verdict


def test_of_bounds_in_order_it_does_not() -> None:
    target = f"minimum(maximum(x, {INNER}), {OUTER})"
    rule = f'rule r(x: any(dtype = "float32")) {{ c = clip(x); c where c.a_min <= c.a_max => {target} }}'
    assert verify_now(api.parse_rules(rule).own["r"], Settings(seconds=20)).verdict == "proved"
