"""L0116: rules whose target is their source: the same operators on the same nodes with the same attributes."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.rebuilt import rebuilt


def no_change(file: LintedFile) -> Iterator[Finding]:
    """Each output of the target is that of the source again: the same operators on the same nodes with the same attributes."""
    for rule in file.rules:
        outputs, target = rule.checked.outputs, rule.checked.target
        if outputs and len(outputs) == len(target.outputs) and all(rebuilt(rule.checked, k, t) for k, t in zip(outputs, target.outputs)):
            yield finding("L0116", f"the target of `{rule.name}` is its source", rule.written.name.span, "an application would change nothing")
