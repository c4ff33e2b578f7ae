"""Verdicts that an earlier run has left in the cache, without verifying anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gslang.base.cache import cached
from gslang.check.checked import CheckedProgram

if TYPE_CHECKING:
    from gslang.verify.verdict import Verdict


class _Absent(Exception):
    """The cache has no verdict."""


def cache_key(program: CheckedProgram, name: str) -> tuple[str, ...]:
    """The key of a rule's verdict with the usual settings: the rule, its tests, the settings, the code."""
    from gslang.verify.verdict import Settings, content_of, own_code

    tests = [test for test in program.tests if test.rule == name]
    return content_of(program.rules[name]), content_of(tests), repr(Settings()), own_code()


def cached_verdict(key: tuple[str, ...]) -> Verdict | None:
    """The verdict under a key of `cache_key`, or None."""

    def absent() -> Verdict:
        raise _Absent

    try:
        return cached("verify", key, absent)
    except _Absent:
        return None
