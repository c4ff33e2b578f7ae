"""Python's search for reference cycles, paused where many objects are made and none of them is in a cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MANY: Final = 1_000  # objects whose search would be felt: of a graph with a few hundred nodes


@contextmanager
def no_collection() -> Iterator[None]:
    """Graphs are many small objects without cycles, which Python would search again and again while they are
    made.

    Where many were made, the objects that are there afterwards count as old: the next full search looks at
    them, and not the next one at all, which would find nothing for a tenth of the time that making them took.
    """
    enabled = gc.isenabled()
    before = gc.get_count()[0]
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_count()[0] - before > _MANY and not gc.get_freeze_count():
                gc.freeze()  # out of the young generation …
                gc.unfreeze()  # … into the oldest
            gc.enable()
