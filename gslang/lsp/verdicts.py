"""Verdicts that are known, from this server or from the cache of `gslc verify`; and finding one out now.

The server remembers its own: where no cache can be written, an author still sees what was just found.
Verification loads NumPy: only when it is asked for, since a server is to be there at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gslang.check.checked import CheckedProgram
from gslang.verify.known import cache_key, cached_verdict

if TYPE_CHECKING:
    from gslang.verify.verdict import Verdict


_FOUND: dict[tuple[str, ...], Verdict] = {}


def known_verdict(program: CheckedProgram, name: str) -> Verdict | None:
    """The verdict of an earlier run with the usual settings on this rule with these tests."""
    if name not in program.rules:
        return None
    key = cache_key(program, name)
    if key in _FOUND:
        return _FOUND[key]

    return cached_verdict(key)


def find_verdict(program: CheckedProgram, name: str) -> Verdict | None:
    """Verify now (seconds), as `gslc verify` does it. None if there is no such rule without errors."""
    from gslang.verify.verdict import Settings, verify

    if name not in program.rules:
        return None
    found = _FOUND[cache_key(program, name)] = verify(program.rules[name], Settings(), (program,))
    return found


def told(verdict: Verdict) -> str:
    """A verdict in a line."""
    more = f", {verdict.instances} instances" if verdict.instances else ""
    return f"{verdict.verdict}{more}" + (f": {verdict.reason}" if verdict.reason else "")
