"""Applying a trace again: each rule at the place where it was applied, without looking anywhere else.

A matcher finds the same match at the same place of the same graph, so an entry needs no more than its rule and its first
output; what else it says is compared, so that another graph, other rules or an edited trace are noticed where they part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.engine.edits import Edits, edits_of
from gslang.engine.fixed_point import Observer, Progress, RuleCount
from gslang.engine.generate import Matcher, compile_matcher
from gslang.engine.passes import Fold
from gslang.engine.plan import plan_of
from gslang.engine.rewrite import Application, apply_match
from gslang.engine.scope import Scope
from gslang.graph.graph import DEAD, Graph


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """A line of a trace: an application of `rule`, or a built-in `step` (`fold`, `cse`). Nodes by their ids in the trace."""

    line: int
    rule: str | None
    step: str | None
    outputs: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class ReplayError(Exception):
    """An entry that does not fit. `line` is its place in the trace."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def ids_of(graph: Graph) -> Callable[[int], str]:
    """Ids of nodes in a trace of a run on `graph`: the file's for its nodes, `%12` for what came later. Call it before the run."""
    names, first_new = graph.names[:], len(graph.op)
    return lambda node: (names[node] if node < first_new else None) or f"%{node}"


def replay(
    graph: Graph, dialect: Dialect, rules: Mapping[str, CheckedRule], entries: Iterable[TraceEntry], fold: Fold,
    observe: Observer | None = None,
) -> Progress:  # fmt: skip
    """Apply the entries in order, changing `graph`. Raises `ReplayError` at the first one that does not fit."""
    progress = Progress()
    ids = ids_of(graph)
    numbers = {ids(node): node for node in range(len(graph.op))}
    machines: dict[str, tuple[Matcher, Edits]] = {}
    for entry in entries:
        if entry.rule is None:
            assert entry.step is not None
            if observe is not None:
                observe(progress.applications, entry.step)
            (fold(graph) if entry.step == "fold" else merge_equal_calls(graph, dialect))
            continue
        rule = rules.get(entry.rule)
        if rule is None:
            raise ReplayError(entry.line, f"there is no rule `{entry.rule}`")
        if entry.rule not in machines or graph.order is None:
            machines[entry.rule] = (compile_matcher(plan_of(rule))(graph), edits_of(graph, rule.dialect))
        match, edits = machines[entry.rule]
        start = _number(entry, numbers, graph)

        def accept(scope: Scope, edits: Edits = edits) -> Any:
            return apply_match(scope, edits, [], traced=True)

        application = match(start, accept)
        if not isinstance(application, Application):
            raise ReplayError(entry.line, f"`{entry.rule}` does not match at `{entry.outputs[0]}`")
        said = (entry.outputs, entry.added, entry.removed)
        done = (application.outputs, application.added, application.removed)
        for what, expected, found in zip(("outputs", "added nodes", "removed nodes"), said, done):
            if expected != tuple(map(ids, found)):
                shown = ", ".join(map(ids, found)) or "none"
                raise ReplayError(entry.line, f"`{entry.rule}` has other {what} here: {shown} (the trace says {', '.join(expected) or 'none'})")
        numbers.update((ids(node), node) for node in application.added)
        progress.applications += 1
        count = progress.counts.setdefault(entry.rule, RuleCount())
        count.matches += 1
        count.applications += 1
        if observe is not None:
            observe(progress.applications, application)
    return progress


def _number(entry: TraceEntry, numbers: Mapping[str, int], graph: Graph) -> int:
    node = numbers.get(entry.outputs[0]) if entry.outputs else None
    if node is None:
        raise ReplayError(entry.line, f"there is no node `{entry.outputs[0] if entry.outputs else ''}`")
    if graph.op[node] is DEAD:
        raise ReplayError(entry.line, f"the node `{entry.outputs[0]}` is gone already")
    return node
