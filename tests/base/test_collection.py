"""The pause of the search for cycles: it ends, however the block ends, and what was made inside is searched
later.
"""

from __future__ import annotations

import gc
import weakref

import pytest

from gslang.base.collection import no_collection


class Node:
    other: Node


@pytest.mark.parametrize("count", [10, 50_000])
def test_cycles_that_were_made_meanwhile_are_found_later(count: int) -> None:
    searched: list[str] = []
    watch = lambda phase, info: searched.append(phase)
    gc.callbacks.append(watch)
    try:
        with no_collection():
            kept = [[] for _ in range(count)]  # type: ignore[var-annotated]
            node = Node()
            node.other = node
            gone = weakref.ref(node)
            del node
        paused = list(searched)
        more = [[] for _ in range(100)]  # type: ignore[var-annotated]
        assert paused == [] and (count == 10 or searched == []), (
            "nothing was searched, and many objects not right behind either"
        )
    finally:
        gc.callbacks.remove(watch)
    assert gone() is not None and len(kept) == count and len(more) == 100
    gc.collect()
    assert gone() is None and gc.get_freeze_count() == 0


def test_the_search_is_as_it_was() -> None:
    with pytest.raises(ValueError), no_collection():
        raise ValueError
    assert gc.isenabled()
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_somebody_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        with no_collection():
            kept = [[] for _ in range(50_000)]  # type: ignore[var-annotated]
        assert gc.get_freeze_count() > 0 and kept
    finally:
        gc.unfreeze()
