"""The input of a lint: a file as written and as checked, side by side; and a walk over what was written."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Diagnostic, Fix, Label, Severity
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source, Span
from gslang.check import walks
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.syntax import nodes as n
from gslang.syntax.families import instances


@dataclass(frozen=True, slots=True)
class Finding(Diagnostic):
    """A finding of a lint.

    `graph`: JSON of a graph that shows it, made for `gslc match`. `allowed`: an `@allow` silences it.
    """

    graph: str | None = None
    allowed: bool = False


@dataclass(frozen=True, slots=True)
class LintedRule:
    """A rule without errors. `checked` numbers what `written` names."""

    written: n.Rule
    checked: CheckedRule

    @property
    def name(self) -> str:
        return self.written.name.id


@dataclass(frozen=True, slots=True)
class LintedFile:
    """One file. `rules` are its own, in order."""

    source: Source
    written: n.Program
    program: CheckedProgram
    rules: tuple[LintedRule, ...]


def linted_file(source: Source, written: n.Program, program: CheckedProgram) -> LintedFile:
    rules = [
        LintedRule(rule, program.rules[rule.name.id])
        for item in written.items
        if isinstance(item, n.Rule)
        for rule in instances(item)[0]
        if rule.name.id in program.own_rules
    ]
    return LintedFile(source, written, program, tuple(rules))


def walk(item: object) -> Iterator[n.Node]:
    """A syntax node and all below it, in the order of the text.

    Items of a program may be given as a tuple.
    """
    return (part for part in walks.walk(item) if isinstance(part, n.Node))


def names_in(item: object) -> list[str]:
    """All names that are read in a piece of syntax, with repetitions."""
    return [node.id for node in walk(item) if isinstance(node, n.Name)]


def finding(
    code: str,
    message: str,
    span: Span,
    help: str | None = None, *,
    related: tuple[Label, ...] = (),
    fix: Fix | None = None,
    graph: str | None = None,
) -> Finding:
    return Finding(code, message, Label(span), Severity.WARNING, related, help, fix, graph)
