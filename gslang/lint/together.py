"""Several files as one rule set: their rules run together when a folder or a package is given to `gslc`, so
they are cross-checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gslang.base.source import Source
from gslang.check.checked import CheckedProgram
from gslang.lint.linted_file import Finding, LintedFile, LintedRule, linted_file
from gslang.syntax import nodes as n


def lint_together(files: Sequence[tuple[Source, CheckedProgram]], selected: frozenset[str]) -> list[Finding]:
    """The findings of the selected L02 lints that are about rules of different files.

    Files of other dialects stand apart; broken ones are left out.
    """
    from gslang.engine.meaning import with_meanings
    from gslang.lint.registry import REGISTRY
    from gslang.lint.suppression import suppress
    from gslang.syntax.parser import parse

    found: list[Finding] = []
    dialects = list(dict.fromkeys(program.dialect.name for _, program in files))
    for dialect in dialects:
        parts = [
            linted_file(source, parse(source).program, with_meanings(program))
            for source, program in files
            if program.ok and program.dialect.name == dialect
        ]
        if len(parts) < 2:
            continue
        merged = _merged(parts)
        for code, lint in REGISTRY.items():
            if code in selected and code.startswith("L02"):
                found += suppress(merged, [f for f in lint(merged) if _between_files(f)], frozenset((code,)))
    return sorted(found, key=lambda d: d.order)


def _merged(parts: Sequence[LintedFile]) -> LintedFile:
    """One file of all: of rules of one name the first."""
    rules: dict[str, LintedRule] = {}
    for part in parts:
        for rule in part.rules:
            rules.setdefault(rule.name, rule)
    first = parts[0]
    items = tuple(item for part in parts for item in part.written.items if not isinstance(item, n.PassDecl))
    operators = {s.name: s for part in parts for s in part.program.dialect.added}
    program = replace(
        first.program,
        dialect=first.program.dialect.with_operators(
            [s for s in operators.values() if s.name not in first.program.dialect.operators]
        ),
        rules={name: rule.checked for name, rule in rules.items()}, own_rules=tuple(rules), passes={},
        tests=tuple(test for part in parts for test in part.program.tests),
    )
    return LintedFile(
        first.source, n.Program(None, items, span=first.written.span), program, tuple(rules.values())
    )


def _between_files(finding: Finding) -> bool:
    names = {finding.primary.span.source.name, *(label.span.source.name for label in finding.related)}
    return len(names) > 1
