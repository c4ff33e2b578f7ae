"""Rules that follow from others are looked for with one allowance for a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gslang.base.source import Source
from gslang.check import checked as ir
from gslang.check.check import check_source
from gslang.cli.main import main
from gslang.discover import implied
from gslang.lint.implied_by_others import implied_by_others
from gslang.lint.linted_file import linted_file
from gslang.syntax.parser import parse
from gslang.verify.instances.draw import Instance, Search

RULES = "dialect relay;\n" + "".join(
    f"rule r{k}(a): nn.relu(a * {k}.5) where a.ndim > 99 => a;\n" for k in range(40)
)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The attempts to draw an instance of each rule, none of which succeeds."""
    found: list[int] = []

    def none(
        rule: ir.CheckedRule, search: Search, seed: int, seconds: float, attempts: int
    ) -> Iterator[Instance]:
        found.append(attempts)
        return iter(())

    monkeypatch.setattr(implied, "instances", none)
    return found


def test_rules_without_an_instance_share_their_attempts(made: list[int]) -> None:
    source = Source("r.gsl", RULES)
    file = linted_file(source, parse(source).program, check_source(source))
    assert not list(implied_by_others(file))
    assert len(made) == 40 and made[0] == 120 and made[-1] == 12 and sum(made) < 2000


def test_so_they_do_for_the_verb(made: list[int], tmp_path: Path) -> None:
    rules, others = tmp_path / "r.gsl", tmp_path / "others.gsl"
    rules.write_text(RULES)
    others.write_text("dialect relay;\nrule twice(a): nn.relu(nn.relu(a)) => nn.relu(a);\n")
    assert main(["implied", str(rules), "--by", str(others)]) == 1
    assert len(made) == 40 and made[0] == 240 and made[-1] == 24
