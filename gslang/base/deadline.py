"""Limits of processor time. A task is given a deadline, and its steps ask whether it is over; between two
questions a step may do what its own limits on sizes admit. `in_time` ends what does not ask.

The time is that of the thread: other work on the machine takes none of it away.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from threading import current_thread, main_thread
from time import thread_time
from typing import Final, TypeVar

from gslang.base.quick_dataclass import dataclass

_T = TypeVar("_T")
SECONDS: Final = 7.0  # for one rule, and for all rules of a run that end without an answer
NO_TIME: Final = f"no time was left for it: `--seconds {SECONDS:g}` gives each as much"
_SHARE: Final = 0.5  # of the time that is left for tasks without an answer, for the next one
_FEW: Final = 100  # tasks; of more, each takes `_EACH` seconds to be read and told
_EACH: Final = 0.0015
_LEAST: Final = 0.05  # seconds: with less, no task is begun
_GRACE: Final = 0.3  # seconds beyond a deadline, for a step that does not ask
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

    Tasks that end with an answer take as long as they do. The others together have `seconds`, or half as much
    as those took, if that is more: a run without answers ends after `seconds`, and of a long one with answers
    no more than a third was in vain. `fixed`: the user has said how long each task may take,
    and so each has `seconds`. `tasks`: how many there are, if that is known.
    """

    def __init__(self, seconds: float, fixed: bool, tasks: int | None = None) -> None:
        self.seconds, self.fixed, self._tasks = seconds, fixed, tasks
        self._answered = 0.0
        self._unanswered = min(_EACH * max(0, (tasks or 0) - _FEW), seconds / 2)

    @property
    def share(self) -> float:
        """Seconds for the next task: half of what is left, or all of it for the last one; 0 if that
        is not worth beginning."""
        if self.fixed:
            return self.seconds
        left = max(self.seconds, self._answered / 2) - self._unanswered
        share = min(self.seconds, left if self._tasks == 1 else _SHARE * left)
        return share if share >= _LEAST else 0.0

    def spend(self, task: Callable[[float], _T], answers: Callable[[_T], bool]) -> _T | None:
        """The result of the next task, called with its seconds; None if there are none for it, or if it takes
        a little more. `answers`: tells whether a result is an answer."""
        share = self.share
        began = thread_time()
        found = in_time(share, partial(task, share)) if share else None
        if found is not None and answers(found):
            self._answered += thread_time() - began
        else:
            self._unanswered += thread_time() - began
        self._tasks = None if self._tasks is None else self._tasks - 1
        return found


class _TimeIsOver(BaseException):
    """Raised in a step when the time is over; it is no `Exception`, which the step might take for its own."""


def in_time(seconds: float, task: Callable[[], _T]) -> _T | None:
    """The result of a task; None if it took so many seconds of processor time and a little more.

    Steps that look at a deadline take less; this is for what they do between two looks. Without effect inside
    another such task, outside the main thread, and on systems without timers of processor time.
    """
    if (
        not hasattr(signal, "setitimer") or current_thread() is not main_thread()
        or signal.getitimer(signal.ITIMER_PROF)[0]
    ):
        return task()

    def end(number: int, frame: object) -> None:
        raise _TimeIsOver

    before = signal.signal(signal.SIGPROF, end)
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds + _GRACE, _AGAIN)
            return task()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)  # where the time may be over, too
    except _TimeIsOver:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
