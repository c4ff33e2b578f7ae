"""Proofs for all shapes: what must be proved, and that nothing wrong is."""

from __future__ import annotations

from pathlib import Path

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.prove.paths import NotProved
from gslang.verify.prove.prove import prove

FOLDER = Path(__file__).parent / "wrong"
WRONG = {
    f"{path.stem}: {name}": rule for path in sorted(FOLDER.glob("*.gsl")) for name, rule in api.load(path).own.items() if name.endswith("_wrong")
}


def proved(text: str) -> bool:
    (rule,) = api.parse_rules(text).own.values()
    try:
        prove(rule)
    except NotProved:
        return False
    return True


def test_there_are_wrong_rules() -> None:
    assert len(WRONG) >= 90


@pytest.mark.parametrize("rule", WRONG.values(), ids=list(WRONG))
def test_no_wrong_rule_is_proved(rule: CheckedRule) -> None:
    with pytest.raises(NotProved):
        prove(rule, 3_000)


@pytest.mark.long
@pytest.mark.parametrize("rule", WRONG.values(), ids=list(WRONG))
def test_no_wrong_rule_is_proved_with_time(rule: CheckedRule) -> None:
    with pytest.raises(NotProved):
        prove(rule, 300_000)


@pytest.mark.parametrize(
    "text",
    [
        "rule t(x): nn.relu(nn.relu(x)) => nn.relu(x);",
        "rule t(x): maximum(x, x) => x;",
        "rule t(x): nn.relu(x) * 2.0 => nn.relu(x * 2.0);",
        "rule t(x): abs(nn.relu(x)) => nn.relu(x);",
        "rule t(x): exp(x) * exp(x) => exp(x * 2.0);",
        "rule t(x): sqrt(x) * sqrt(x) => x;",
        "rule t(x): log(exp(x)) => x;",
        "rule t(x: any(shape = (_, _))): transpose(transpose(x, axes = none), axes = none) => x;",
        "rule t(x, y: any(dtype = x.dtype)) { concatenate((x, y), axis = 0) => concatenate((x, y), axis = -x.ndim) }",
    ],
)
def test_right_rules_are_proved(text: str) -> None:
    assert proved(text)


@pytest.mark.parametrize(
    "text",
    [
        "rule t(x): nn.relu(x) * -2.0 => nn.relu(x * -2.0);",
        "rule t(x): maximum(x, 0.0) => x;",
        "rule t(x): exp(x) * exp(x) => exp(x);",
        "rule t(x: any(shape = (_, _))): transpose(transpose(x, axes = none), axes = [0, 1]) => x;",
        "rule t(x, y): concatenate((x, y), axis = 0) => concatenate((y, x), axis = 0);",
        "rule t(x, y: any(dtype = x.dtype)): x + y => y;",
    ],
)
def test_wrong_rules_are_not(text: str) -> None:
    assert not proved(text)
