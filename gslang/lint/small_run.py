"""Running rules on a small graph with the readable engine: no code is generated, each application is known by
name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.engine.edits import edits_of
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Application, apply_match
from gslang.graph.graph import Graph
from gslang.lint.pattern_walk import is_run

Index = Mapping[str, Sequence[ir.CheckedRule]]


@dataclass(frozen=True, slots=True)
class Run:
    """`applied`: names of rules in order. `ended`: nothing matches any more."""

    applied: tuple[str, ...]
    ended: bool


def by_start(rules: Sequence[ir.CheckedRule]) -> Index:
    """Operator → rules that can start there, in order."""
    index: dict[str, list[ir.CheckedRule]] = {}
    for rule in rules:
        if is_run(rule):
            for start in program_of(rule).starts:
                index.setdefault(start, []).append(rule)
    return index


def apply_once(graph: Graph, dialect: Dialect, index: Index, made: dict[int, str]) -> str | None:
    """Apply the first rule that matches, changing the graph; its name.

    `made`: node → `maker`, for rules under `@once`.
    """
    edits = edits_of(graph, dialect)
    for node in graph.in_order():
        for rule in index.get(graph.op[node], ()):
            if rule.once and made.get(node) == rule.maker:
                continue
            for scope in matches(program_of(rule), graph, node):
                result = apply_match(scope, edits, [], traced=True)
                if isinstance(result, Application):
                    made.update(dict.fromkeys(result.added, rule.maker))
                    return rule.name
                break
    return None


def apply_at(graph: Graph, rule: ir.CheckedRule, node: int) -> bool:
    """Apply a rule at one node, changing the graph; whether that could be done."""
    edits = edits_of(graph, rule.dialect)
    for scope in matches(program_of(rule), graph, node):
        return isinstance(apply_match(scope, edits, [], traced=True), Application)
    return False


def run_small(graph: Graph, dialect: Dialect, index: Index, most: int) -> Run:
    """Apply rules until nothing matches, at most `most` times, changing the graph."""
    applied: list[str] = []
    made: dict[int, str] = {}
    while len(applied) < most:
        name = apply_once(graph, dialect, index, made)
        if name is None:
            return Run(tuple(applied), True)
        applied.append(name)
    return Run(tuple(applied), False)
