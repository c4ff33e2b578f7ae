"""L0108: rules that nobody explains."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.lint.linted_file import Finding, LintedFile, finding


def missing_doc(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        if not rule.checked.doc:
            mend = "put a line `## what it does` above the rule"
            yield finding("L0108", f"nothing says what `{rule.name}` does", rule.written.name.span, mend)
