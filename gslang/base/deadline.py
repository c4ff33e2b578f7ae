"""Limits of processor time. A task is given a deadline, and its steps ask whether it is over; between two
questions a step may do what its own limits on sizes admit. `in_time` ends what does not ask.

The time is that of the thread: other work on the machine takes none of it away.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from time import thread_time
from typing import Final, TypeVar

from gslang.base.quick_dataclass import dataclass

_T = TypeVar("_T")
SECONDS: Final = 7.0  # for one rule, and for all rules of a run that end without an answer
NO_TIME: Final = f"no time was left for it: `--seconds {SECONDS:g}` gives each as much"
_SHARE: Final = 0.75  # of the time that is left for tasks without an answer, for the next one
_FEW: Final = 100  # tasks; of more, each takes `_EACH` seconds to be read and told
_EACH: Final = 0.0015
_LEAST: Final = 0.05  # seconds: with less, no task is begun
_GRACE: Final = 0.05  # of the seconds of a task, and as many seconds: beyond them what does not ask is ended
_AGAIN: Final = 0.25  # seconds until it is told again, if it could raise nothing where it was


@dataclass(frozen=True, slots=True)
class Deadline:
    """`end`: by `thread_time`."""

    end: float

    @property
    def passed(self) -> bool:
        return thread_time() > self.end

    @property
    def left(self) -> float:
        """Seconds until then, at least 0."""
        return max(0.0, self.end - thread_time())

    def within(self, seconds: float) -> Deadline:
        """The end of these seconds, or this one if it is earlier."""
        return Deadline(min(self.end, thread_time() + seconds))


def deadline(seconds: float) -> Deadline:
    """The end of so much processor time from now on."""
    return Deadline(thread_time() + seconds)


class Allowance:
    """The processor time of a run for several tasks, one after the other.

    What tasks without an answer take is lost. `seconds` may be lost, and as much as tasks with an answer
    took: a run without answers ends after `seconds`, and of a long one hardly more than half was in vain.
    `fixed`: each task has `seconds`, since the user has said so. `tasks`: how many there are, if that is
    known; a single one has `seconds`, too.
    """

    def __init__(self, seconds: float, fixed: bool, tasks: int = 0) -> None:
        self.seconds, self.fixed = seconds, fixed or tasks == 1
        self._left = seconds - min(_EACH * max(0, tasks - _FEW), seconds / 2)

    @property
    def share(self) -> float:
        """Seconds for the next task, at most `seconds`; 0 if what is left is not worth beginning."""
        share = self.seconds if self.fixed else min(self.seconds, _SHARE * self._left)
        return share if share >= _LEAST or self.fixed else 0.0

    def spend(
        self, task: Callable[[float], _T], answers: Callable[[_T], bool], whole: bool = False
    ) -> _T | None:
        """The result of the next task, called with its seconds; None if there are none for it. `answers`:
        tells whether a result is an answer; `whole`: the task has `seconds` as long as anything is left."""
        share = self.share
        if not share:
            return None
        share = self.seconds if whole else share
        began = thread_time()
        found = task(share)
        took = thread_time() - began
        self._left += took if answers(found) else -took
        return found


class _TimeIsOver(BaseException):
    """Raised in a step when the time is over; it is no `Exception`, which the step might take for its own."""


def in_time(seconds: float, task: Callable[[], _T]) -> _T | None:
    """The result of a task; None if it was ended because it took that many seconds of processor time and a
    little more. What it has found by then must stand where others see it.

    Steps that look at a deadline take less; this is for what they do between two looks. Without effect inside
    another such task, outside the main thread, and on systems without timers of processor time.
    """
    if (
        not hasattr(signal, "setitimer") or current_thread() is not main_thread()
        or signal.getitimer(signal.ITIMER_PROF)[0]
    ):
        return task()

    until = deadline(seconds)

    def end(number: int, frame: object) -> None:
        if until.passed:  # the timer counts other threads, too
            raise _TimeIsOver

    before = signal.signal(signal.SIGPROF, end)
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds + _GRACE * (seconds + 1), _AGAIN)
            return task()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)  # where the time may be over, too
    except _TimeIsOver:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
