"""Times of runs: medians, spread, and what is more than noise; with a clock that the tests move."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import pytest

from gslang.evaluate.times import Times, change, median_interval


def noisy(seed: int, level: float, rounds: int = 101) -> Times:
    drawn = random.Random(seed)
    return Times(tuple(level * (1 + abs(drawn.gauss(0, 0.05))) for _ in range(rounds)))


def test_median_and_quartiles() -> None:
    found = Times((4.0, 1.0, 2.0, 3.0, 100.0))
    assert found.median == 3.0 and found.quartiles == (2.0, 4.0)
    assert found.report() == {"median": 3.0, "quartiles": [2.0, 4.0], "least": 1.0, "runs": 5}
    assert Times((2.0,)).quartiles == (2.0, 2.0)


def test_the_interval_of_the_median_has_the_ranks_of_the_sign_test() -> None:
    assert median_interval([float(n) for n in range(5)]) is None
    assert median_interval([float(n) for n in range(6)]) == (0.0, 5.0)
    # ranks in every table for n = 20, 95 %
    assert median_interval([float(n) for n in range(1, 21)]) == (6.0, 15.0)
    low, high = median_interval([float(n) for n in range(10_000)]) or (0, 0)
    assert 4890 < low < 4910 and 5090 < high < 5110


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    drawn = random.Random(0)
    held = 0
    for _ in range(2000):
        low, high = median_interval([drawn.expovariate(1) for _ in range(25)]) or (0, 0)
        held += low <= 0.6931 <= high
    assert held >= 1900


def test_the_same_twice_is_noise() -> None:
    assert not change(noisy(1, 1.0), noisy(2, 1.0), noisy(3, 1.0)).more_than_noise


@pytest.mark.parametrize("level", [0.8, 0.95, 1.05, 1.3])
def test_what_differs_is_more(level: float) -> None:
    found = change(noisy(1, 1.0), noisy(2, 1.0), noisy(3, level))
    assert found.more_than_noise and abs(found.ratio - level) < 0.03


def test_a_difference_that_twins_have_too_is_noise() -> None:
    assert not change(noisy(1, 1.0), noisy(2, 0.9), noisy(3, 0.9)).more_than_noise


def test_too_few_rounds_prove_nothing() -> None:
    found = change(Times((1.0,) * 5), Times((1.0,) * 5), Times((2.0,) * 5))
    assert found.interval is None and not found.more_than_noise and found.report()["interval"] is None


def test_runs_take_turns_and_each_begins_a_round() -> None:
    from gslang.formats.onnx.latency import Setting, _take_turns

    ticks, told = count(), []

    def one(name: str) -> Any:
        return lambda: told.append(name)

    found = _take_turns(
        [one("a"), one("b"), one("c")], Setting(warm_up=1, rounds=3), lambda: float(next(ticks))
    )
    assert "".join(told) == "abc" + "abc" + "bca" + "cab"
    assert [len(times.seconds) for times in found] == [3, 3, 3]


def test_the_budget_ends_the_rounds_but_not_below_the_least() -> None:
    from gslang.formats.onnx.latency import LEAST_ROUNDS, Setting, _take_turns

    ticks = count()
    (found,) = _take_turns([lambda: None], Setting(seconds=1.0), lambda: float(next(ticks)))
    assert len(found.seconds) == LEAST_ROUNDS
    ticks = count()
    (found,) = _take_turns([lambda: None], Setting(seconds=300.0), lambda: float(next(ticks)))
    assert LEAST_ROUNDS < len(found.seconds) < 110
