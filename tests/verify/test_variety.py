"""The order in which instances are compared: none is lost, and what is rare comes early."""

from __future__ import annotations

from math import inf

import pytest

import gslang.api as api
from gslang.dialect.dialect import Dialect
from gslang.verify.instances.draw import Instance, Search, instances
from gslang.verify.variety import DRAWN, _differences, varied, written_ways

RULES = {
    "convolution": "rule t(x, w: var) { c = nn.conv2d(x, w); -c => nn.conv2d(-x, w, c.*) }",
    "reshapes": "rule t(x) { a = reshape(x); b = reshape(a); b => reshape(x, newshape = b.shape) }",
}
WANTED = 12


@pytest.fixture(params=list(RULES))
def drawn(request: pytest.FixtureRequest) -> list[Instance]:
    (rule,) = api.parse_rules(RULES[request.param]).own.values()
    return list(instances(rule, Search(), 0, 20, 200))


def dialect() -> Dialect:
    return api.parse_rules(RULES["reshapes"]).dialect


def test_none_is_lost(drawn: list[Instance]) -> None:
    assert len(drawn) > DRAWN * WANTED // 2
    order = [instance.seed for instance in varied(iter(drawn), WANTED, dialect(), inf)]
    assert sorted(order) == [instance.seed for instance in drawn] != order


def test_more_ways_of_writing_are_seen_early(drawn: list[Instance]) -> None:
    def seen(some: list[Instance]) -> int:
        pairs = set()
        for instance in some:
            ways = written_ways(instance.before, dialect())
            pairs |= {(a, b) for a in ways for b in ways}
        return len(pairs)

    early = list(varied(iter(drawn), WANTED, dialect(), inf))[:WANTED]
    assert seen(early) > seen(drawn[:WANTED])


def test_nothing_waits_when_the_time_is_over(drawn: list[Instance]) -> None:
    first = next(varied(iter(drawn), WANTED, dialect(), 0.0))
    assert first is drawn[0]
    assert len(list(varied(iter(drawn), WANTED, dialect(), 0.0))) == len(drawn)


def test_ways_are_told_apart() -> None:
    (rule,) = api.parse_rules(RULES["reshapes"]).own.values()
    ways = {
        way
        for instance in instances(rule, Search(), 0, 20, 60)
        for way in written_ways(instance.before, rule.dialect)
    }
    assert {
        "reshape 0 newshape zero and negative", "reshape 1 newshape negative", "reshape 1 newshape positive",
    } <= ways


def test_pairs_of_differences_stay_few() -> None:
    """Of an operator with 3,000 attributes all pairs would be 4.5 million texts for each instance."""
    shown = _differences([[f"f {k} {way}" for k in range(3000)] for way in ("default", "zero")])
    assert all(len(own) < 10_000 for own in shown)
    assert "f 0 zero, f 1 zero" in shown[1]
