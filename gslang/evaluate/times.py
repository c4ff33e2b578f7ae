"""Times of runs: their median and spread, and whether two kinds of runs that took turns differ by more than
noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import NormalDist, median, quantiles
from typing import Final

from gslang.base.quick_dataclass import dataclass

CONFIDENCE: Final = 0.95
"""With which an interval holds the median that endless runs would have."""
_MANY: Final = 500


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each run."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """Between which half of the runs lie."""
        if len(self.seconds) < 2:
            return self.seconds[0], self.seconds[0]
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return low, high

    def report(self) -> dict[str, object]:
        low, high = self.quartiles
        return {
            "median": self.median,
            "quartiles": [low, high],
            "least": min(self.seconds),
            "runs": len(self.seconds),
        }


@dataclass(frozen=True, slots=True)
class Change:
    """Ratio of the time after to the time before. `interval` is a confidence interval of the median; None:
    too few runs.

    `twin`: the same of a second session of what was before, which can differ by nothing but noise.
    """

    ratio: float
    interval: tuple[float, float] | None
    twin: tuple[float, float] | None

    @property
    def more_than_noise(self) -> bool:
        """The interval holds neither 1 nor anything that twins differ by."""
        if self.interval is None or self.twin is None:
            return False
        low, high = self.interval
        return not low <= 1 <= high and (high < self.twin[0] or low > self.twin[1])

    def report(self) -> dict[str, object]:
        bounds = {
            name: None if b is None else [round(n, 4) for n in b]
            for name, b in (("interval", self.interval), ("noise", self.twin))
        }
        return {
            "ratio": round(self.ratio, 4),
            "confidence": CONFIDENCE, **bounds,
            "more_than_noise": self.more_than_noise,
        }


def change(before: Times, twin: Times, after: Times) -> Change:
    """Statistics of three sessions that ran in turn: each round has one run of each."""
    of_after = [a / b for a, b in zip(after.seconds, before.seconds, strict=True)]
    of_twin = [a / b for a, b in zip(twin.seconds, before.seconds, strict=True)]
    return Change(median(of_after), median_interval(of_after), median_interval(of_twin))


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The narrowest interval between two of the values, as many from below as from above, that holds the
    median of what they are drawn from with this confidence, whatever the distribution (the sign test turned
    round); None if there are too few values.
    """
    rank = _rank(len(values), (1 - CONFIDENCE) / 2)
    if rank < 1:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[-rank]


def _rank(n: int, tail: float) -> int:
    """One more than the largest k such that at most k of n fair coins show heads with at most this
    probability: exact, for many coins by the normal distribution."""
    if n > _MANY:
        return int(n / 2 + NormalDist().inv_cdf(tail) * n**0.5 / 2)
    below = rank = 0
    while below + comb(n, rank) <= tail * 2**n:
        below += comb(n, rank)
        rank += 1
    return rank
