"""What `gslc verify` found out about a rule before, if its cache still has it; and finding it out now."""

from __future__ import annotations

from gslang.base.cache import cached
from gslang.check.checked import CheckedRule
from gslang.verify.verdict import Settings, Verdict, _content, _own_code, verify


class _Absent(Exception):
    """The cache has no verdict."""


def known_verdict(rule: CheckedRule) -> Verdict | None:
    """The verdict of an earlier run with the usual settings."""

    def absent() -> Verdict:
        raise _Absent

    try:
        return cached("verify", (_content(rule), repr(Settings()), _own_code()), absent)
    except _Absent:
        return None


def find_verdict(rule: CheckedRule) -> Verdict:
    """Verify now (seconds), as `gslc verify` does it."""
    return verify(rule)


def told(verdict: Verdict) -> str:
    """A verdict in a line."""
    more = f", {verdict.instances} instances" if verdict.instances else ""
    return f"{verdict.verdict}{more}" + (f": {verdict.reason}" if verdict.reason else "")
