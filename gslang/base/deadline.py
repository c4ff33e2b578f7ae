"""Limits of processor time. A task is given a deadline, and its steps ask whether it is over; between two
questions a step may do what its own limits on sizes admit.

The time is that of the thread: other work on the machine takes none of it away.
"""

from __future__ import annotations

from time import thread_time
from typing import Final

from gslang.base.quick_dataclass import dataclass

LESS: Final = 0.25  # of the time for a task, for the next one if it was not enough


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
    """The processor time for each of several tasks, in seconds: a quarter after each task that used
    all of it, so that many without an end take little more time than one.

    `fixed`: the user has said how long it is, and so it stays.
    """

    def __init__(self, seconds: float, fixed: bool) -> None:
        self.seconds, self.fixed = seconds, fixed

    def used_up(self) -> None:
        """Tell that a task did not end in time."""
        if not self.fixed:
            self.seconds *= LESS
