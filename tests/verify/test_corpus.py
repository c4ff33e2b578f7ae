"""Rules that are wrong are refuted, their correct twins are not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.evaluate.run import evaluate
from gslang.formats.json_graph import read_json
from gslang.verify.verdict import Settings, Verdict, verify_now

FOLDER = Path(__file__).parent / "wrong"
RULES = {name: rule for path in sorted(FOLDER.glob("*.gsl")) for name, rule in api.load(path).own.items()}
WRONG = {name: rule for name, rule in RULES.items() if name.endswith("_wrong")}
RIGHT = {name: rule for name, rule in RULES.items() if name.endswith("_right")}
SETTINGS = Settings(seconds=5)


@pytest.fixture(scope="module")
def refuted() -> dict[str, Verdict]:
    return {name: verify_now(rule, SETTINGS) for name, rule in WRONG.items()}


def test_every_wrong_rule_has_a_twin() -> None:
    assert len(WRONG) >= 200
    assert {name.removesuffix("_wrong") for name in WRONG} == {name.removesuffix("_right") for name in RIGHT}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_refuted(name: str, refuted: dict[str, Verdict]) -> None:
    verdict = refuted[name]
    assert verdict.verdict == "refuted", verdict
    assert verdict.counterexample is not None


@pytest.mark.parametrize("name, rule", RIGHT.items(), ids=list(RIGHT))
def test_correct_twins_are_accepted(name: str, rule: CheckedRule) -> None:
    verdict = verify_now(rule, SETTINGS)
    assert verdict.verdict in ("exact", "tested", "proved"), verdict


def test_half_of_them_take_less_than_a_second(refuted: dict[str, Verdict]) -> None:
    times = sorted(verdict.seconds for verdict in refuted.values())
    assert times[len(times) // 2] < 1


def test_counterexamples_differ_when_they_are_run(refuted: dict[str, Verdict]) -> None:
    """Both graphs, read back from JSON, give different numbers for the inputs that are shown."""
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
            left, right = evaluate(source, dialect, inputs), evaluate(target, dialect, inputs)
        assert not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(left, right)), name
        seen += 1
    assert seen >= 50


def test_a_counterexample_pasted_as_a_test_fails(refuted: dict[str, Verdict]) -> None:
    from gslang.testing import run_tests

    for name in ("sub_commutes_wrong", "softmax_axis_wrong", "split_swapped_wrong", "conv_relu_wrong"):
        example = refuted[name].counterexample
        assert example is not None
        path = next(p for p in FOLDER.glob("*.gsl") if name in p.read_text(encoding="utf-8"))
        rules = api.parse_rules(path.read_text(encoding="utf-8") + "\n" + example.test)
        assert not run_tests(rules.programs[0])[0].passed, name


def test_json_of_a_verdict(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from gslang.cli.main import main

    assert main(["verify", str(FOLDER / "elementwise.gsl"), "--rule", "sub_commutes_wrong", "--rule", "sub_commutes_right", "--format", "json"]) == 1
    bad, good = json.loads(capsys.readouterr().out)["rules"]
    assert (bad["verdict"], good["verdict"]) in (("refuted", "exact"), ("refuted", "proved"))
    assert bad["counterexample"]["max_abs"] > 0 and bad["counterexample"]["source"] != bad["counterexample"]["target"]
    assert good["bound"] <= 1e-15 and good["instances"] >= 10 and good["counterexample"] is None
    assert set(bad) == {"rule", "verdict", "bound", "instances", "seconds", "coverage", "reason", "counterexample"}


@pytest.mark.parametrize("kind", ["text", "sarif", "junit", "markdown"])
def test_other_formats_name_the_rule(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    from gslang.cli.main import main

    assert main(["verify", str(FOLDER / "elementwise.gsl"), "--rule", "sub_commutes_wrong", "--format", kind]) == 1
    assert "sub_commutes_wrong" in capsys.readouterr().out
