"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST_SHOWN = 20


def distance(a: str, b: str) -> int:
    """Edits that make `a` into `b`: insert, delete, replace, swap neighbours (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, last, row = row, before, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """The nearest candidate within a third of the word's length (at least one edit); among equals, one with
    the same letters, then the first in order.
    """
    limit = max(1, len(word) // 3) if len(word) > 1 else 0  # one letter is one edit from every other
    letters = set(word.lower())
    best: tuple[int, bool, str] | None = None
    for candidate in sorted(set(candidates)):
        if abs(len(candidate) - len(word)) > limit:
            continue
        there = set(candidate.lower())
        if len(letters - there) > limit or len(there - letters) > limit:
            continue  # each of these letters takes an edit
        far = 0 if candidate.lower() == word.lower() else distance(word, candidate)
        found = (far, sorted(candidate) != sorted(word), candidate)
        if far <= limit and (best is None or found < best):
            best = found
    return best[2] if best else None


def some_of(word: str, known: Sequence[str]) -> str:
    """A list of known names to read: those that share a part with a word, else the first ones."""
    parts = {part for part in word.lower().split("_") if len(part) > 2}
    alike = [name for name in known if not parts.isdisjoint(name.lower().split("_"))]
    shown = (alike or known)[:_MOST_SHOWN]
    return ", ".join(shown) + (f" and {len(known) - len(shown)} more" if len(shown) < len(known) else "")
