"""The lines in which two texts differ, in time that grows with the texts and not with their product.

Lines that stand once in each text, in the same order, hold the two together; only what lies between two of
them is compared in full.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_MOST = 40_000  # pairs of lines between two fixed ones; more are replaced as a whole
Change = tuple[int, int, int, int]
"""Lines from, to (excluded) of the old text, and from, to of the new one."""


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """The replacements, in order; ranges of the old text do not touch."""
    begin_old = begin_new = 0
    pending: Change | None = None
    for at_old, at_new in [*_fixed(old, new), (len(old), len(new))]:
        for i1, i2, j1, j2 in _between(old, new, begin_old, at_old, begin_new, at_new):
            if pending is not None and pending[1] == i1 and pending[3] == j1:
                pending = (pending[0], i2, pending[2], j2)
                continue
            if pending is not None:
                yield pending
            pending = (i1, i2, j1, j2)
        begin_old, begin_new = at_old + 1, at_new + 1
    if pending is not None:
        yield pending


def _fixed(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that stand once in each text: the longest run of them in the same order."""
    often_old, often_new = Counter(old), Counter(new)
    places = {line: k for k, line in enumerate(new) if often_new[line] == 1}
    pairs = [(k, places[line]) for k, line in enumerate(old) if often_old[line] == 1 and line in places]
    ends: list[int] = []  # the least place in the new text where a run of this length ends
    last: list[int] = []  # and which pair that is
    before: list[int] = []  # the pair before each pair in its run
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _between(old: Sequence[str], new: Sequence[str], i1: int, i2: int, j1: int, j2: int) -> Iterator[Change]:
    while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    if i1 == i2 or j1 == j2 or (i2 - i1) * (j2 - j1) > _MOST:
        if i1 < i2 or j1 < j2:
            yield i1, i2, j1, j2
        return
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=False).get_opcodes():
        if tag != "equal":
            yield i1 + a1, i1 + a2, j1 + b1, j1 + b2
