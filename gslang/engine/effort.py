"""Matching with a limit on the work, for listings of all matches and for the nearest misses.

Where many nodes read one value, each of them may be tried beside each other one: the work is quadratic in
their number, or more. A run applies the first match and goes on; a listing would go through all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from gslang.engine.backtracking import Outcome, Todo
from gslang.engine.machine import Machine
from gslang.engine.program import Climb, MatchProgram
from gslang.engine.scope import Scope
from gslang.engine.spine import goes_down
from gslang.graph.graph import Graph

_PER_STEP = 8  # candidates are gathered in the time of a step


class EffortSpent(Exception):
    """All steps of an `Effort` are taken."""


@dataclass
class Effort:
    """Steps of matching that are left, of `limit`; `stopped`: that something was left out for want of them.
    """

    limit: int
    taken: int = 0
    stopped: bool = False

    @property
    def left(self) -> int:
        return max(0, self.limit - self.taken)

    def spend(self, steps: int) -> None:
        """Raises `EffortSpent` if these are more than are left."""
        self.taken += steps
        if self.taken > self.limit:
            self.stopped = True
            raise EffortSpent


def matches_within(effort: Effort, program: MatchProgram, graph: Graph, start: int) -> Iterator[Scope]:
    """`machine.matches`, which raises `EffortSpent` when it has taken too many steps."""
    if not goes_down(program.spine, graph, start):
        return iter(())
    return _Measured(effort, program, graph, start).scopes()


class _Measured(Machine):
    most_tried = inf  # there is an effort for that

    def __init__(self, effort: Effort, program: MatchProgram, graph: Graph, start: int) -> None:
        super().__init__(program, graph, start)
        self._effort = effort

    def perform(self, step: object, rest: Todo) -> Outcome:
        self._effort.spend(1)
        return super().perform(step, rest)

    def candidates(self, climb: Climb) -> list[int]:
        found = super().candidates(climb)
        self._effort.spend(len(found) // _PER_STEP)
        return found
