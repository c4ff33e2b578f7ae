"""Rules with several outputs: terms that one computation yields together."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.api import load
from gslang.cli.main import main
from gslang.discover.enumerate import Equation
from gslang.discover.judge import judge
from gslang.discover.plan import Plan, Question, plan_of
from gslang.discover.several import joint_candidates
from gslang.discover.terms import Tree

OPERATORS = (
    "nn.matmul(transpose_a = false, transpose_b = false), concatenate(axis = 0 | 1), "
    "split(axis = 1, indices_or_sections = (n,))"
)
PRODUCT, ROWS, COLUMNS, FIRST, SECOND = range(5)
INPUTS = "[n, n], [n, n], [n, n]"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(Question("relay", OPERATORS, size=3, inputs=INPUTS, outputs=2))


def parts(a: int, b: int, c: int) -> list[Equation]:
    """The parts of a · (b ‖ c)."""
    whole: Tree = (PRODUCT, a, (COLUMNS, b, c))
    return [
        Equation((FIRST, whole), (PRODUCT, a, b)),
        Equation((SECOND, whole), (PRODUCT, a, c)),
    ]


def test_products_that_share_an_operand(plan: Plan) -> None:
    (found,) = joint_candidates(parts(0, 1, 2), plan.formers, plan.inputs, 2)
    whole = (PRODUCT, 0, (COLUMNS, 1, 2))
    assert found.sources == ((PRODUCT, 0, 1), (PRODUCT, 0, 2))
    assert found.targets == ((FIRST, whole), (SECOND, whole))


def test_names_of_inputs_do_not_matter(plan: Plan) -> None:
    both = [parts(0, 1, 2)[0], parts(2, 0, 1)[1]]
    assert len(joint_candidates(both, plan.formers, plan.inputs, 2)) == 1


def test_outputs_without_a_common_input_are_no_rule(plan: Plan) -> None:
    whole: Tree = (COLUMNS, 0, 1)
    halves = [
        Equation((FIRST, (PRODUCT, whole, whole)), (PRODUCT, 0, 0)),
        Equation((SECOND, (PRODUCT, whole, whole)), (PRODUCT, 1, 1)),
    ]
    assert joint_candidates(halves, plan.formers, plan.inputs, 2) == []


def test_the_target_computes_what_is_shared_once(plan: Plan) -> None:
    (candidate,) = joint_candidates(parts(0, 1, 2), plan.formers, plan.inputs, 2)
    found = judge(candidate, "it", plan.prelude, plan.formers, plan.dialect, "exact")
    assert found is not None and found.verdict in ("exact", "proved")
    assert found.text.count("split(") == 1 and "indices_or_sections = (y.shape[1],)" in found.text
    assert "p2.0, p2.1" in found.text


def test_one_output_is_no_joint_candidate(plan: Plan) -> None:
    assert joint_candidates(parts(0, 1, 2), plan.formers, plan.inputs, 1) == []


@pytest.mark.long
def test_parallel_products_merge(tmp_path: Path) -> None:
    found = tmp_path / "found.gsl"
    arguments = ["--ops", OPERATORS, "--inputs", INPUTS, "--size", "3", "--outputs", "2", "-o", str(found)]
    assert main(["discover", *arguments, "--quiet"]) == 0
    rules = load(found)
    several = [rule for rule in rules.known.values() if len(rule.outputs) > 1]
    assert several and not rules.diagnostics
    assert main(["test", str(found)]) == 0 and main(["lint", str(found)]) == 0
