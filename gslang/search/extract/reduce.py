"""Reductions that keep an optimal solution: what remains is what an exact method has to decide.

`must` of a class are the classes that each of its finite derivations contains, as bit sets. With them, an
e-node that needs its own class cannot stand in a solution, one that costs no less than another and needs all
that the other reads is not wanted, and classes that the roots must contain hold nothing together: who reads
them pays nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.search.extract.problem import Problem


@dataclass(frozen=True, slots=True)
class Reduced:
    """`nodes`: class → the e-nodes to choose from, for all classes that may be needed; `needs`: e-node → what
    every derivation with it contains, as a bit set; `forced`: classes that every solution contains.
    """

    nodes: dict[int, list[int]]
    needs: dict[int, int]
    forced: frozenset[int]


def reduce_problem(problem: Problem, among: Iterable[int] | None = None) -> Reduced:
    """The e-nodes worth looking at, of all or of some. The roots must have finite solutions with them."""
    alive = _derivable(problem) if among is None else set(among)
    nodes = {of: [n for n in members if n in alive] for of, members in enumerate(problem.members)}
    nodes = _reachable(problem, nodes)
    while True:
        must = _must(problem, nodes)
        forced = _union(must, problem.roots)
        fewer = _reachable(
            problem, {of: _wanted(problem, of, members, must) for of, members in nodes.items()}
        )
        if sum(map(len, fewer.values())) == sum(map(len, nodes.values())):
            needs = {n: _union(must, problem.children[n]) for members in fewer.values() for n in members}
            return Reduced(fewer, needs, frozenset(of for of in fewer if forced >> of & 1))
        nodes = fewer


def _derivable(problem: Problem) -> set[int]:
    """E-nodes all of whose children have finite derivations."""
    missing = [len(below) for below in problem.children]
    users = problem.users
    done, found = set(), set()
    stack = [node for node, count in enumerate(missing) if not count]
    while stack:
        node = stack.pop()
        found.add(node)
        of = problem.owner[node]
        if of not in done:
            done.add(of)
            for user in users[of]:
                missing[user] -= 1
                if not missing[user]:
                    stack.append(user)
    return found


def _reachable(problem: Problem, nodes: dict[int, list[int]]) -> dict[int, list[int]]:
    children = problem.children
    found = reachable(problem.roots, lambda of: [child for node in nodes[of] for child in children[node]])
    return {of: nodes[of] for of in found}


def _union(must: dict[int, int], classes: tuple[int, ...]) -> int:
    result = 0
    for of in classes:
        result |= must[of] | 1 << of
    return result


def _must(problem: Problem, nodes: dict[int, list[int]]) -> dict[int, int]:
    """The greatest solution of must(c) = ⋂ over e-nodes n of c of ⋃ over children d of n of must(d) ∪ {d}."""
    users: dict[int, dict[int, None]] = {of: {} for of in nodes}
    for of, members in nodes.items():
        for node in members:
            for child in problem.children[node]:
                users[child][of] = None
    everything = (1 << len(problem.members)) - 1
    must = dict.fromkeys(nodes, everything)
    waiting = deque(reversed(nodes))
    queued = set(waiting)
    while waiting:
        of = waiting.popleft()
        queued.discard(of)
        found = everything
        for node in nodes[of]:
            found &= _union(must, problem.children[node])
        if found != must[of]:
            must[of] = found
            for user in users[of]:
                if user not in queued:
                    queued.add(user)
                    waiting.append(user)
    return must


def _wanted(problem: Problem, of: int, members: list[int], must: dict[int, int]) -> list[int]:
    """The e-nodes of a class that do not need the class itself and are not dominated by another."""
    below = {node: _union(must, problem.children[node]) for node in members}
    usable = [node for node in members if not below[node] >> of & 1]
    usable.sort(key=lambda node: (problem.costs[node], len(problem.children[node])))
    kept: list[int] = []
    for node in usable:
        needs = below[node]
        if not any(all(needs >> child & 1 for child in problem.children[other]) for other in kept):
            kept.append(node)
    return kept
