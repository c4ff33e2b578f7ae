"""Verdicts that an earlier run has left in the cache, without verifying anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gslang.check.checked import CheckedProgram

if TYPE_CHECKING:
    from gslang.verify.verdict import Verdict


def cache_key(program: CheckedProgram, name: str) -> tuple[str, ...]:
    """The key of a rule's verdict with the usual settings: the rule, its tests, the settings, the code."""
    from gslang.verify.evidence import Settings
    from gslang.verify.verdict_key import content_of, settings_key

    tests = [test for test in program.tests if test.rule == name]
    return content_of(program.rules[name]), content_of(tests), *settings_key(Settings())


def cached_verdict(key: tuple[str, ...]) -> Verdict | None:
    """The verdict under a key of `cache_key`, or None."""
    from gslang.verify.verdict import Settings, known_verdict

    return known_verdict(key, Settings().seconds)
