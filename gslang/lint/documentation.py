"""L0108 and L0109: rules that nobody explains, and rules that nothing tests."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.lint.linted_file import Finding, LintedFile, finding


def missing_doc(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        if not rule.checked.doc:
            mend = "put a line `## what it does` above the rule"
            yield finding("L0108", f"nothing says what `{rule.name}` does", rule.written.name.span, mend)


def missing_test(file: LintedFile) -> Iterator[Finding]:
    tested = {test.rule for test in file.program.tests}
    for rule in file.rules:
        if rule.name not in tested:
            mend = f'add `test "…" for {rule.name} {{ … }}`; one with `=> unchanged` shows where it stops'
            yield finding("L0109", f"nothing tests `{rule.name}`", rule.written.name.span, mend)
