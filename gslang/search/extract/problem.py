"""An extraction problem: e-classes, their e-nodes with costs, and the classes that are wanted.

The cost of a solution is that of a DAG: each class that the roots need is paid for once, however many read
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum

from gslang.base.quick_dataclass import dataclass

Choice = Mapping[int, int]  # class → the e-node that computes it


class Infeasible(Exception):
    """No finite solution. `root` is the class that has none."""

    def __init__(self, root: int) -> None:
        super().__init__(f"class {root} has no finite solution")
        self.root = root


@dataclass(frozen=True, slots=True)
class Problem:
    """E-nodes and classes are numbers. `owner`: e-node → its class; `members`: the inverse; `children`:
    e-node → the distinct classes that it reads; `costs`: of each e-node, finite and not negative; `roots`:
    classes to compute.
    """

    owner: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    children: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]
    roots: tuple[int, ...]

    @property
    def users(self) -> list[list[int]]:
        """For each class the e-nodes that read it."""
        found: list[list[int]] = [[] for _ in self.members]
        for node, below in enumerate(self.children):
            for child in below:
                found[child].append(node)
        return found


@dataclass(frozen=True, slots=True)
class Solution:
    """`choice` holds exactly the classes that the roots need.

    `bound`: no solution costs less (None if not known).
    """

    choice: dict[int, int]
    cost: float
    bound: float | None = None


def make_problem(
    owner: Iterable[int],
    children: Iterable[Iterable[int]],
    costs: Iterable[float],
    roots: Iterable[int],
    classes: int,
) -> Problem:
    """A problem from columns, with children and roots made distinct."""
    owners = tuple(owner)
    members: list[list[int]] = [[] for _ in range(classes)]
    for node, of in enumerate(owners):
        members[of].append(node)
    return Problem(
        owners, tuple(map(tuple, members)), tuple(tuple(dict.fromkeys(c)) for c in children), tuple(costs),
        tuple(dict.fromkeys(roots)),
    )  # fmt: skip


def needed(problem: Problem, choice: Choice, roots: Iterable[int] | None = None) -> list[int]:
    """Classes that the roots need under a choice, each after what it reads.

    Raises `ValueError` on a cycle.
    """
    order: list[int] = []
    state: dict[int, bool] = {}  # False while it is on the way, True when done
    for root in problem.roots if roots is None else roots:
        stack = [root]
        while stack:
            of = stack[-1]
            if state.get(of):
                stack.pop()
                continue
            if of not in state:
                state[of] = False
                for child in problem.children[choice[of]]:
                    if child not in state:
                        stack.append(child)
                    elif not state[child]:
                        raise ValueError(f"the choice needs class {child} to compute itself")
                continue
            state[of] = True
            order.append(of)
            stack.pop()
    return order


def solution(problem: Problem, choice: Choice) -> Solution:
    """The classes that the roots need under a choice, with its cost. Raises `ValueError` if it contains a
    cycle."""
    used = sorted(needed(problem, choice))
    return Solution({of: choice[of] for of in used}, fsum(problem.costs[choice[of]] for of in used))
