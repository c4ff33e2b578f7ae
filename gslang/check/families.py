"""The rules that a rule item stands for, checked: one, or those of a family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gslang.base.diagnostics import Diagnostic, Label
from gslang.check import checked as ir
from gslang.check.context import KINDS
from gslang.check.rule import check_rule
from gslang.check.walks import walk
from gslang.dialect.dialect import Dialect
from gslang.syntax import nodes as n
from gslang.syntax.families import instances, items_of, row_of


def check_rules(
    item: n.Rule, dialect: Dialect, functions: Mapping[str, n.FnDecl | n.ParamDecl]
) -> tuple[dict[str, ir.CheckedRule | None], list[Diagnostic]]:
    """By name the checked rules, None for one that has an error; and all findings.

    What is wrong with every rule of a family is reported once; where the messages differ, with all of them.
    """
    rules, found = instances(item)
    rows = item.table.rows if item.table is not None else ()
    if wrong := [*_named_as_kinds(item), *_bracketed(item)]:
        return {item.name.id: None}, [*found, *wrong]
    if any(problem.primary.span not in [row.span for row in rows] for problem in found):
        return {item.name.id: None}, found  # the table as a whole is wrong
    checked: dict[str, ir.CheckedRule | None] = {item.name.id: None} if found else {}
    told: dict[tuple[object, ...], list[tuple[str, Diagnostic]]] = {}
    for rule in rules:
        checked[rule.name.id], problems = check_rule(rule, dialect, functions)
        for problem in problems:
            told.setdefault((problem.code, problem.primary), []).append((rule.name.id, problem))
    for some in told.values():
        by_message: dict[str, list[str]] = {}
        for name, problem in some:
            by_message.setdefault(problem.message, []).append(name)
        problem = some[0][1]
        if len(by_message) > 1 or len(some) < len(rules):
            problem = replace(problem, related=(*problem.related, *_rows(item, by_message)))
        found.append(problem)
    return checked, found


def names_called(item: n.Rule) -> set[str]:
    """The names that a rule calls."""
    return {
        part.callee.id
        for part in walk((item.source, item.target))
        if isinstance(part, n.Call) and isinstance(part.callee, n.Name)
    }


def _named_as_kinds(item: n.Rule) -> Iterator[Diagnostic]:
    """Findings about names of a table that are kinds."""
    for name in () if item.table is None else item.table.names:
        if name.id in KINDS:
            yield Diagnostic(
                "E0203", f"`{name.id}` is a kind and cannot be bound", Label(name.span),
                help="choose another name",
            )


def _bracketed(item: n.Rule) -> Iterator[Diagnostic]:
    """Findings about rows in brackets: a tuple then stands for a name that the rule calls."""
    if item.table is None:
        return
    called = names_called(item)
    for row in item.table.rows:
        items = items_of(row, item.table) or ()
        if any(name.id in called and isinstance(e, n.TupleExpr) for name, e in zip(item.table.names, items)):
            yield Diagnostic(
                "E0210", "the rows of a table have no brackets around them", Label(row.span),
                help="write `for A in Relu, Tanh`, or `for (A, k) in (Relu, 0), (Tanh, 1)`",
            )


def _rows(item: n.Rule, by_message: Mapping[str, Sequence[str]]) -> Iterator[Label]:
    """The first row of a family that each message is about; all messages after the first one."""
    for k, (message, names) in enumerate(by_message.items()):
        row = row_of(item, names[0])
        if row is not None:
            others = f" and {len(names) - 1} more" if len(names) > 1 else ""
            yield Label(row.span, f"in `{names[0]}`{others}{f': {message}' if k else ''}")
