"""Rewrites that other projects shipped wrong, as their bug reports tell, each beside its correction.

`NAME_wrong` is refuted, `NAME` is accepted. The comment above a pair names the report.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.verdict import Settings, verify_now

FOLDER = Path(__file__).parent / "reported"
ACCEPTED = {"proved", "exact", "tested"}
SETTINGS = Settings(seconds=60)


@cache
def rules(file: str) -> dict[str, CheckedRule]:
    return api.load(FOLDER / file).own


PAIRS = [
    (file.name, name)
    for file in sorted(FOLDER.glob("*.gsl"))
    for name in re.findall(r"^rule (\w+)_wrong\b", file.read_text(encoding="utf-8"), re.MULTILINE)
]


def judge(file: str, name: str) -> None:
    wrong = verify_now(rules(file)[f"{name}_wrong"], SETTINGS)
    assert wrong.verdict == "refuted", wrong.reason
    right = verify_now(rules(file)[name], SETTINGS)
    assert right.verdict in ACCEPTED, right.reason


@pytest.mark.parametrize("file, name", PAIRS[::48])
def test_some_pairs_are_told_apart(file: str, name: str) -> None:
    judge(file, name)


@pytest.mark.long
@pytest.mark.parametrize("file, name", PAIRS)
def test_all_pairs_are_told_apart(file: str, name: str) -> None:
    judge(file, name)


def test_each_rule_has_its_other() -> None:
    for file in sorted(FOLDER.glob("*.gsl")):
        names = [name for other, name in PAIRS if other == file.name]
        assert set(rules(file.name)) == {*names, *[f"{name}_wrong" for name in names]}
