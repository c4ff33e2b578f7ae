"""Rules that are wrong are refuted, their correct twins are not.

Each file of `wrong/` has one theme; each wrong rule's comment states the mistake, and the rule of the same
name behind it is right.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gslang.check.checked import CheckedRule
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.formats.json_reader import read_json
from gslang.verify.verdict import Settings, Verdict, verify_now
from tests.shipped import rule_names, rules_in

FOLDER = Path(__file__).parent / "wrong"
FILES = sorted(FOLDER.glob("*.gsl"))
NAMES = rule_names(*FILES)
WRONG = [name for name in NAMES if name.endswith("_wrong")]
RIGHT = [name for name in NAMES if name.endswith("_right")]


def each_third(names: list[str]) -> list[object]:
    """Of each theme some: the others are left to `make test-long`."""
    return [
        name if k % 3 == 0 else pytest.param(name, marks=pytest.mark.long) for k, name in enumerate(names)
    ]


def rule_of(name: str) -> CheckedRule:
    return rules_in(*FILES)[name]


SETTINGS = Settings(seconds=5)
QUICK = Settings(seconds=5, wanted=6, proof_steps=0)


@cache
def refutation(name: str) -> Verdict:
    return verify_now(rule_of(name), SETTINGS)


def test_every_wrong_rule_has_a_twin_and_states_its_mistake() -> None:
    assert len(WRONG) >= 200 and len(WRONG) + len(RIGHT) == len(rules_in(*FILES))
    assert {name.removesuffix("_wrong") for name in WRONG} == {name.removesuffix("_right") for name in RIGHT}
    assert [name for name in WRONG if not rule_of(name).doc] == []


@pytest.mark.parametrize("name", each_third(WRONG))
def test_wrong_rules_are_refuted(name: str) -> None:
    """And the counterexample is one: both graphs, read back from JSON, give different numbers for the inputs
    that are shown, or only the source gives any.
    """
    verdict = refutation(name)
    assert verdict.verdict == "refuted", verdict
    assert is_computed(verdict) is not False


def is_computed(verdict: Verdict) -> bool | None:
    """True if both graphs of a counterexample give numbers and these differ; None if one gives none."""
    example = verdict.counterexample
    assert example is not None
    if example.target is None or not example.inputs:
        return None
    name = verdict.rule
    dialect = rule_of(name).dialect
    source, target = read_json(example.source, name, dialect), read_json(example.target, name, dialect)
    dtypes = {
        source.names[n]: source.types[n].dtype for n in source.nodes() if source.names[n] in example.inputs
    }
    inputs = {key: np.array(value, dtypes[key]) for key, value in example.inputs.items()}
    with np.errstate(all="ignore"):
        left = evaluate(source, dialect, inputs)
        try:
            right = evaluate(target, dialect, inputs)
        except EvaluationError:
            assert "the target cannot be computed" in verdict.reason, name
            return None
    return not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(left, right))


@pytest.mark.parametrize("name", each_third(RIGHT))
def test_correct_twins_are_accepted(name: str) -> None:
    verdict = verify_now(rule_of(name), QUICK)
    assert verdict.verdict in ("tested", "exact", "proved"), verdict


def test_half_of_them_need_few_instances_and_most_show_numbers() -> None:
    some = [refutation(name) for name in WRONG[::9]]
    assert sorted(verdict.instances for verdict in some)[len(some) // 2] <= 8
    assert sum(is_computed(verdict) is True for verdict in some) >= len(some) / 2


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_other_seeds_say_the_same(seed: int) -> None:
    settings = Settings(seconds=10, seed=seed)
    assert [name for name in WRONG if verify_now(rule_of(name), settings).verdict != "refuted"] == []
    assert [
        name for name in RIGHT if verify_now(rule_of(name), settings).verdict in ("refuted", "unknown")
    ] == []
