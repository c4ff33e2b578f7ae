"""L0206: rules that stand twice, up to names and commuted operands."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.lint.likeness import Likeness
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.rule_pairs import candidate_pairs, twins


def duplicate(file: LintedFile) -> Iterator[Finding]:
    likeness, reported = Likeness(), set[str]()
    built = {rule.name: likeness.of_target(rule.checked) for rule in file.rules}
    for earlier, later in candidate_pairs(file):
        if later.name in reported or built[earlier.name] != built[later.name]:
            continue
        if twins(earlier, later):
            reported.add(later.name)  # of the first one; the others are duplicates of it, too
            related = (Label(earlier.written.name.span, "the first one"),)
            yield finding(
                "L0206", f"`{later.name}` is a duplicate of `{earlier.name}`", later.written.name.span,
                "remove one of them", related=related,
            )
