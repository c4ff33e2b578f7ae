"""Case distinctions: a computation is run again and again until every combination of choices was taken.

`Choices.choose` answers with one of several possibilities; the run that ends is continued with the next one. So code that
asks looks like code that knows, and what it finds out holds if every run ends well.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter


class Impossible(Exception):
    """The choices taken contradict each other: there is no such case."""


class NotProved(Exception):
    """A case in which the proof does not succeed, or something that the prover does not know. The message tells."""


class Choices:
    """The choices of one run: first those that are given, then always the first possibility."""

    __slots__ = ("end", "given", "taken")

    def __init__(self, given: list[int], end: float) -> None:
        self.given, self.end = given, end
        self.taken: list[tuple[int, int]] = []  # (choice, possibilities)

    def choose(self, possibilities: int) -> int:
        """A number below `possibilities`."""
        if possibilities <= 1:
            if possibilities == 1:
                return 0
            raise Impossible
        if perf_counter() > self.end:
            raise NotProved("it took too long")
        k = len(self.taken)
        choice = self.given[k] if k < len(self.given) else 0
        self.taken.append((choice, possibilities))
        return choice


def all_cases(run: Callable[[Choices], None], end: float, most: int = 20_000) -> int:
    """Run every case; how many there were. Raises `NotProved` from a case, or where there are more than `most`."""
    given: list[int] = []
    count = 0
    for _ in range(most):
        choices = Choices(given, end)
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
    raise NotProved(f"there are more than {most} cases")
