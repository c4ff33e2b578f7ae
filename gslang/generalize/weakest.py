"""The weakest conjunction of conditions that excludes all bad samples: a weighted set cover, greedy and then
improved.

Samples are bits of integers. A condition that holds on few good samples is dear, so that what is chosen keeps
as many as it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from gslang.base.quick_dataclass import dataclass

_LOSS = 12.0  # the price of losing all good samples, against 1 for an ordinary condition
_ANCHORS = 12  # good samples that a conjunction is built around


@dataclass(frozen=True, slots=True)
class Column:
    """On which good and bad samples a condition holds, as bits, and its price."""

    good: int
    bad: int
    price: float


def weakest(columns: Sequence[Column], good: int, bad: int) -> tuple[int, ...] | None:
    """Numbers of the chosen columns; None if no conjunction excludes all of `bad` and keeps one of `good`."""
    if not bad:
        return ()
    best: tuple[tuple[float, float], tuple[int, ...]] | None = None
    done = 0
    for anchor in _anchors(columns, good):
        if done >> anchor & 1:
            continue
        usable = [k for k, c in enumerate(columns) if c.good >> anchor & 1 and c.bad & bad != bad]
        chosen = _cover(columns, usable, good, bad)
        if chosen is None:
            continue
        chosen = _widened(columns, chosen, good, bad)
        kept = _kept(columns, chosen, good)
        done |= kept
        key = (-float(kept.bit_count()), sum(columns[k].price for k in chosen))
        if best is None or key < best[0]:
            best = key, chosen
    return None if best is None else best[1]


def _widened(
    columns: Sequence[Column], chosen: tuple[int, ...], good: int, bad: int
) -> tuple[int, ...]:
    """Conditions that keep more good samples, one after the other, those first that are most like the kept
    ones: equal shapes and equal groups, say, make room for equal parts of shapes and as many outputs for each
    group, though neither can be weakened alone.
    """
    kept = _kept(columns, chosen, good)
    usable = sum(1 << k for k, c in enumerate(columns) if not kept & ~c.good)
    waiting = [k for k in range(good.bit_length()) if (good & ~kept) >> k & 1]
    true_on = {k: sum(1 << j for j, c in enumerate(columns) if c.good >> k & 1) for k in waiting}
    grown = False
    while waiting:
        waiting.sort(key=lambda k: ((usable & true_on[k]).bit_count(), -k))
        sample = waiting.pop()  # one that was refused stays so: fewer conditions exclude no more
        left = usable & true_on[sample]
        if not _excluded_by_none(columns, _numbers(left), bad):
            usable, grown = left, True
    return _cover(columns, _numbers(usable), good, bad) or chosen if grown else chosen


def _numbers(bits: int) -> list[int]:
    return [k for k in range(bits.bit_length()) if bits >> k & 1]


def _anchors(columns: Sequence[Column], good: int) -> list[int]:
    """Good samples, the ones with most conditions first: what is around them can be told from bad ones best.
    """
    bits = [k for k in range(good.bit_length()) if good >> k & 1]
    bits.sort(key=lambda k: (-sum(c.good >> k & 1 for c in columns), k))
    step = max(1, len(bits) // _ANCHORS)
    return bits[::step]


def _kept(columns: Sequence[Column], chosen: Sequence[int], good: int) -> int:
    for k in chosen:
        good &= columns[k].good
    return good


def _cover(columns: Sequence[Column], usable: Sequence[int], good: int, bad: int) -> tuple[int, ...] | None:
    chosen: list[int] = []
    left, kept = bad, good
    while left:
        total = max(1, kept.bit_count())

        def worth(k: int, left: int = left, kept: int = kept, total: int = total) -> tuple[float, float]:
            c = columns[k]
            lost = (kept & ~c.good).bit_count() / total
            return (left & ~c.bad).bit_count() / (c.price + _LOSS * lost), -c.price

        best = max(usable, key=worth, default=None)
        if best is None or not left & ~columns[best].bad:
            return None
        chosen.append(best)
        left &= columns[best].bad
        kept &= columns[best].good
    return _improved(columns, usable, chosen, good, bad)


def _improved(
    columns: Sequence[Column], usable: Sequence[int], chosen: list[int], good: int, bad: int
) -> tuple[int, ...]:
    """Leave out what others exclude, replace one by a weaker or cheaper one that excludes as much, and two by
    one.
    """
    for k in sorted(chosen, key=lambda k: (columns[k].good.bit_count(), -columns[k].price)):
        rest = [j for j in chosen if j != k]
        if not _excluded_by_none(columns, rest, bad):
            chosen = rest
    for k in list(chosen):
        rest = [j for j in chosen if j != k]
        needed, others = _excluded_by_none(columns, rest, bad), _kept(columns, rest, good)

        def key(j: int, others: int = others) -> tuple[int, float, int]:
            return -(others & columns[j].good).bit_count(), columns[j].price, j

        best = min((j for j in usable if not needed & columns[j].bad), key=key, default=k)
        if key(best) < key(k):
            chosen = [best if j == k else j for j in chosen]
    for pair in combinations(list(chosen), 2):
        rest = [j for j in chosen if j not in pair]
        needed, others = _excluded_by_none(columns, rest, bad), _kept(columns, rest, good)
        least = _kept(columns, pair, others).bit_count()
        one = min(
            (
                j
                for j in usable
                if not needed & columns[j].bad and (others & columns[j].good).bit_count() >= least
            ),
            key=lambda j: (columns[j].price, j), default=None,
        )
        if one is not None and set(pair) <= set(chosen):
            chosen = [*rest, one]
    return tuple(chosen)


def _excluded_by_none(columns: Sequence[Column], chosen: Sequence[int], bad: int) -> int:
    for k in chosen:
        bad &= columns[k].bad
    return bad
