"""Case distinctions: a computation is run again and again until every combination of choices was taken.

`Choices.choose` answers with one of several possibilities; the run that ends is continued with the next one.
So code that asks looks like code that knows, and what it finds out holds if every run ends well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gslang.base.deadline import Deadline

_UNWATCHED: Final = 20  # steps between two looks at the clock


class Impossible(Exception):
    """The choices taken contradict each other: there is no such case."""


class NotProved(Exception):
    """A case in which the proof does not succeed, or something that the prover does not know.

    The message tells.
    """


class TooMuch(NotProved):
    """A proof takes more work than it may."""


class OutOfTime(TooMuch):
    """A proof takes more time than it may."""


class Budget:
    """The work that is left. Counted in steps, not in seconds, so that the same proofs are found on every
    machine; only a machine on which the steps take far longer than usual comes to the deadline (`until`).
    """

    __slots__ = ("left", "look", "until")

    def __init__(self, left: int, until: Deadline | None = None) -> None:
        self.left, self.until = left, until
        self.look = left  # when to look at the clock next

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises `TooMuch` when there are none left, or no time."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch("it takes too many steps")
        if self.left < self.look:
            self.look = self.left - _UNWATCHED
            self.watch()

    def watch(self) -> None:
        """Look at the clock. Raises `OutOfTime`."""
        if self.until is not None and self.until.passed:
            raise OutOfTime("it takes too long")


class Answers:
    """Answers that a run found, for the next run, which is the same up to the choice in which they differ.

    `found`: (question, answer) in the order of asking; `marks`: how many there were before each choice.
    """

    __slots__ = ("found", "marks")

    def __init__(self) -> None:
        self.found: list[tuple[str, bool]] = []
        self.marks: list[int] = []

    def keep(self, choices: int) -> None:
        """Forget what was found after the first `choices` choices."""
        if choices < len(self.marks):
            del self.found[self.marks[choices] :]
            del self.marks[choices:]


class Choices:
    """The choices of one run: first those that are given, then always the first possibility.

    `answers`: of the run before, None where each run asks anew.
    """

    __slots__ = ("answers", "asked", "bounds", "budget", "fixed", "given", "taken")

    def __init__(self, given: list[int], budget: Budget, answers: Answers | None = None) -> None:
        self.given, self.budget, self.answers = given, budget, answers
        self.asked = 0
        self.taken: list[tuple[int, int]] = []  # (choice, possibilities)
        # what conditions on real numbers said: terms that are at least 0, or above it
        self.bounds: list[tuple[Any, bool]] = []
        self.fixed: dict[str, Any] = {}  # an element of a constant → the number that a condition says it is

    def spend(self, steps: int = 1) -> None:
        """Take steps of the budget, unless the run before has done the same."""
        if self.answers is None or len(self.taken) >= len(self.given):
            self.budget.spend(steps)

    def recalled(self, question: str, answer: Callable[[], bool]) -> bool:
        """The answer to a question: that of the run before where it asked the same at this place."""
        known = self.answers
        if known is None:
            return answer()
        if self.asked < len(known.found):
            asked, result = known.found[self.asked]
            if asked == question:
                self.asked += 1
                return result
            raise NotProved("two runs with the same choices ask different questions")
        result = answer()
        known.found.append((question, result))
        self.asked = len(known.found)
        return result

    def choose(self, possibilities: int) -> int:
        """A number below `possibilities`."""
        if possibilities <= 1:
            if possibilities == 1:
                return 0
            raise Impossible
        self.spend()
        k = len(self.taken)
        if self.answers is not None and k == len(self.answers.marks):
            self.answers.marks.append(len(self.answers.found))
        choice = self.given[k] if k < len(self.given) else 0
        self.taken.append((choice, possibilities))
        return choice


def all_cases(run: Callable[[Choices], None], budget: Budget, anew: bool = False) -> int:
    """Run every case; how many there were. Raises `NotProved` from a case, `TooMuch` where the budget does
    not suffice.

    `anew`: no run uses what the one before has found.
    """
    given: list[int] = []
    answers = None if anew else Answers()
    count = 0
    while True:
        choices = Choices(given, budget, answers)
        budget.spend(10)
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
        if answers is not None:
            answers.keep(len(given) - 1)
