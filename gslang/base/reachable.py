"""Reachability: the items that are met from some on, step by step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reachable(starts: Iterable[T], below: Callable[[T], Iterable[T]]) -> dict[T, None]:
    """The items from `starts` on, each once, in the order of a walk into depth that takes the last first."""
    found: dict[T, None] = {}
    stack = list(starts)
    while stack:
        item = stack.pop()
        if item not in found:
            found[item] = None
            stack.extend(below(item))
    return found
