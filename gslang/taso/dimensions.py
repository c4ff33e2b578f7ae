"""Sizes of dimensions as whole-number sums of unknowns, and systems of equations between them.

An unknown is one dimension of one input of a rule. A system keeps each equation solved for its last unknown,
so that an input's shape is said in terms of inputs before it. Not here: which equations an operator asks for
(`shapes`).
"""

from __future__ import annotations

from dataclasses import field

from gslang.base.quick_dataclass import dataclass

WHOLE = -1  # as an axis: the whole shape of an input whose rank is open
Unknown = tuple[int, int]  # position of the input in the order of matching, axis


@dataclass(frozen=True, slots=True)
class Size:
    """The sum of `count · unknown` over `terms` (sorted, no zero counts), plus `constant`."""

    terms: tuple[tuple[Unknown, int], ...] = ()
    constant: int = 0

    def plus(self, other: Size, times: int = 1) -> Size:
        counts = dict(self.terms)
        for unknown, count in other.terms:
            counts[unknown] = counts.get(unknown, 0) + times * count
        return Size(
            tuple(sorted((u, c) for u, c in counts.items() if c)), self.constant + times * other.constant
        )

    def minus(self, other: Size) -> Size:
        return self.plus(other, -1)


def unknown(position: int, axis: int) -> Size:
    return Size((((position, axis), 1),))


@dataclass(slots=True)
class System:
    """`solved`: the last unknown of each equation, by others that are not solved.

    `unsolved`: what must be zero besides.
    """

    solved: dict[Unknown, Size] = field(default_factory=dict)
    unsolved: list[Size] = field(default_factory=list)

    def reduced(self, size: Size) -> Size:
        for u, count in size.terms:
            if u in self.solved:
                size = size.minus(Size(((u, count),))).plus(self.solved[u], count)
        return size

    def demand(self, left: Size, right: Size) -> bool:
        """Add `left == right`. False if that followed already."""
        rest = self.reduced(left.minus(right))
        if not rest.terms and not rest.constant or rest in self.unsolved:
            return False
        pivot = next(((u, c) for u, c in reversed(rest.terms) if abs(c) == 1), None)
        if pivot is None:
            self.unsolved.append(rest)
            return True
        u, count = pivot
        value = Size().plus(rest.minus(Size((pivot,))), -count)  # count is 1 or −1, its own inverse
        for other, old in self.solved.items():
            times = dict(old.terms).get(u, 0)
            if times:
                self.solved[other] = old.minus(Size(((u, times),))).plus(value, times)
        self.solved[u] = value
        self.unsolved = [self.reduced(size) for size in self.unsolved]
        return True
