"""The rules that a search may use: those whose verdict is good enough."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Final

from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.verify.verdict import ORDER, Settings, verify

REQUIRE: Final = ("any", "tested", "exact", "proved")


def accepting(
    programs: Sequence[CheckedProgram],
    require: str,
    refused: Callable[[CheckedRule, str], object] = lambda rule, verdict: None,
) -> Callable[[CheckedRule], bool]:
    """A predicate: a rule's verdict is at least `require`; verdicts are looked up, or computed, on first use.
    `refused` is told of rules below it, and of those marked `@changes`, which are never used. Raises
    `ValueError` for another word than those of `REQUIRE`.
    """
    if require not in REQUIRE:
        raise ValueError(f"`require` is one of {', '.join(REQUIRE)}, not {require!r}")

    def accept(rule: CheckedRule) -> bool:
        if rule.changes is not None:  # a search looks for graphs that compute the same
            refused(rule, "changes")
            return False
        if require == "any":
            return True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
            verdict = verify(rule, Settings(), tuple(programs)).verdict
        if ORDER.index(verdict) >= ORDER.index(require):
            return True
        refused(rule, verdict)
        return False

    return accept
