"""Rules that are wrong are refuted, their correct twins are not.

Each file of `wrong/` has one theme; each wrong rule's comment states the mistake, and the rule of the same name behind it is right.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.evaluate.run import EvaluationError, evaluate
from gslang.formats.json_graph import read_json
from gslang.verify.verdict import Settings, Verdict, verify_now

FOLDER = Path(__file__).parent / "wrong"
RULES = {name: rule for path in sorted(FOLDER.glob("*.gsl")) for name, rule in api.load(path).own.items()}
WRONG = {name: rule for name, rule in RULES.items() if name.endswith("_wrong")}
RIGHT = {name: rule for name, rule in RULES.items() if name.endswith("_right")}
SETTINGS = Settings(seconds=5)
QUICK = Settings(seconds=5, wanted=6, proof_steps=0)


@pytest.fixture(scope="module")
def refuted() -> dict[str, Verdict]:
    return {name: verify_now(rule, SETTINGS) for name, rule in WRONG.items()}


def test_every_wrong_rule_has_a_twin_and_states_its_mistake() -> None:
    assert len(WRONG) >= 200 and len(WRONG) + len(RIGHT) == len(RULES)
    assert {name.removesuffix("_wrong") for name in WRONG} == {name.removesuffix("_right") for name in RIGHT}
    assert [name for name, rule in WRONG.items() if not rule.doc] == []


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_refuted(name: str, refuted: dict[str, Verdict]) -> None:
    verdict = refuted[name]
    assert verdict.verdict == "refuted", verdict
    assert verdict.counterexample is not None


@pytest.mark.parametrize("name, rule", RIGHT.items(), ids=list(RIGHT))
def test_correct_twins_are_accepted(name: str, rule: CheckedRule) -> None:
    verdict = verify_now(rule, QUICK)
    assert verdict.verdict in ("tested", "exact", "proved"), verdict


def test_half_of_them_take_less_than_a_second(refuted: dict[str, Verdict]) -> None:
    times = sorted(verdict.seconds for verdict in refuted.values())
    assert times[len(times) // 2] < 1


def test_counterexamples_differ_when_they_are_run(refuted: dict[str, Verdict]) -> None:
    """Both graphs, read back from JSON, give different numbers for the inputs that are shown, or only the source gives any."""
    seen = 0
    for name, verdict in refuted.items():
        example = verdict.counterexample
        assert example is not None
        if example.target is None or not example.inputs:
            continue
        dialect = WRONG[name].dialect
        source, target = read_json(example.source, name, dialect), read_json(example.target, name, dialect)
        dtypes = {source.names[n]: source.types[n].dtype for n in source.nodes() if source.names[n] in example.inputs}
        inputs = {key: np.array(value, dtypes[key]) for key, value in example.inputs.items()}
        with np.errstate(all="ignore"):
            left = evaluate(source, dialect, inputs)
            try:
                right = evaluate(target, dialect, inputs)
            except EvaluationError:
                assert "the target cannot be computed" in verdict.reason, name
                continue
        assert not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(left, right)), name
        seen += 1
    assert seen >= 120


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_other_seeds_say_the_same(seed: int) -> None:
    settings = Settings(seconds=10, seed=seed)
    assert [name for name, rule in WRONG.items() if verify_now(rule, settings).verdict != "refuted"] == []
    assert [name for name, rule in RIGHT.items() if verify_now(rule, settings).verdict in ("refuted", "unknown")] == []
