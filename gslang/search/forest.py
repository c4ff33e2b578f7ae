"""The unions of an e-graph as a forest whose edges have reasons (Nieuwenhuis and Oliveras 2007)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Why = TypeVar("Why")


class Forest(Generic[Why]):
    """`edges`: e-node → the next one on the way to its tree's root, and why both are equal; None is
    congruence. `turned`: a reason read the other way.
    """

    def __init__(self, turned: Callable[[Why], Why] = lambda why: why) -> None:
        self.edges: dict[int, tuple[int, Why | None]] = {}
        self._turned = turned

    def join(self, a: int, b: int, why: Why | None) -> None:
        """Add an edge from `a`'s tree to `b`'s, turning `a`'s round so that `a` is its root."""
        node, edge = a, (b, why)
        while True:
            before = self.edges.get(node)
            self.edges[node] = edge
            if before is None:
                return
            upper, reason = before
            node, edge = upper, (node, None if reason is None else self._turned(reason))

    def path(self, a: int, b: int) -> tuple[list[tuple[int, int, Why | None]], ...]:
        """The edges (lower, upper, why) between two equal nodes: from `a` up to where both ways meet, and
        from `b` up to there.
        """
        up, node = [], a
        while node != b and node in self.edges:
            upper, why = self.edges[node]
            up.append((node, upper, why))
            node = upper
        places = {a: 0, **{upper: k for k, (_, upper, _) in enumerate(up, 1)}}
        down, node = [], b
        while node not in places:
            upper, why = self.edges[node]
            down.append((node, upper, why))
            node = upper
        return up[: places[node]], down
