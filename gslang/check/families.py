"""The rules that a rule item stands for, checked: one, or those of a family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gslang.base.diagnostics import Diagnostic, Label
from gslang.check import checked as ir
from gslang.check.rule import check_rule
from gslang.dialect.dialect import Dialect
from gslang.syntax import nodes as n
from gslang.syntax.families import instances, row_of


def check_rules(
    item: n.Rule, dialect: Dialect, functions: Mapping[str, n.FnDecl | n.ParamDecl], module: str
) -> tuple[dict[str, ir.CheckedRule | None], list[Diagnostic]]:
    """By name the checked rules, None for one that has an error; and all findings.

    What is wrong with every rule of a family is told once.
    """
    rules, found = instances(item)
    if found:
        return {item.name.id: None, **{rule.name.id: None for rule in rules}}, found
    checked: dict[str, ir.CheckedRule | None] = {}
    told: dict[tuple[object, ...], list[tuple[str, Diagnostic]]] = {}
    for rule in rules:
        checked[rule.name.id], problems = check_rule(rule, dialect, functions, module)
        for problem in problems:
            told.setdefault((problem.code, problem.primary), []).append((rule.name.id, problem))
    for some in told.values():
        name, problem = some[0]
        row = row_of(item, name)
        if row is not None and len(some) < len(rules):
            others = f" and {len(some) - 1} more" if len(some) > 1 else ""
            problem = replace(problem, related=(*problem.related, Label(row.span, f"in `{name}`{others}")))
        found.append(problem)
    return checked, found
