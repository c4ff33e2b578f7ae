"""Case distinctions: a computation is run again and again until every combination of choices was taken.

`Choices.choose` answers with one of several possibilities; the run that ends is continued with the next one.
So code that asks looks like code that knows, and what it finds out holds if every run ends well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Impossible(Exception):
    """The choices taken contradict each other: there is no such case."""


class NotProved(Exception):
    """A case in which the proof does not succeed, or something that the prover does not know.

    The message tells.
    """


class TooMuch(NotProved):
    """A proof takes more work than it may."""


class Budget:
    """The work that is left. Counted in steps, not in seconds, so that the same proofs are found on every
    machine."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises `TooMuch` when there are none left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch("it takes too many steps")


class Choices:
    """The choices of one run: first those that are given, then always the first possibility."""

    __slots__ = ("bounds", "budget", "given", "taken")

    def __init__(self, given: list[int], budget: Budget) -> None:
        self.given, self.budget = given, budget
        self.taken: list[tuple[int, int]] = []  # (choice, possibilities)
        # what conditions on real numbers said: terms that are at least 0, or above it
        self.bounds: list[tuple[Any, bool]] = []

    def choose(self, possibilities: int) -> int:
        """A number below `possibilities`."""
        if possibilities <= 1:
            if possibilities == 1:
                return 0
            raise Impossible
        self.budget.spend()
        k = len(self.taken)
        choice = self.given[k] if k < len(self.given) else 0
        self.taken.append((choice, possibilities))
        return choice


def all_cases(run: Callable[[Choices], None], budget: Budget) -> int:
    """Run every case; how many there were.

    Raises `NotProved` from a case, `TooMuch` where the budget does not suffice.
    """
    given: list[int] = []
    count = 0
    while True:
        choices = Choices(given, budget)
        budget.spend(5)
        try:
            run(choices)
            count += 1
        except Impossible:
            pass
        taken = choices.taken
        while taken and taken[-1][0] + 1 >= taken[-1][1]:
            taken.pop()
        if not taken:
            return count
        given = [choice for choice, _ in taken]
        given[-1] += 1
