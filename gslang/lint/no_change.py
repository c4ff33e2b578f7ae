"""L0116: rules whose target is their source: the same operators on the same nodes with the same attributes.

A rule with `@attach` changes something: the annotations of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.check.checked import attaches
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.rebuilt import rebuilds_itself


def no_change(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        if rebuilds_itself(rule.checked) and not attaches(rule.checked):
            hint = "an application rebuilds the match: an infinite loop"
            yield finding("L0116", f"the target of `{rule.name}` is its source", rule.written.name.span, hint)
