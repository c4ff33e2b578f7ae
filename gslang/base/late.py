"""Objects of which only some fields are there: the others are read when one of them is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

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


def late(kind: type[T], known: Mapping[str, object], read: Callable[[], T]) -> T:
    """An object of a subclass of `Late`: these of its fields are known, the others are what `read` gives."""
    made: Any = object.__new__(kind)
    for name, value in known.items():
        object.__setattr__(made, name, value)
    object.__setattr__(made, "_read", read)
    return made  # type: ignore[no-any-return]
