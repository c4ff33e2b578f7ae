"""Greedy extraction over the DAG: bottom up, each class takes the e-node whose whole sub-graph costs least.

The costs of what two children share are counted once (as extraction-gym's `greedy-dag`), but a class does not
see what others in the graph need: `improve` looks at that.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from math import inf
from typing import Final

from gslang.search.extract.problem import Infeasible, Problem, Solution, needed, solution

_WORK: Final = 10_000_000  # classes in sub-graphs that are looked at: seconds


def greedy(problem: Problem) -> Solution:
    """A solution without cycles. Raises `Infeasible` for a root that has none."""
    return solution(problem, cheapest_below(problem))


def cheapest_below(problem: Problem) -> dict[int, int]:
    """For each class that has a finite solution the e-node of the cheapest sub-graph found, all of them
    together acyclic.

    Raises `Infeasible` for a root that has none.
    """
    users = problem.users
    choice: dict[int, int] = {}
    totals: list[float] = [inf] * len(problem.members)
    # class → what its sub-graph holds: class → cost of its e-node
    parts: list[dict[int, float]] = [{}] * len(problem.members)
    waiting = deque(node for node, below in enumerate(problem.children) if not below)
    queued = set(waiting)
    work = 0
    while waiting:
        node = waiting.popleft()
        queued.discard(node)
        of, below = problem.owner[node], problem.children[node]
        if any(child not in choice for child in below):
            continue
        part = _sub_graph(problem, node, parts, of, totals[of])
        if part is None:
            continue
        work += len(part)
        if work > _WORK:  # deep and large
            return _rooted(problem, least_shares(problem))
        total = sum(part.values())
        if total < totals[of] - 1e-12 * abs(total):
            choice[of], totals[of], parts[of] = node, total, part
            for user in users[of]:
                if user not in queued:
                    queued.add(user)
                    waiting.append(user)
    return _acyclic(problem, _rooted(problem, choice))


def _sub_graph(
    problem: Problem, node: int, parts: list[dict[int, float]], of: int, limit: float
) -> dict[int, float] | None:
    """The classes that an e-node needs, itself included, or None: it needs its own class, or cannot be
    cheaper than `limit`."""
    below, own = problem.children[node], problem.costs[node]
    if not below:
        return {of: own}
    largest = max(below, key=lambda child: len(parts[child]))
    if own + sum(parts[largest].values()) > limit:
        return None
    part = dict(parts[largest])
    for child in below:
        if child != largest:
            part.update(parts[child])
    if of in part:
        return None
    part[of] = own
    return part


def _rooted(problem: Problem, choice: dict[int, int]) -> dict[int, int]:
    for root in problem.roots:
        if root not in choice:
            raise Infeasible(root)
    return choice


def _acyclic(problem: Problem, choice: dict[int, int]) -> dict[int, int]:
    """The same choice, unless later changes below closed a cycle."""
    try:
        needed(problem, choice, choice)
        return choice
    except ValueError:
        return least_shares(problem)


def least_shares(problem: Problem) -> dict[int, int]:
    """A choice in almost linear time, always acyclic: classes are settled cheapest first, as in Dijkstra's
    algorithm over and-or graphs (Knuth 1977), where each reader of a class bears its share of the cost ("area
    flow" in logic synthesis).
    """
    users = problem.users
    missing = [len(below) for below in problem.children]
    readers = [max(1, len({problem.owner[user] for user in reading})) for reading in users]
    shares = [0.0] * len(problem.owner)
    heap = sorted((problem.costs[node], node) for node, count in enumerate(missing) if not count)
    choice: dict[int, int] = {}
    while heap:
        total, node = heappop(heap)
        of = problem.owner[node]
        if of in choice:
            continue
        choice[of] = node
        for user in users[of]:
            missing[user] -= 1
            shares[user] += total / readers[of]
            if not missing[user]:
                heappush(heap, (shares[user] + problem.costs[user], user))
    return choice
