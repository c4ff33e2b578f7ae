"""A line on the terminal that says how far a long run is; nothing where stderr is no terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gslang.engine.fixed_point import Progress

_BEGIN, _EVERY = 1.0, 0.2  # seconds: before the first line, and between two


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Show `progress` while the block runs, from the second second on. The run itself is not asked: another thread reads it."""
    if not sys.stderr.isatty():
        yield
        return
    done = Event()
    watcher = Thread(target=_watch, args=(progress, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(progress: Progress, done: Event) -> None:
    if done.wait(_BEGIN):
        return
    while True:
        tried = sum(count.candidates for count in list(progress.counts.values()))
        last = f", last `{progress.recent[-1]}`" if progress.recent else ""
        line = f"sweep {progress.sweeps}: {tried} candidates tried, {progress.applications} applications{last}"
        sys.stderr.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()
        if done.wait(_EVERY):
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            return
