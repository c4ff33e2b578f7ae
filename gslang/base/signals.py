"""Signals that end a process: they unwind it as an exception does, so that temporary files go, and wait where
files change places.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

_ENDING: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Terminated(BaseException):
    """The process was told to end by the signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def unwind_on_termination() -> None:
    """Let SIGTERM and SIGHUP raise `Terminated` in this process; its children end as before.

    Ignored signals stay ignored.
    """
    own = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == own:
            raise Terminated(number)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that would end the process do so when this is over."""
    if current_thread() is not main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        for number in _ENDING:
            if callable(before[number]):
                signal.signal(number, lambda number, frame: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, handler)
    for number in came:
        signal.raise_signal(number)
