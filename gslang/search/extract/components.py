"""Strongly connected classes, connected rows, and a cycle of a choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gslang.base.reachable import reachable
from gslang.search.extract.problem import Choice, Problem


def strong_components(successors: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The strongly connected components with more than one member (Tarjan 1972), each after those that it
    reaches.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    waiting: set[int] = set()  # members of `path`
    found = []
    for start in successors:
        if start in number:
            continue
        stack = [(start, iter(successors[start]))]
        number[start] = low[start] = len(number)
        path.append(start)
        waiting.add(start)
        while stack:
            vertex, rest = stack[-1]
            for below in rest:
                if below not in number:
                    number[below] = low[below] = len(number)
                    path.append(below)
                    waiting.add(below)
                    stack.append((below, iter(successors.get(below, ()))))
                    break
                if below in waiting:
                    low[vertex] = min(low[vertex], number[below])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[vertex])
                if low[vertex] == number[vertex]:
                    at = path.index(vertex) if path[-1] != vertex else len(path) - 1
                    component = path[at:]
                    del path[at:]
                    waiting.difference_update(component)
                    if len(component) > 1:
                        found.append(component)
    return found


def connected(count: int, groups: Iterable[Iterable[int]]) -> list[list[int]]:
    """0 … count - 1 in sets, so that each of `groups` lies within one; in order of their smallest members."""
    leader = list(range(count))

    def find(item: int) -> int:
        while leader[item] != item:
            leader[item] = leader[leader[item]]
            item = leader[item]
        return item

    for group in groups:
        items = iter(group)
        for first in items:
            for other in items:
                a, b = find(first), find(other)
                leader[max(a, b)] = min(a, b)
    sets: dict[int, list[int]] = {}
    for item in range(count):
        sets.setdefault(find(item), []).append(item)
    return list(sets.values())


def cycles(problem: Problem, choice: Choice) -> list[list[int]]:
    """Shortest cycles of classes among what the roots need, one for each strongly connected part of it."""
    needed = reachable(problem.roots, lambda of: problem.children[choice[of]])
    below = {of: problem.children[choice[of]] for of in needed}
    return [_shortest_cycle(below, set(component)) for component in strong_components(below)]


def _shortest_cycle(below: Mapping[int, Sequence[int]], inside: set[int]) -> list[int]:
    """The shortest of the cycles through any of (at most 50) members, breadth first."""
    best: list[int] = []
    for start in sorted(inside)[:50]:
        came: dict[int, int] = {}
        layer = [start]
        while layer and start not in came:
            following = []
            for vertex in layer:
                for child in below[vertex]:
                    if child in inside and child not in came:
                        came[child] = vertex
                        following.append(child)
            layer = following
        cycle, vertex = [start], came[start]
        while vertex != start:
            cycle.append(vertex)
            vertex = came[vertex]
        if not best or len(cycle) < len(best):
            best = cycle[:1] + cycle[:0:-1]
    return best
