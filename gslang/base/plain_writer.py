"""Values of this program as JSON that `plain_data` reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Final

from gslang.base.plain_data import FORMS, LATE, NotPlain, name_of, parts_and_maker
from gslang.base.quick_dataclass import dataclass

_SCALARS: Final = (str, int, float, bool, type(None))
_SHARED: Final = -1  # in place of a line: the first one


def to_bytes(value: object, given: Sequence[object] = ()) -> bytes:
    """A value as lines of JSON. Objects of `given` are not stored: each reader has its own.

    Raises `NotPlain`.
    """
    table = _Table(given)
    table.add(value)
    for late in table.late:  # which grows meanwhile
        for part in late.parts:
            table.add(part)
    lines = [json.dumps(line, separators=(",", ":")) for line in _lines(table, value)]
    return "\n".join(lines).encode("ascii")


@dataclass(slots=True)
class _Late:
    """An object with a line of its own, and its parts."""

    number: int
    parts: Sequence[Any]


class _Table:
    """Objects by number: a row is a kind and the numbers of the parts, which come before it. Scalars count
    down from -1.
    """

    def __init__(self, given: Sequence[object]) -> None:
        self.given = len(given)
        self.numbers: dict[int, int] = {id(known): k for k, known in enumerate(given)}
        self.kinds: dict[type, int] = {}
        self.scalars: list[Any] = []
        self.rows: list[list[int]] = []
        self.late: list[_Late] = []
        self._known: dict[tuple[type, str], int] = {}
        self._simple: dict[tuple[int, ...], int] = {}  # kind and parts of an object of scalars → its number
        self._begun: set[int] = set()
        self._alive: list[Any] = []

    def add(self, value: object) -> None:
        """Number a value and all that is below it. Raises `NotPlain`."""
        stack: list[tuple[Any, Sequence[Any] | None]] = [(value, None)]
        while stack:
            current, parts = stack.pop()
            if id(current) in self.numbers:
                continue
            self._alive.append(current)
            if type(current) in _SCALARS:
                self._add_scalar(current)
            elif parts is None:
                if id(current) in self._begun:
                    raise NotPlain("a value that contains itself")
                self._begun.add(id(current))
                parts = self._parts(current)
                self._alive.append(parts)
                stack.append((current, parts))
                stack += [(part, None) for part in reversed(parts)]
            else:
                self._add_object(current, [self.numbers[id(part)] for part in parts])

    def _parts(self, value: object) -> Sequence[Any]:
        kind: Any = type(value)
        parts = list(parts_and_maker(kind)[0](value))
        if kind not in LATE:
            return parts
        self.late.append(_Late(-1, parts))
        return [len(self.late) - 1, *LATE[kind][0](value)]

    def _add_scalar(self, value: object) -> None:
        number = self._known.setdefault((type(value), repr(value)), len(self.scalars))
        if number == len(self.scalars):
            self.scalars.append(value)
        self.numbers[id(value)] = -1 - number

    def _add_object(self, value: object, parts: list[int]) -> None:
        kind: Any = type(value)
        number = self.given + len(self.rows)
        row = [self.kinds.setdefault(kind, len(self.kinds)), *parts]
        if kind in LATE:
            self.late[self.scalars[-1 - parts[0]]].number = number
        elif _is_value(kind) and all([part < 0 for part in parts]):
            number = self._simple.setdefault(tuple(row), number)
        if number == self.given + len(self.rows):
            self.rows.append(row)
        self.numbers[id(value)] = number


def _lines(table: _Table, value: object) -> list[object]:
    """The first line, and one for each object that is read late: the rows that only it needs, its parts."""
    first, numbers = table.given, table.numbers
    homes = _homes(table, numbers[id(value)])
    places: dict[int, int] = {k: k for k in range(first)}
    shared = [number for number, home in enumerate(homes, first) if home == _SHARED]
    places.update({number: first + len(table.scalars) + k for k, number in enumerate(shared)})
    own: dict[int, list[int]] = {}
    for number, home in enumerate(homes, first):
        if home is not None and home != _SHARED:
            own.setdefault(home, []).append(number)
            places[number] = -len(own[home])

    def place(number: int) -> int:
        return places[number] if number >= 0 else first - 1 - number

    def row(number: int) -> list[int]:
        kind, *parts = table.rows[number - first]
        return [kind, *map(place, parts)]

    head = {
        "kinds": [name_of(kind) for kind in table.kinds],
        "scalars": table.scalars,
        "objects": [row(number) for number in shared],
        "root": place(numbers[id(value)]),
    }
    return [
        head,
        *(
            [[row(number) for number in own.get(k, ())], [place(numbers[id(part)]) for part in late.parts]]
            for k, late in enumerate(table.late)
        ),
    ]


def _homes(table: _Table, root: int) -> list[int | None]:
    """For each row the line that it belongs to: the late object that alone needs it, else the first."""
    first = table.given
    homes: list[int | None] = [None] * len(table.rows)

    def need(number: int, home: int | None) -> None:
        if number >= first:
            known = homes[number - first]
            homes[number - first] = home if known is None or known == home else _SHARED

    need(root, _SHARED)
    for k, late in enumerate(table.late):
        need(late.number, _SHARED)
        for part in late.parts:
            need(table.numbers[id(part)], k)
    for late in table.late:  # parts of another one, perhaps
        homes[late.number - first] = _SHARED
    for number in range(len(homes) - 1, -1, -1):  # parts have smaller numbers
        for part in table.rows[number][1:]:
            need(part, homes[number])
    return homes


@cache
def _is_value(kind: object) -> bool:
    """True for types whose objects of equal parts are equal and never change."""
    return kind in (tuple, frozenset) or (
        kind not in FORMS and is_dataclass(kind) and kind.__hash__ is not None
        and kind.__eq__ is not object.__eq__
    )
