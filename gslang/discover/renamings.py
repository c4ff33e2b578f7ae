"""Terms up to renaming: of those that differ only in which variables of one type stand where, one is
enumerated.

It is the one in which the variables of each type occur in order. Two such terms may still be equal after a
renaming of one of them. Where they are, they are also equal when all variables of a type have the same value,
so only terms that agree there have their renamings compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import permutations, product
from typing import Generic, TypeVar

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import Type

T = TypeVar("T")
_MOST_RENAMINGS = 48  # of one term


@dataclass(frozen=True, slots=True)
class Classes:
    """`of`: variable → the number of its type; `members`: the variables of each type, in order."""

    of: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]


def classes_of(inputs: Sequence[tuple[Type, ...]]) -> Classes:
    numbers: dict[tuple[Type, ...], int] = {}
    of = tuple([numbers.setdefault(types, len(numbers)) for types in inputs])
    return Classes(of, tuple([tuple([v for v, c in enumerate(of) if c == k]) for k in range(len(numbers))]))


def is_first(code: Sequence[int], classes: Classes) -> bool:
    """True if the variables of each type (the numbers of a code that are variables) occur in order, none left
    out.
    """
    of, members = classes.of, classes.members
    seen = [0] * len(members)
    count = len(of)
    for letter in code:
        if letter >= count:
            continue
        own = of[letter]
        here = seen[own]
        if here < len(members[own]) and members[own][here] == letter:
            seen[own] = here + 1
        elif letter not in members[own][:here]:
            return False
    return True


def renamings(variables: set[int], classes: Classes) -> Iterator[dict[int, int]]:
    """The permutations of some variables within their types, without the one that changes nothing."""
    groups = [tuple(v for v in own if v in variables) for own in classes.members]
    count = 0
    for chosen in product(*(permutations(group) for group in groups)):
        found = {a: b for group, other in zip(groups, chosen) for a, b in zip(group, other) if a != b}
        if found and count < _MOST_RENAMINGS:
            count += 1
            yield found


def swaps(variables: set[int], classes: Classes) -> Iterator[dict[int, int]]:
    """The exchanges of two neighbouring variables of one type, from which all permutations follow."""
    for own in classes.members:
        there = [v for v in own if v in variables]
        yield from ({a: b, b: a} for a, b in zip(there, there[1:]))


@dataclass(slots=True)
class Renamed(Generic[T]):
    """Terms by what they compute where all variables of a type are one, and by what each of their renamings
    computes.
    """

    prints: Callable[[T, Mapping[int, int]], bytes | None]
    waiting: dict[bytes, list[T]] = field(default_factory=dict)
    known: dict[bytes, tuple[T, dict[int, int]]] = field(default_factory=dict)

    def add(self, diagonal: bytes, term: T) -> None:
        self.waiting.setdefault(diagonal, []).append(term)

    def equal(
        self, diagonal: bytes, print_: bytes, ways: Callable[[T], Iterator[dict[int, int]]]
    ) -> tuple[T, dict[int, int]] | None:
        """A term that was added, and the renaming after which it computes what is given."""
        for term in self.waiting.pop(diagonal, ()):
            for way in ways(term):
                own = self.prints(term, way)
                if own is not None:
                    self.known.setdefault(own, (term, way))
        return self.known.get(print_)
