"""Shipped rules that are proved stay so: each name in `proved_rules.txt`, a sample here and all of them in
`make test-long`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from tests.shipped import shipped_rules

NAMES = [
    tuple(line.split(maxsplit=1))
    for line in (Path(__file__).parent / "proved_rules.txt").read_text(encoding="utf-8").splitlines()
]


def lost(names: list[tuple[str, ...]]) -> dict[str, str]:
    """The rules among these that are not proved any more, and why.

    One that is not shipped any more is none of them.
    """
    found = {}
    for package, name in names:
        rule = shipped_rules(package).get(name)
        try:
            if rule is not None:
                prove(rule)
        except NotProved as error:
            found[f"{package} {name}"] = str(error)
    return found


def test_they_are_shipped() -> None:
    """A few may have been renamed or merged since."""
    assert sum(name in shipped_rules(package) for package, name in NAMES) >= 0.95 * len(NAMES) > 40


def test_some_are_proved() -> None:
    assert lost(NAMES[::16]) == {}


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_all_are_proved(part: int) -> None:
    assert lost(NAMES[part::6]) == {}
