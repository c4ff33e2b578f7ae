"""A line on the terminal that says how far a long run is; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gslang.engine.fixed_point import Progress

_BEGIN, _EVERY = 1.0, 0.2  # seconds: before the first line, and between two


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Show `progress` while the block runs, as `shown_line` does."""
    with shown_line(lambda: _rewriting(progress)):
        yield


@contextmanager
def shown_line(text: Callable[[], str]) -> Iterator[None]:
    """Show a line while the block runs, from the second second on.

    The run itself is not asked: another thread calls `text`.
    """
    if not sys.stderr.isatty():
        yield
        return
    done = Event()
    watcher = Thread(target=_watch, args=(text, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(text: Callable[[], str], done: Event) -> None:
    from shutil import get_terminal_size

    if done.wait(_BEGIN):
        return
    while True:
        sys.stderr.write(f"\r\x1b[K{text()[: get_terminal_size().columns - 1]}")
        sys.stderr.flush()
        if done.wait(_EVERY):
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            return


def _rewriting(progress: Progress) -> str:
    tried = sum(count.candidates for count in list(progress.counts.values()))
    last = f", last `{progress.recent[-1]}`" if progress.recent else ""
    return f"sweep {progress.sweeps}: {tried} candidates tried, {progress.applications} applications{last}"
