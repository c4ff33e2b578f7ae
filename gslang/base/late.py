"""Objects of which only some fields are there: the others are read when one of them is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from gslang.base.filled import filler

T = TypeVar("T")


class Late:
    """The base of dataclasses whose objects `late` makes."""

    __slots__ = ("_read",)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Called where a field is not there: reads all of them."""
            if name != "_read" and (read := getattr(self, "_read", None)) is not None:
                whole = read()
                for field in fields(self):
                    object.__setattr__(self, field.name, getattr(whole, field.name))
                with suppress(AttributeError):  # another thread has read it as well
                    object.__delattr__(self, "_read")
            return object.__getattribute__(self, name)


def late(kind: type[T], names: Sequence[str]) -> Callable[[Sequence[object], Callable[[], T]], T]:
    """Makes objects of a subclass of `Late` of what is known, the values of these fields; the others are what
    the function gives."""
    fill = filler(kind, (*names, "_read"))
    return lambda known, read: fill((*known, read))
