"""A topological order kept as numbers: every node's label is greater than those of its operands.

"May a depend on b" is then one comparison in most cases, and sorting users by label gives them as a
subsequence of the order. Unrelated nodes may share a label; node numbers break ties. New nodes get labels in
the gap between what they read and what reads them, so nothing else has to move; when a gap is used up all
labels are given anew, which wide gaps make rare (the idea of Dietz and Sleator, "Two algorithms for
maintaining order in a list", 1987, without the list).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

GAP: Final = 1 << 40
OUTSIDE: Final = -1


def visit(operands: Sequence[Sequence[int]], start: int, seen: bytearray, result: list[int]) -> None:
    """Append what `start` depends on and is not seen yet, operands first. `operands`: node → its operands,
    a negative number for one that is absent.

    On the stack `~node` means: its operands are done.
    """
    stack = [start]
    push, pop, done = stack.append, stack.pop, result.append
    while stack:
        node = pop()
        if node < 0:
            done(~node)
            continue
        while not seen[node]:
            seen[node] = 1
            below = operands[node]
            if not below:
                done(node)
                break
            push(~node)
            if len(below) == 2:
                if (operand := below[1]) >= 0 and not seen[operand]:
                    push(operand)
            elif len(below) > 2:
                for operand in below[:0:-1]:
                    if operand >= 0 and not seen[operand]:
                        push(operand)
            node = below[0]
            if node < 0:
                break


class Order:
    """`label[node]` compares; nodes that are not in the order have `OUTSIDE`. `changes` counts how often
    nodes that had a label were given another one: what was sorted by label before may not be sorted after."""

    __slots__ = ("label", "changes")

    def __init__(self, nodes: Sequence[int], size: int) -> None:
        """`nodes` in order; `size` is the number of node numbers in use."""
        label = [OUTSIDE] * size
        for node, at in zip(nodes, range(GAP, (len(nodes) + 1) * GAP, GAP)):
            label[node] = at
        self.label = label
        self.changes = 0

    def copy(self) -> Order:
        """An independent copy."""
        other = Order((), 0)
        other.label = self.label[:]
        return other

    def __iter__(self) -> Iterator[int]:
        label = self.label
        in_order = sorted(range(len(label)), key=label.__getitem__)  # what is outside comes first
        return iter(in_order[label.count(OUTSIDE) :])

    def remove(self, node: int) -> None:
        """Take a node out."""
        if node < len(self.label):
            self.label[node] = OUTSIDE

    def grow(self, size: int) -> None:
        """Make room for node numbers below `size`."""
        self.label.extend([OUTSIDE] * (size - len(self.label)))

    def spread(self, nodes: Sequence[int], low: int, high: int) -> bool:
        """Give `nodes` rising labels above `low`, the last one at most `high`; any that had a place come
        first. False if there is no room.
        """
        step = (high - low) // len(nodes)
        if step < 1:
            return False
        label = self.label
        if label[nodes[0]] != OUTSIDE:
            self.changes += 1
        at = high - step * (len(nodes) - 1)
        for node in nodes:
            label[node] = at
            at += step
        return True

    def ancestors_after(
        self, operands: Sequence[Sequence[int]], starts: Iterable[int], first: int
    ) -> list[int]:
        """`starts` and what they depend on, as far as it stands after `first`; in this order."""
        label, bound = self.label, self.label[first]
        found: dict[int, None] = {}
        stack = [node for node in starts if label[node] > bound]
        while stack:
            node = stack.pop()
            if node not in found:
                found[node] = None
                stack.extend(o for o in operands[node] if o >= 0 and label[o] > bound and o not in found)
        return sorted(found, key=label.__getitem__)

    def renumber(self) -> None:
        """Give all labels anew, in place, with full gaps between them."""
        label, at = self.label, 0
        self.changes += 1
        for node in self:
            at += GAP
            label[node] = at
