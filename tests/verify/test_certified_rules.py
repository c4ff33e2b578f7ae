"""Certificates of shipped rules are accepted: here of those in `certified_rules.txt`, whose proofs are short;
`make certificates` checks all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shipped import shipped_rules
from tests.verify.test_certificates import checked_again, untried

NAMES = [
    tuple(line.split(maxsplit=1))
    for line in (Path(__file__).parent / "certified_rules.txt").read_text(encoding="utf-8").splitlines()
]
PARTS = 4


def test_they_are_shipped() -> None:
    """A few may have been renamed or merged since."""
    assert sum(name in shipped_rules(package) for package, name in NAMES) >= 0.95 * len(NAMES) > 90


@pytest.mark.parametrize("part", range(PARTS))
def test_certificates_are_accepted(part: int) -> None:
    for package, name in NAMES[part::PARTS]:
        if name in shipped_rules(package):
            checked = checked_again(package, name)
            assert checked is not None, f"{name} is not proved"
            assert untried(checked) <= checked.counts["cases"] / 4, name
