"""E-nodes that close cycles of classes.

Extraction needs no e-node that lies on a cycle, but may need any other. So that its integer programme stays
small, e-graphs are kept free of cycles as in Tensat (MLSys 2021): e-nodes are taken in order of age, and one
that closes a cycle with older ones is dropped. A class never loses its oldest e-node: what that reads is
older than all e-nodes of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gslang.search.extract.components import strong_components


def closing_cycles(
    operands: Sequence[tuple[int, ...]], members: Mapping[int, list[int]], find: Callable[[int], int]
) -> list[int]:
    """E-nodes to drop, so that no class can be reached from itself."""
    below = {
        of: list(dict.fromkeys(find(o) for n in nodes for o in operands[n] if o >= 0))
        for of, nodes in members.items()
    }
    result = [
        n
        for of, nodes in members.items() if of in below[of]
        for n in nodes if any(o >= 0 and find(o) == of for o in operands[n])
    ]
    own = set(result)
    for component in strong_components(below):
        result += _dropped(component, operands, members, find, own)
    return result


def _dropped(
    component: list[int],
    operands: Sequence[tuple[int, ...]],
    members: Mapping[int, list[int]],
    find: Callable[[int], int],
    own: set[int],
) -> list[int]:
    """Of one strongly connected component, with a topological order kept up to date (Pearce and Kelly 2007).
    """
    inside = set(component)
    edges = sorted(
        (node, of, tuple({find(o): None for o in operands[node] if o >= 0 and find(o) in inside}))
        for of in component
        for node in members[of]
        if node not in own
    )
    rank = {of: k for k, of in enumerate(sorted(component))}
    below: dict[int, set[int]] = {of: set() for of in component}
    above: dict[int, set[int]] = {of: set() for of in component}
    result = []
    for node, of, children in edges:
        added: list[int] = []
        for child in children:
            if child in below[of]:
                continue
            if not _insert(of, child, rank, below, above):
                for other in added:
                    below[of].discard(other)
                    above[other].discard(of)
                result.append(node)
                break
            added.append(child)
    return result


def _insert(
    of: int, child: int, rank: dict[int, int], below: dict[int, set[int]], above: dict[int, set[int]]
) -> bool:
    """Add the edge that `of` reads `child`, which then ranks lower.

    False, and nothing is done, if that closes a cycle.
    """
    if rank[child] > rank[of]:
        down = _reach(child, below, lambda n: rank[n] >= rank[of])
        if of in down:
            return False
        up = _reach(of, above, lambda n: rank[n] <= rank[child])
        ordered = sorted(down, key=rank.__getitem__) + sorted(up, key=rank.__getitem__)
        for vertex, place in zip(ordered, sorted(rank[n] for n in ordered)):
            rank[vertex] = place
    below[of].add(child)
    above[child].add(of)
    return True


def _reach(start: int, edges: dict[int, set[int]], within: Callable[[int], bool]) -> set[int]:
    seen = {start}
    stack = [start]
    while stack:
        for vertex in edges[stack.pop()]:
            if vertex not in seen and within(vertex):
                seen.add(vertex)
                stack.append(vertex)
    return seen
