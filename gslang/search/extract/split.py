"""Independent parts of a problem: classes that every solution contains and nothing leads around cut it.

In a network such classes are the values between layers. What lies above one does not depend on how it is
made, so parts are solved one by one, and the time grows with the number of parts rather than with powers of
the whole. Classes that cost nothing from inputs and weights on are everybody's leaves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from math import fsum

from gslang.search.extract.problem import Infeasible, Problem, Solution, make_problem, needed


def in_parts(problem: Problem, solve: Callable[[Problem], Solution]) -> Solution:
    """The solutions of the parts together; of the whole problem if it has cycles or cannot be cut.

    Raises what `solve` raises for the whole problem.
    """
    try:
        return _in_parts(problem, solve)
    except Infeasible:  # of a part, whose numbers mean nothing outside
        return solve(problem)


def _in_parts(problem: Problem, solve: Callable[[Problem], Solution]) -> Solution:
    free = _free(problem)
    order = _order(problem, free)
    if order is None:
        return solve(problem)
    parts = _parts(problem, order, free)
    if len(parts) < 2:
        return solve(problem)
    choice, bounds = dict(free), list[float | None]()
    leaf = None
    for part in parts:
        own, numbers = _sub_problem(problem, part, free, leaf)
        found = solve(own)
        nodes = _nodes_of(problem, part)
        choice.update((numbers[of], nodes[node]) for of, node in found.choice.items() if of < len(part))
        bounds.append(found.bound)
        leaf = part[-1]
    used = sorted(needed(problem, choice))
    cost = fsum(problem.costs[choice[of]] for of in used)
    known = [bound for bound in bounds if bound is not None]
    bound = fsum(known) if len(known) == len(bounds) else None
    return Solution({of: choice[of] for of in used}, cost, bound if bound is None else min(bound, cost))


def _free(problem: Problem) -> dict[int, int]:
    """Classes that can be made for nothing, each with an e-node of the shortest derivation."""
    missing = [len(below) for below in problem.children]
    users = problem.users
    waiting = deque(n for n, count in enumerate(missing) if not count and not problem.costs[n])
    found: dict[int, int] = {}
    while waiting:
        node = waiting.popleft()
        of = problem.owner[node]
        if of in found:
            continue
        found[of] = node
        for user in users[of]:
            missing[user] -= 1
            if not missing[user] and not problem.costs[user]:
                waiting.append(user)
    return found


def _order(problem: Problem, free: Collection[int]) -> list[int] | None:
    """The other classes that roots may need, each after what it may read, as near as possible to its readers;
    None if there are cycles.
    """
    below: dict[int, list[int]] = {}
    stack = list(problem.roots)
    while stack:
        of = stack.pop()
        if of not in below and of not in free:
            reads = (child for node in problem.members[of] for child in problem.children[node])
            below[of] = [child for child in dict.fromkeys(reads) if child not in free]
            stack += below[of]
    readers = dict.fromkeys(below, 0)
    for children in below.values():
        for child in children:
            readers[child] += 1
    waiting = deque(of for of, count in readers.items() if not count)
    downward: list[int] = []
    level = dict.fromkeys(below, 0)
    while waiting:
        of = waiting.popleft()
        downward.append(of)
        for child in below[of]:
            level[child] = max(level[child], level[of] + 1)
            readers[child] -= 1
            if not readers[child]:
                waiting.append(child)
    if len(downward) < len(below):
        return None
    height: dict[int, int] = {}
    for of in reversed(downward):
        height[of] = max((height[child] + 1 for child in below[of]), default=0)
    return sorted(below, key=lambda of: (-level[of], -height[of], of))


def _parts(problem: Problem, order: Sequence[int], free: Collection[int]) -> list[list[int]]:
    """The order in pieces that end with a class that the pieces above read, and nothing else below."""
    place = {of: k for k, of in enumerate(order)}
    highest = list(range(len(order)))  # the last reader of each class
    for of in order:
        for node in problem.members[of]:
            for child in problem.children[node]:
                if child in place:
                    highest[place[child]] = max(highest[place[child]], place[of])
    ends, over = [], -1
    for k in range(len(order) - 1):
        if over <= k:
            ends.append(k)
        over = max(over, highest[k])
    pieces = [list(order[a + 1 : b + 1]) for a, b in zip([-1, *ends], [*ends, len(order) - 1])]
    roots = set(problem.roots)
    parts: list[list[int]] = []
    above: list[int] = []
    for k in range(len(pieces) - 1, -1, -1):
        above = pieces[k] + above
        wanted = [of for of in above if of in roots] + ([above[-1]] if parts else [])
        if k == 0 or _is_contained(problem, above, free, pieces[k - 1][-1], wanted):
            parts.append(above)
            above = []
    return parts[::-1]


def _is_contained(
    problem: Problem, part: Sequence[int], free: Collection[int], leaf: int, wanted: Sequence[int]
) -> bool:
    """True if some of the wanted classes cannot be made without the leaf. `part` is in order."""
    made = set[int]()
    for of in part:
        if any(
            all(child in made or child in free for child in problem.children[node])
            for node in problem.members[of]
        ):
            made.add(of)
    return leaf not in made and not made.issuperset(wanted)


def _nodes_of(problem: Problem, part: Sequence[int]) -> list[int]:
    """The e-nodes of a part, by their numbers in its sub-problem."""
    return [node for of in part for node in problem.members[of]]


def _sub_problem(
    problem: Problem, part: Sequence[int], free: Collection[int], leaf: int | None
) -> tuple[Problem, list[int]]:
    """The problem of making the last class of a part, and roots that are in it, with `leaf` given; and the
    classes of the whole problem by their numbers in it.
    """
    numbers = list(part) if leaf is None else [*part, leaf]
    number = {of: k for k, of in enumerate(numbers)}
    nodes = _nodes_of(problem, part)
    owner = [number[problem.owner[node]] for node in nodes]
    children = [
        [number[child] for child in problem.children[node] if child not in free] for node in nodes
    ]
    costs = [problem.costs[node] for node in nodes]
    if leaf is not None:
        owner, children, costs = [*owner, number[leaf]], [*children, []], [*costs, 0.0]
    roots = [number[root] for root in problem.roots if root in number and root != leaf]
    return make_problem(owner, children, costs, [*roots, len(part) - 1], len(numbers)), numbers
