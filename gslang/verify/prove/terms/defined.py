"""Conditions on terms, compared by their texts: where the source is defined, and the target must be."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.terms import Term

_POSITION = re.compile(r"@\d+(?:at|i)?")


@dataclass(frozen=True, slots=True)
class Written:
    """A term at all positions that sums run over, where conditions hold: `text` and `where` number these
    positions, in the order in which they are met; `positions` are their own names.
    """

    text: str
    where: frozenset[str]
    positions: tuple[str, ...]


def written(facts: Facts, term: Term, under: Sequence[Term] = ()) -> Written:
    """A term and the conditions that it is evaluated under, the same for two sums that run alike."""
    numbers: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        name = found[0]
        return numbers.setdefault(name, f"@{len(numbers)}") if name in facts.bounds else f"{name}free"

    text, *where = [_POSITION.sub(renamed, part.key) for part in (term, *under)]
    return Written(text, frozenset(where), tuple(numbers))


def covers(facts: Facts, known: Written, asked: Written) -> bool:
    """True if what is known of a term says the same of another one: it is the same, under no more
    conditions, and the positions of the other one are among its own.
    """
    return (
        known.text == asked.text and known.where <= asked.where
        and all(
            facts.proves(facts.normal(facts.ranges[wide]) - facts.normal(facts.ranges[narrow]))
            for wide, narrow in zip(known.positions, asked.positions)
        )
    )
