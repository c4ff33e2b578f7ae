"""What `gslc verify` found out about a rule before, if its cache still has it; and finding it out now.

Verification loads NumPy: only when it is asked for, since a server is to be there at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gslang.base.cache import cached
from gslang.check.checked import CheckedProgram

if TYPE_CHECKING:
    from gslang.verify.verdict import Verdict


class _Absent(Exception):
    """The cache has no verdict."""


def known_verdict(program: CheckedProgram, name: str) -> Verdict | None:
    """The verdict of an earlier run with the usual settings on this rule with these tests. The key is that of `verify`."""
    from gslang.verify.verdict import Settings, content_of, own_code

    rule = program.rules.get(name)
    if rule is None:
        return None
    tests = [test for test in program.tests if test.rule == name]

    def absent() -> Verdict:
        raise _Absent

    try:
        return cached("verify", (content_of(rule), content_of(tests), repr(Settings()), own_code()), absent)
    except _Absent:
        return None


def find_verdict(program: CheckedProgram, name: str) -> Verdict | None:
    """Verify now (seconds), as `gslc verify` does it. None if there is no such rule without errors."""
    from gslang.verify.verdict import Settings, verify

    return verify(program.rules[name], Settings(), (program,)) if name in program.rules else None


def told(verdict: Verdict) -> str:
    """A verdict in a line."""
    more = f", {verdict.instances} instances" if verdict.instances else ""
    return f"{verdict.verdict}{more}" + (f": {verdict.reason}" if verdict.reason else "")
