"""A total order of nodes that can be changed anywhere in constant time: a linked list with labels.

Labels grow along the list, so "does a stand before b" compares two integers. Inserting takes the middle of two labels;
when there is no room the whole list is labelled anew, which the large gaps make rare (order maintenance after Dietz and
Sleator, "Two algorithms for maintaining order in a list", 1987, in its simplest form).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Final

_GAP: Final = 1 << 20
_END: Final = -1


class Order:
    """`label[node]` compares; nodes that are not in the list have label -1."""

    __slots__ = ("_first", "_last", "_next", "_previous", "label")

    def __init__(self, nodes: Sequence[int], size: int) -> None:
        """`nodes` in order; `size` is the number of node numbers in use."""
        self.label: array[int] = array("q", [-1]) * size
        self._next: array[int] = array("q", [_END]) * size
        self._previous: array[int] = array("q", [_END]) * size
        before = _END
        at = _GAP
        for node in nodes:
            self.label[node] = at
            at += _GAP
            self._previous[node] = before
            if before >= 0:
                self._next[before] = node
            before = node
        self._first = nodes[0] if nodes else _END
        self._last = before

    def copy(self) -> Order:
        other = Order((), 0)
        other.label, other._next, other._previous = self.label[:], self._next[:], self._previous[:]
        other._first, other._last = self._first, self._last
        return other

    def __iter__(self) -> Iterator[int]:
        node = self._first
        while node >= 0:
            yield node
            node = self._next[node]

    def _grow(self, node: int) -> None:
        missing = node + 1 - len(self.label)
        if missing > 0:
            self.label.extend([-1] * missing)
            self._next.extend([_END] * missing)
            self._previous.extend([_END] * missing)

    def place_after(self, node: int, anchor: int) -> None:
        """Put a node that is not in the list right behind `anchor` (or at the very front if `anchor` is -1)."""
        self._grow(node)
        after = self._next[anchor] if anchor >= 0 else self._first
        low = self.label[anchor] if anchor >= 0 else -1  # labels are not negative: -1 is that of nodes outside
        high = self.label[after] if after >= 0 else low + 2 * _GAP
        if high - low < 2:
            self._relabel()
            low = self.label[anchor] if anchor >= 0 else -1
            high = self.label[after] if after >= 0 else low + 2 * _GAP
        self.label[node] = (low + high) // 2
        self._previous[node], self._next[node] = anchor, after
        if anchor >= 0:
            self._next[anchor] = node
        else:
            self._first = node
        if after >= 0:
            self._previous[after] = node
        else:
            self._last = node

    def remove(self, node: int) -> None:
        if node >= len(self.label) or self.label[node] == -1:
            return
        before, after = self._previous[node], self._next[node]
        if before >= 0:
            self._next[before] = after
        else:
            self._first = after
        if after >= 0:
            self._previous[after] = before
        else:
            self._last = before
        self.label[node] = -1

    def append(self, node: int) -> None:
        self.place_after(node, self._last)

    def move_after(self, node: int, anchor: int) -> None:
        self.remove(node)
        self.place_after(node, anchor)

    def _relabel(self) -> None:
        at = _GAP
        label, following, node = self.label, self._next, self._first
        while node >= 0:
            label[node] = at
            at += _GAP
            node = following[node]
