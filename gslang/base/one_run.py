"""Processes that end after one run, as that of a command does: they load nothing that pays only in later
ones.
"""

from __future__ import annotations

_expected: list[bool] = [False]


def expect_one_run() -> None:
    """Called by the command line before it begins."""
    _expected[0] = True


def is_one_run() -> bool:
    """True if this process ends after one run."""
    return _expected[0]
