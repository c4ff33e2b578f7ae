"""Walks over deeply nested rules: more of Python's recursion than it admits by itself, while they last."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

# Expressions are nested 200 levels deep at most; walking them takes up to ten calls for a level.
_CALLS: Final = 4000
_LOCK: Final = Lock()
_running: list[int] = []  # the limit as it was, once for each walk that has not ended


@contextmanager
def deep_walks() -> Iterator[None]:
    """Python's limit on recursion is at least 4,000 calls until the end, then what it was before.

    It is one limit for all threads: the last walk that ends puts it back. Also a decorator.
    """
    with _LOCK:
        _running.append(_running[0] if _running else sys.getrecursionlimit())
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _CALLS))
    try:
        yield
    finally:
        with _LOCK:
            before = _running.pop()
            if not _running:
                sys.setrecursionlimit(before)
