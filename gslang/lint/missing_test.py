"""L0109: rules that nothing tests, though a test could be written: its graph has no bodies."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.lint.linted_file import Finding, LintedFile, finding


def missing_test(file: LintedFile) -> Iterator[Finding]:
    tested = {test.rule for test in file.program.tests}
    for rule in file.rules:
        if not rule.checked.bodies and tested.isdisjoint((rule.name, rule.checked.family)):
            hint = (
                f'add `test "…" for {rule.name} {{ … }}`; one with `=> unchanged` shows where the rule does '
                "not apply"
            )
            yield finding("L0109", f"no test for `{rule.name}`", rule.written.name.span, hint)
