"""Rules that follow from others are looked for with one allowance for a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gslang.base.source import Source
from gslang.check import checked as ir
from gslang.check.check import check_source
from gslang.discover import implied
from gslang.lint.implied_by_others import implied_by_others
from gslang.lint.linted_file import linted_file
from gslang.syntax.parser import parse
from gslang.verify.instances import Instance, Search


def test_rules_without_an_instance_share_their_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def none(
        rule: ir.CheckedRule, search: Search, seed: int, seconds: float, attempts: int
    ) -> Iterator[Instance]:
        made.append(attempts)
        return iter(())

    monkeypatch.setattr(implied, "instances", none)
    rules = "".join(f"rule r{k}(a): nn.relu(a * {k}.5) where a.ndim > 99 => a;\n" for k in range(40))
    source = Source("r.gsl", f"dialect relay;\n{rules}")
    file = linted_file(source, parse(source).program, check_source(source))
    assert not list(implied_by_others(file))
    assert len(made) == 40 and made[0] == 120 and made[-1] == 12 and sum(made) < 2000
