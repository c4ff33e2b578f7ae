"""Processes that share work, and end with the one that started them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gslang.base.signals import Terminated

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of `count` processes; a signal that ends this process ends them at once, whatever they are about."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children

    with ProcessPoolExecutor(count) as pool:
        try:
            yield pool
        except (KeyboardInterrupt, Terminated):
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise
