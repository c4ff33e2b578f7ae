"""Values of this program as JSON, and back: dataclasses, enumerations, containers, numbers and texts; never
code. This is the reading; `plain_writer` writes.

A file names the classes that it needs. Only those that are data are made (`_maker`), with values that are
data: whatever a file says, reading it runs nothing of its choosing. One object in two places is stored once,
and so are equal texts, numbers, and tuples, sets and frozen objects of nothing but these.

The first line has the kinds, the scalars, then the objects, each a kind and the numbers of its parts. Objects
of some classes are read late (`declare_late`): each has a line of its own with all that nothing else refers
to, and is read when it is asked for more than its heading. Of hundreds of rules a run needs a few.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from importlib import import_module
from typing import Any, Final

from gslang.base.collection import no_collection
from gslang.base.filled import filler

Parts = Callable[[Any], Iterable[Any]]
Make = Callable[[list[Any]], Any]

FORMS: Final[dict[type, tuple[Parts, Make]]] = {
    tuple: (iter, tuple),
    list: (iter, list),
    frozenset: (lambda value: sorted(value, key=repr), frozenset),
    set: (lambda value: sorted(value, key=repr), set),
    dict: (
        lambda value: (part for item in value.items() for part in item),
        lambda parts: dict(zip(parts[::2], parts[1::2])),
    ),
    bytes: (
        lambda value: (b2a_base64(value, newline=False).decode("ascii"),),
        lambda parts: a2b_base64(parts[0]),
    ),
}
"""Containers, and what classes have said of themselves: kind → its parts as data; what makes it of them
again."""
LATE: Final[dict[type, tuple[Parts, Callable[[list[object], Callable[[], object]], object]]]] = {}
"""Classes whose objects are read late: their heading, and what makes one of that and of a reader."""
_HOMES: Final[dict[type, str]] = {}  # class → the module whose import declares its form
_CONTAINERS: Final = {kind.__name__: kind for kind in FORMS}


class NotPlain(Exception):
    """A value that is no data, or bytes that are none."""


def declare_form(kind: type, parts: Parts, make: Make, home: str | None = None) -> None:
    """Codec of a class that is no dataclass: its parts, and the function that makes an object of them.
    `home`: the module that defines it, where it is not the one of the class.
    """
    FORMS[kind] = (parts, make)
    _HOMES[kind] = home or kind.__module__


def declare_late(
    kind: type, heading: Parts, make: Callable[[list[Any], Callable[[], Any]], Any], home: str | None = None
) -> None:
    """Have objects of a class read late: `heading` is what is known of one before, `make` makes one of that
    and of a function that reads the whole object. `home` as for `declare_form`.
    """
    LATE[kind] = (heading, make)
    _HOMES[kind] = home or kind.__module__


def from_bytes(data: bytes, given: Sequence[object] = ()) -> Any:
    """The value. Raises `NotPlain`, and what constructors raise on values that they do not take."""
    first, *lines = data.split(b"\n")
    found = json.loads(first)
    kinds = [_kind(name) for name in found["kinds"]]
    wholes = [parts_and_maker(kind)[1] for kind in kinds]
    values: list[Any] = [*given, *found["scalars"]]

    def read(kind: int, number: int) -> Any:
        rows, parts = json.loads(lines[number])
        own: list[Any] = []
        for inner, *places in rows:
            own.append(makers[inner]([values[place] if place >= 0 else own[~place] for place in places]))
        return wholes[kind]([values[place] if place >= 0 else own[~place] for place in parts])

    def late(kind: int, make: Callable[[list[Any], Callable[[], Any]], Any]) -> Make:
        return lambda parts: make(parts[1:], partial(read, kind, parts[0]))

    makers = [
        late(k, LATE[kind][1]) if kind in LATE else whole
        for k, (kind, whole) in enumerate(zip(kinds, wholes))
    ]
    append = values.append
    with no_collection():  # nothing of this is garbage
        for kind, *parts in found["objects"]:
            append(makers[kind]([values[part] for part in parts]))
    return values[found["root"]]


def name_of(kind: type) -> str:
    """The name of a kind in a file."""
    return (
        kind.__name__ if kind in _CONTAINERS.values()
        else f"{_HOMES.get(kind, kind.__module__)}:{kind.__qualname__}"
    )


@cache
def _kind(name: str) -> Any:
    """The class that a file names. Raises `NotPlain` for anything that is not data of this program."""
    if name in _CONTAINERS:
        return _CONTAINERS[name]
    module, _, path = name.partition(":")
    kind: Any = import_module(module) if module.startswith("gslang.") and "__main__" not in module else None
    for part in path.split("."):
        kind = getattr(kind, part, None)
    if not isinstance(kind, type) or _HOMES.get(kind, kind.__module__) != module:
        raise NotPlain(f"`{name}` is not data of this program")
    return kind


@cache
def parts_and_maker(kind: Any) -> tuple[Parts, Make]:
    """The parts of an object of a kind as data, and what makes it of them again.

    Raises `NotPlain` for what is no data.
    """
    if kind in FORMS:
        return FORMS[kind]
    if issubclass(kind, Enum):
        return lambda value: (value.name,), lambda parts: kind[parts[0]]
    if not is_dataclass(kind) or hasattr(kind, "__post_init__"):
        raise NotPlain(f"a {kind} is not data")
    names = tuple(f.name for f in fields(kind))
    made: Any = kind
    return _parts_of(names), filler(made, names)


def _parts_of(names: tuple[str, ...]) -> Parts:
    return lambda value: [getattr(value, name) for name in names]
