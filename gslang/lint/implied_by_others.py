"""L0207: a rule that does nothing which the others of its file would not do in several steps
(`discover.implied`).

The last rule is asked first, and what follows from others no longer implies any, so that all that are found
can go. Only derivations that lead forward at each step count: a rule that turns others round is needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import InputError
from gslang.check.limits import LimitExceeded
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.rule_pairs import twins

_MOST_RULES = 150  # of a file: the first of a larger one are cross-checked, the rest are taken as they are


def implied_by_others(file: LintedFile) -> Iterator[Finding]:
    from gslang.discover.implied import NO_INSTANCE, Settings, implied, with_fewer_attempts

    left = [rule for rule in file.rules if not rule.checked.disconnected and rule.checked.changes is None][
        :_MOST_RULES
    ]
    if len(left) < 2:
        return
    found, in_vain = [], 0
    for rule in reversed(left):
        others = [other for other in left if other is not rule]
        if any(twins(other, rule) for other in others):  # L0206 speaks of these
            continue
        try:
            settings = with_fewer_attempts(Settings(instances=3, nodes=300, rounds=5), in_vain)
            answer = implied(rule.checked, [other.checked for other in others], settings)
        except LimitExceeded:
            raise
        except InputError:  # the package that knows types of the dialect is not installed
            return
        in_vain += answer.reason == NO_INSTANCE
        if answer.implied and answer.forward and answer.rules:
            left = others
            names = " and ".join(f"`{name}`" for name in answer.rules)
            found.append(finding(
                "L0207", f"`{rule.name}` follows from {names}", rule.written.name.span,
                "remove it, or keep it for speed",
            ))
    yield from reversed(found)
