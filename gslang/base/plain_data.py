"""Values of this program as JSON, and back: dataclasses, enumerations, containers, numbers and texts; never
code.

A file names the classes that it needs. Only those that are data are made (`_maker`), with values that are
data: whatever a file says, reading it runs nothing of its choosing. One object in two places is stored once,
and so are equal texts, numbers, and tuples, sets and frozen objects of nothing but these.
"""

from __future__ import annotations

import base64
import gc
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final

Parts = Callable[[Any], Iterable[Any]]
Make = Callable[[list[Any]], Any]

# Containers, and what classes have said of themselves: kind → its parts as data; what makes it of them again.
_FORMS: Final[dict[type, tuple[Parts, Make]]] = {
    tuple: (iter, tuple),
    list: (iter, list),
    frozenset: (lambda value: sorted(value, key=repr), frozenset),
    set: (lambda value: sorted(value, key=repr), set),
    dict: (
        lambda value: (part for item in value.items() for part in item),
        lambda parts: dict(zip(parts[::2], parts[1::2])),
    ),
    bytes: (
        lambda value: (base64.b85encode(value).decode("ascii"),), lambda parts: base64.b85decode(parts[0]),
    ),
}
_HOMES: Final[dict[type, str]] = {}  # class → the module whose import declares its form
_CONTAINERS: Final = {kind.__name__: kind for kind in _FORMS}
_SCALARS: Final = (str, int, float, bool, type(None))


class NotPlain(Exception):
    """A value that is no data, or bytes that are none."""


def declare_form(kind: type, parts: Parts, make: Make, home: str | None = None) -> None:
    """Codec of a class that is no dataclass: its parts, and the function that makes an object of them.
    `home`: the module that defines it, where it is not the one of the class.
    """
    _FORMS[kind] = (parts, make)
    _HOMES[kind] = home or kind.__module__


def to_bytes(value: object, given: Sequence[object] = ()) -> bytes:
    """A value as JSON: kinds, scalars, then objects, each a kind and the numbers of its parts. Objects of
    `given` are not stored: each reader has its own. Raises `NotPlain`.
    """
    kinds: dict[type, int] = {}
    scalars: dict[tuple[type, str], int] = {}
    plain: list[Any] = []
    objects: list[list[int]] = []
    simple: dict[tuple[int, ...], int] = {}  # kind and parts of an object made of scalars → its number
    # by identity; later, scalars count down from -1
    numbers: dict[int, int] = {id(known): k for k, known in enumerate(given)}
    begun: set[int] = set()
    alive: list[Any] = []
    stack: list[tuple[Any, list[Any] | None]] = [(value, None)]
    while stack:
        current, parts = stack.pop()
        if id(current) in numbers:
            continue
        kind: Any = type(current)
        alive.append(current)
        if kind in _SCALARS:
            number = scalars.setdefault((kind, repr(current)), len(plain))
            if number == len(plain):
                plain.append(current)
            numbers[id(current)] = -1 - number
        elif parts is None:
            if id(current) in begun:
                raise NotPlain("a value that contains itself")
            begun.add(id(current))
            parts = list(_parts_and_maker(kind)[0](current))
            stack.append((current, parts))
            stack += [(part, None) for part in reversed(parts)]
        else:
            alive.append(parts)
            row = [kinds.setdefault(kind, len(kinds)), *[numbers[id(part)] for part in parts]]
            number = len(given) + len(objects)
            if _is_value(kind) and all([part < 0 for part in row[1:]]):
                number = simple.setdefault(tuple(row), number)
            if number == len(given) + len(objects):
                objects.append(row)
            numbers[id(current)] = number
    root = numbers[id(value)]

    def place(number: int) -> int:
        return (
            len(given) - 1 - number if number < 0 else number if number < len(given) else number + len(plain)
        )

    flat = [[kind, *map(place, parts)] for kind, *parts in objects]
    found = {"kinds": [_name(kind) for kind in kinds], "scalars": plain, "objects": flat, "root": place(root)}
    return json.dumps(found, separators=(",", ":")).encode("ascii")


def from_bytes(data: bytes, given: Sequence[object] = ()) -> Any:
    """The value. Raises `NotPlain`, and what constructors raise on values that they do not take."""
    found = json.loads(data)
    makers = [_maker(name) for name in found["kinds"]]
    values: list[Any] = [*given, *found["scalars"]]
    append = values.append
    collecting = gc.isenabled()
    gc.disable()  # nothing of this is garbage
    try:
        for kind, *parts in found["objects"]:
            append(makers[kind]([values[part] for part in parts]))
    finally:
        if collecting:
            gc.enable()
    return values[found["root"]]


@cache
def _is_value(kind: Any) -> bool:
    """True for types whose objects of equal parts are equal and never change."""
    return kind in (tuple, frozenset) or (
        kind not in _FORMS and is_dataclass(kind) and kind.__hash__ is not None
        and kind.__eq__ is not object.__eq__
    )


def _name(kind: type) -> str:
    return (
        kind.__name__ if kind in _CONTAINERS.values()
        else f"{_HOMES.get(kind, kind.__module__)}:{kind.__qualname__}"
    )


@cache
def _maker(name: str) -> Make:
    """The constructor of a kind that a file names.

    Raises `NotPlain` for anything that is not data of this program.
    """
    if name in _CONTAINERS:
        return _FORMS[_CONTAINERS[name]][1]
    module, _, path = name.partition(":")
    kind: Any = import_module(module) if module.startswith("gslang.") and "__main__" not in module else None
    for part in path.split("."):
        kind = getattr(kind, part, None)
    if not isinstance(kind, type) or _HOMES.get(kind, kind.__module__) != module:
        raise NotPlain(f"`{name}` is not data of this program")
    return _parts_and_maker(kind)[1]


@cache
def _parts_and_maker(kind: Any) -> tuple[Parts, Make]:
    if kind in _FORMS:
        return _FORMS[kind]
    if issubclass(kind, Enum):
        return lambda value: (value.name,), lambda parts: kind[parts[0]]
    if not is_dataclass(kind) or hasattr(kind, "__post_init__"):
        raise NotPlain(f"a {kind} is no data")
    make: Any = kind
    names = tuple(f.name for f in fields(kind))
    if not all(f.init for f in fields(kind)):
        return _parts_of(names), lambda parts: _filled(make, names, parts)
    if any(f.kw_only for f in fields(kind)):
        return _parts_of(names), lambda parts: make(**dict(zip(names, parts)))
    return _parts_of(names), lambda parts: make(*parts)


def _parts_of(names: tuple[str, ...]) -> Parts:
    return lambda value: [getattr(value, name) for name in names]


def _filled(kind: type, names: tuple[str, ...], parts: Sequence[object]) -> Any:
    new: Any = object.__new__(kind)
    for name, part in zip(names, parts):
        object.__setattr__(new, name, part)
    return new
