"""A table whose values are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

V = TypeVar("V")


class LazyMapping(Mapping[str, V]):
    """`make(key, raw)` gives the value of a key, whose raw form is in `raw`; it is called once for each."""

    __slots__ = ("_made", "_make", "_raw")

    def __init__(self, raw: Mapping[str, object], make: Callable[[str, Any], V]) -> None:
        self._raw, self._make = raw, make
        self._made: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        made = self._made
        if key not in made:
            made[key] = self._make(key, self._raw[key])
        return made[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or `default` for a key that the table has not."""
        return self[key] if key in self._raw else default

    def __contains__(self, key: object) -> bool:
        return key in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)
