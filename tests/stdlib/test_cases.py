"""The cases with known results: matches, operator counts before, after and after folding, equal numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.dialect.load import load_dialect
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.evaluate.agree import compare_values
from gslang.evaluate.fold import fold
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.formats.json_reader import read_json
from gslang.graph.compare import count_operators
from gslang.graph.graph import INPUT, PARAM
from tests.shipped import shipped_rules

pytestmark = pytest.mark.usefixtures("code_at_once")

CASES = json.loads((Path(__file__).parent.parent / "cases" / "cases.json").read_text())
RELAY = load_dialect("relay")
OWN_RULE = """
rule pyramid_to_wildcard(x) { e = exp(x); a = abs(x); sqrt(e), e + a, negative(a) => x, x, x }
"""
NAMES = {
    "combine_parallel_dense": "parallel_dense_variadic",
    "combine_parallel_batch_matmul": "parallel_batch_matmul_variadic",
}


def rule_of(case: str) -> Any:
    if case in OWN_RULE:
        return check_source(Source("own.gsl", OWN_RULE)).rules[case]
    name = case.removeprefix("lang_")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("conv2_d", "conv2d")
    return shipped_rules("std.relay")[NAMES.get(name, name)]


def fewer_or_equal(found: dict[str, int], expected: dict[str, int]) -> bool:
    """The same counts, or fewer nodes in all."""
    return found == expected or sum(found.values()) < sum(expected.values())


@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_case(case: dict[str, Any]) -> None:
    expected = case["expected"]
    before = read_json(json.dumps(case["graph"]), case["name"], RELAY)
    if "ops_before" in expected:
        assert count_operators(before) == expected["ops_before"]
    after = before.copy()
    progress = run_to_fixed_point(after, [rule_of(case["name"])], Limits(sweeps=1))
    assert progress.failures == []
    assert progress.applications == expected["matches"]
    assert fewer_or_equal(count_operators(after), expected["ops_after"]), count_operators(after)
    inputs = random_inputs(before, 3)
    agreement = compare_values(evaluate(before, RELAY, inputs), evaluate(after, RELAY, inputs))
    if expected["numerically_equal"]:
        assert agreement.equal, agreement.reason
    for node in list(after.nodes()):  # fold as the case says: everything but the inputs `x…` is known
        name = after.names[node]
        if after.op[node] in (INPUT, PARAM) and name in inputs and not name.startswith("x"):
            after.op[node] = PARAM
            after.values[node] = inputs[name]
    fold(after, RELAY)
    if expected["numerically_equal"]:
        assert compare_values(evaluate(before, RELAY, inputs), evaluate(after, RELAY, inputs)).equal
