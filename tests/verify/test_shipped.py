"""No shipped rule is refuted, none unknown; the manual's page has a verdict on each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gslang.api as api
from gslang.check.module_files import module_names
from gslang.verify.verdict import Settings, verify_now

PAGE = Path(__file__).parent.parent.parent / "docs" / "rules.md"
PACKAGES = ["std.relay", "std.onnx", "std.onnxruntime", "std.discovered"]
QUICK = Settings(seconds=1.5, wanted=3, proof_steps=0)
ACCEPTED = ("tested", "exact", "proved")


def table() -> dict[str, list[str]]:
    """`module.rule` → verdict, error probability, instances, basis, as the manual has them."""
    found: dict[str, list[str]] = {}
    module = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            module = line.removeprefix("## ")
        elif line.startswith("| `"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
            found[f"{module} {cells[0].strip('`')}"] = cells[2:]
    return found


def test_these_are_all_packages() -> None:
    # that one is judged when it is searched with
    assert {name for name in module_names() if name.count(".") == 1} == {*PACKAGES, "std.taso"}


def not_accepted(package: str, part: slice) -> dict[str, str]:
    rules = api.load(package)
    verdicts = {name: verify_now(rules.own[name], QUICK, rules.programs) for name in sorted(rules.own)[part]}
    return {name: v.reason for name, v in verdicts.items() if v.verdict not in ACCEPTED}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_shipped_rule_is_refuted_at_a_glance(package: str) -> None:
    """One in twenty-four of them; `make test-long` looks at them all."""
    assert not_accepted(package, slice(3, None, 24)) == {}


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_no_shipped_rule_is_refuted(package: str) -> None:
    assert not_accepted(package, slice(None)) == {}


def test_the_page_has_every_shipped_rule() -> None:
    rules = [f"{package} {name}" for package in PACKAGES for name in api.load(package).own]
    assert list(table()) == rules
    assert {name: cells[0] for name, cells in table().items() if cells[0] not in ACCEPTED} == {}


def test_two_thirds_are_exact_or_proved() -> None:
    """Of those that claim to be: a rule that is marked as approximate is at most tested, and so is one with
    anything that was not varied.
    """
    claimed = {
        f"{package} {name}"
        for package in PACKAGES
        for name, rule in api.load(package).own.items() if rule.approximate is None
    }
    verdicts = [cells[0] for name, cells in table().items() if name in claimed]
    assert sum(verdict in ("exact", "proved") for verdict in verdicts) >= 2 / 3 * len(verdicts) > 100


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_is_up_to_date(package: str) -> None:
    rules = api.load(package)
    found = {}
    for name, rule in rules.own.items():
        verdict = verify_now(rule, Settings(seconds=600), rules.programs)
        found[f"{package} {name}"] = [verdict.verdict, str(verdict.instances)]
    assert found == {
        name: [cells[0], cells[2]] for name, cells in table().items() if name.startswith(f"{package} ")
    }
