"""Case distinctions: a computation is run again and again until every combination of choices was taken.

`Choices.choose` answers with one of several possibilities; the run that ends is continued with the next one.
So code that asks looks like code that knows, and what it finds out holds if every run ends well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count, takewhile
from math import prod
from typing import Any, Final, Protocol

from gslang.base.deadline import Deadline
from gslang.verify.recheck.check import IMPOSSIBLE

_UNWATCHED: Final = 100  # steps between two looks at the clock
_BEFORE_JUDGED: Final = 0.25  # share of the steps after which the pace is looked at
_LEAST_PACE: Final = 0.5  # share of the cases by that of the steps; in proofs it is about 1
FACTS: Final = 500_000  # inequalities that are put in order: proofs of shipped rules take up to 445,000


SIZES, CONDITION, OPERATOR, TYPES, DOMAIN = IMPOSSIBLE


class Impossible(Exception):
    """The choices taken contradict each other: there is no such case.

    `why`: one of the reasons of certificates (`recheck.check.IMPOSSIBLE`). `sizes`: of contradicting sizes,
    those that would have to be at least 0, beside all that is known.
    """

    def __init__(self, why: str, *sizes: Any) -> None:
        super().__init__(why)
        self.why, self.sizes = why, sizes


class NotProved(Exception):
    """A case in which the proof does not succeed, or something that the prover does not know.

    The message tells.
    """


class Unsupported(NotProved):
    """A call of the source whose meaning is not known, or not in a case. `operator`: which one it calls."""

    def __init__(self, operator: str, reason: str) -> None:
        super().__init__(reason)
        self.operator = operator


class TooMuch(NotProved):
    """A proof takes more work than it may."""


class OutOfTime(TooMuch):
    """A proof takes more time than it may."""


class Budget:
    """The work that is left. Counted in steps, not in seconds, so that the same proofs are found on every
    machine; only a machine on which the steps take far longer than usual comes to the deadline (`until`).

    `facts`: the inequalities that may still be put in order, where many are known and change with each case.
    `patient`: what seems not to come to an end with these steps is gone on with all the same. `numbers`: for
    what has no name of its own in a proof, the same in each run of the program.
    """

    __slots__ = ("compared", "facts", "left", "look", "numbers", "patient", "until", "withheld")

    def __init__(self, left: int, until: Deadline | None = None, facts: int = FACTS) -> None:
        self.left, self.until, self.facts = left, until, facts
        self.patient = False
        self.numbers = count(1)
        self.look = left  # when to look at the clock next
        self.withheld = 0
        self.compared: dict[object, bool] = {}  # comparisons bit by bit, of all cases

    def withhold(self, most: int) -> None:
        """Leave at most so many steps, until `release`."""
        self.withheld += max(self.left - most, 0)
        self.left = min(self.left, most)

    def release(self) -> int:
        """Give back the steps that were withheld; how many are left then."""
        self.left, self.withheld = self.left + self.withheld, 0
        self.look = self.left
        return self.left

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises `TooMuch` when there are none left, or no time."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch("the proof takes too many steps")
        if self.left < self.look:
            self.look = self.left - _UNWATCHED
            self.watch()

    def put_in_order(self, facts: int) -> None:
        """Take so many inequalities. Raises `TooMuch` when there are none left."""
        self.facts -= facts
        if self.facts < 0:
            raise TooMuch("the proof compares too many inequalities")

    def watch(self) -> None:
        """Look at the clock. Raises `OutOfTime`."""
        if self.until is not None and self.until.passed:
            raise OutOfTime("the proof takes too long")


class Memory(Protocol):
    """Answers of the runs before (`journal.Journal`)."""

    def begin(self, choices: int) -> None:
        """A run begins whose first choices, but for the last of them, are those of the run before."""

    def mark(self, taken: int) -> None:
        """A choice is made; `taken`: the number of those before it."""

    def ask(
        self, choices: Choices, name: str, arguments: tuple[object, ...], compute: Callable[[], Any]
    ) -> Any:
        """The answer to a question, from the run before where it has asked the same at this place."""


class Choices:
    """The choices of one run: first those that are given, then always the first possibility.

    `memory`: of the runs before, None where each run asks anew. `assuming`: a comparison of numbers that is
    open holds. `floats_only`: cases of whole numbers, which come after those of real ones, are not looked at.
    `known`: how many of the given choices lead where an earlier run has been. `later`: where
    choices that were given only some of their possibilities go on with the next one.
    """

    __slots__ = (
        "assuming", "bounds", "budget", "fixed", "floats_only", "given", "known", "later", "memory", "taken",
    )  # fmt: skip

    def __init__(
        self, given: Sequence[int], budget: Budget, memory: Memory | None = None, known: int | None = None
    ) -> None:
        self.given, self.budget, self.memory = given, budget, memory
        self.known = len(given) if known is None else known
        self.later: dict[tuple[int, ...], float] = {}
        self.assuming = False
        self.floats_only = False
        self.taken: list[tuple[int, int]] = []  # (choice, possibilities)
        # what conditions on real numbers said: terms that are at least 0, or above it
        self.bounds: list[tuple[Any, bool]] = []
        self.fixed: dict[str, Any] = {}  # an element of a constant → the number that a condition says it is

    def spend(self, steps: int = 1) -> None:
        """Take steps of the budget, unless the run before has done the same."""
        if self.memory is None or len(self.taken) >= self.known:
            self.budget.spend(steps)

    def recalled(self, name: str, argument: object, compute: Callable[[], bool]) -> bool:
        """The answer to a question: that of the run before where it asked the same at this place."""
        return compute() if self.memory is None else bool(self.memory.ask(self, name, (argument,), compute))

    def decide(self) -> bool:
        """True if what is open holds: a case each, unless it is assumed."""
        return self.assuming or self.choose(2) == 0

    def choose(self, possibilities: int) -> int:
        """A number below `possibilities`."""
        if possibilities <= 1:
            if possibilities == 1:
                return 0
            raise Impossible(DOMAIN)
        return self._taken(possibilities)

    def choose_kind(self, possibilities: int) -> int:
        """The same of kinds of numbers, real ones first."""
        if possibilities <= 1 or not self.floats_only:
            return self.choose(possibilities)
        k = len(self.taken)
        is_first = k >= len(self.given) or not self.given[k]
        return self._taken(1 if is_first else possibilities)

    def choose_some(self, possibilities: int, more: bool) -> int:
        """The same of the first possibilities; with `more`, others are left for later."""
        k = len(self.taken)
        if more and k >= len(self.given) - 1:
            start = [choice for choice, _ in self.taken] + [max(possibilities, 0)]
            self.later[tuple(start)] = 1 / prod(count for _, count in self.taken)
        if (self.given[k] if k < len(self.given) else 0) >= possibilities:
            raise Impossible(DOMAIN)
        return self._taken(possibilities)

    def _taken(self, possibilities: int) -> int:
        self.spend()
        k = len(self.taken)
        if self.memory is not None:
            self.memory.mark(k)
        choice = self.given[k] if k < len(self.given) else 0
        self.taken.append((choice, possibilities))
        return choice


FROM_THE_FIRST: Final[Mapping[tuple[int, ...], float]] = {(): 1.0}


def all_cases(
    run: Callable[[Choices], None], budget: Budget, memory: Memory | None = None,
    starts: Mapping[tuple[int, ...], float] = FROM_THE_FIRST,
) -> dict[tuple[int, ...], float]:
    """Run every case that begins with one of `starts`, or goes on from there with a later possibility of its
    last choice; returns where choices with more possibilities (`Choices.choose_some`) go on, to start there.
    Raises `NotProved` from a case, `TooMuch` where the budget does not suffice, or would not at the pace so
    far: what the budget has is then left for another way.

    `memory`: for what a run may use of the one before. `starts`: in the order of cases, none inside another,
    each with the share of all cases that it may have.
    """
    later: dict[tuple[int, ...], float] = {}
    before: list[tuple[int, int]] = []
    most, done, whole = budget.left, 0.0, sum(starts.values())
    for start, weight in starts.items():
        given: Sequence[int] = start
        first = max(len(start) - 1, 0)  # the choices before it are those of all its cases
        known = min(_alike(start, before), len(start))
        while True:
            choices = Choices(given, budget, memory, known)
            budget.spend(10)
            if memory is not None:
                memory.begin(known)
            try:
                run(choices)
            except Impossible:
                pass
            later.update(choices.later)
            before, taken = choices.taken, list(choices.taken)
            while len(taken) > first and taken[-1][0] + 1 >= taken[-1][1]:
                taken.pop()
            if len(taken) <= first:
                break
            given = [choice for choice, _ in taken]
            given[-1] += 1
            known = len(given)
            spent = (most - budget.left) / most
            share = (done + weight * _share_before(given[first:], taken[first:])) / whole
            if spent > _BEFORE_JUDGED and share < _LEAST_PACE * spent and not budget.patient:
                raise TooMuch("the proof has too many cases")
        done += weight
    return dict(sorted(later.items()))


def _alike(start: Sequence[int], taken: list[tuple[int, int]]) -> int:
    """The number of choices that lead a run that starts so to where one that ended took another one."""
    pairs = zip(start, taken)
    return min(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1][0], pairs)) + 1, len(taken))


def _share_before(given: list[int], taken: list[tuple[int, int]]) -> float:
    """The share of the cases before a run with the given choices, if each possibility leads to as many
    (Knuth, "Estimating the efficiency of backtrack programs", 1975).
    """
    share, each = 0.0, 1.0
    for choice, (_, possibilities) in zip(given, taken):
        each /= possibilities
        share += choice * each
    return share
