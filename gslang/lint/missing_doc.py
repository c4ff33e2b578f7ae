"""L0108: rules that nobody explains."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.lint.linted_file import Finding, LintedFile, finding


def missing_doc(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        if not rule.checked.doc:
            hint = "add a line `## …` that describes the rule above it"
            yield finding("L0108", f"`{rule.name}` has no documentation", rule.written.name.span, hint)
