"""Findings in rule families: the rules of a family share one text, so a finding in it is reported once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gslang.lint.constant_condition import NEVER
from gslang.lint.linted_file import Finding, LintedRule

SUPERFLUOUS = frozenset({"L0104", "L0113", "L0118", "L0120"})
"""Lints that find something without effect; a condition that is never true has one."""


def once_for_families(rules: Iterable[LintedRule], found: Iterable[Finding]) -> list[Finding]:
    """The findings, those in a family once for each place.

    What is superfluous is so in all rules of the family. A fix is kept if all of them have it alike.
    """
    places = [rule.written.span for rule in rules if rule.checked.family is not None]
    result: dict[object, list[Finding]] = {}
    counts: dict[object, int] = {}
    for k, one in enumerate(found):
        span = one.primary.span
        around = [
            place
            for place in places
            if place.source.name == span.source.name and place.start <= span.start < place.end
        ]
        key = (one.code, span) if around else k
        result.setdefault(key, []).append(one)
        counts[key] = len(around)
    return [
        _told_once(group, counts[key])
        for key, group in result.items() if not _superfluous_in_some(group, counts[key])
    ]


def _superfluous_in_some(group: list[Finding], rules: int) -> bool:
    """True if these find something without effect that has one in another rule of the family."""
    first = group[0]
    alike = len(group) >= rules and all(one.message == first.message for one in group)
    return not alike and first.code in SUPERFLUOUS and not any(NEVER in one.message for one in group)


def _told_once(group: list[Finding], rules: int) -> Finding:
    # what is always true in others is not superfluous
    first = next((one for one in group if NEVER in one.message), group[0])
    alike = len(group) >= rules and all(one.fix == first.fix for one in group)
    return first if alike else replace(first, fix=None)
