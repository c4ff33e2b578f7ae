"""Applying a trace again: each rule at the place where it was applied, without looking anywhere else.

A matcher finds the same match at the same place of the same graph, so rule and first output are enough to
apply an entry again, or the number of the `match` where it was not the first; all else that it says is
compared, so that another graph, other rules or an edited trace are noticed where they part. Built-in steps of
passes are done again as they are. Not here: the file (`cli.trace_file`), graphs inside the graph
(`gslang.api`), applications to e-graphs (`search.trace`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from gslang.base.open_types import JsonObject
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.engine.edits import edits_of
from gslang.engine.fixed_point import Observer, Progress, RuleCount
from gslang.engine.generate import Rewriter, compile_rewriter
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.passes import FOLD_LIMIT, Fold
from gslang.engine.rewrite import Application, Failure, apply_match
from gslang.graph.graph import DEAD, Graph

_SHOWN = 200  # characters of what differs

Said = JsonObject
"""An application as a trace tells it; see `told`."""


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """An entry of a trace, in its line `line`: what was `said` of an application, or else a `step`: a
    built-in one (`fold`, `cse`), or one of a search (`search.trace`).

    `body`: the path of the graph inside the graph where it was done, "" for the graph itself. `fold_limit`:
    that of a `fold`.
    """

    line: int
    step: str | None
    said: Said
    body: str = ""
    fold_limit: int | None = FOLD_LIMIT


class ReplayError(Exception):
    """An entry that does not fit. `line` is its place in the trace."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def ids_of(graph: Graph) -> Callable[[int], str]:
    """Ids of nodes in a trace of a run on `graph`, unique: the file's for its nodes, `%12` for what came
    later.

    Call it before the run. Names that several nodes have are the first one's; where names begin with `%`, ids
    do with `%%`.
    """
    first = {name: node for node, name in reversed(list(enumerate(graph.names))) if name}
    names = [name if name and first[name] == node else None for node, name in enumerate(graph.names)]
    mark = "%"
    while any(name.startswith(mark) for name in first):
        mark += "%"
    first_new = len(names)
    return lambda node: (names[node] if node < first_new else None) or f"{mark}{node}"


def told(number: int, what: Application, ids: Callable[[int], str]) -> dict[str, object]:
    """An application as a trace tells it, in values that JSON has."""
    return {
        "application": number,
        "rule": what.rule,
        "outputs": [ids(node) for node in what.outputs],
        "removed": [ids(node) for node in what.removed],
        "added": [
            {"id": ids(node), "op": op.lstrip("%")} for node, op in zip(what.added, what.added_operators)
        ],
        "replaced": {ids(old): ids(now) for old, now in what.replaced.items()},
        "bindings": {name: bound(value, ids) for name, value in what.bindings.items()},
    }


def bound(value: Any, ids: Callable[[int], str]) -> Any:
    """The value of a name, as a trace tells it: a matched node, or the instances of a block as tables."""
    return (
        ids(value) if isinstance(value, int)
        else [{name: ids(node) for name, node in table.items()} for table in value]
    )


@dataclass(frozen=True, slots=True)
class Places:
    """Ids of a graph's nodes in a trace and, the other way round, the nodes that were told so far."""

    ids: Callable[[int], str]
    nodes: dict[str, int]


def places_of(graph: Graph) -> Places:
    """Call it before anything is applied to `graph`."""
    ids = ids_of(graph)
    return Places(ids, {ids(node): node for node in range(len(graph.op))})


def replay(
    graph: Graph,
    dialect: Dialect,
    rules: Mapping[str, CheckedRule],
    entries: Iterable[TraceEntry],
    fold: Callable[[int | None], Fold],
    progress: Progress,
    observe: Observer | None = None,
    places: Places | None = None,
) -> None:
    """Apply the entries in order, changing `graph`. Raises `ReplayError` at the first one that does not fit.

    `fold` gives what folds with a limit. `progress` counts on; `places` are those of before, where entries of
    this graph have been applied already.
    """
    places = places or places_of(graph)
    rewriters: dict[str, Rewriter] = {}
    for entry in entries:
        if entry.step in ("search", "choose") or "round" in entry.said:
            raise ReplayError(entry.line, "this belongs to a search, whose trace begins with `search`")
        if entry.step is not None:
            if observe is not None:
                observe(progress.applications, entry.step)
            rewriters.clear()  # they watch what rules do to the graph, not what built-in steps do
            graph.additions.clear()
            first_new = len(graph.op)
            (fold(entry.fold_limit)(graph) if entry.step == "fold" else merge_equal_calls(graph, dialect))
            places.nodes.update((places.ids(node), node) for node in range(first_new, len(graph.op)))
            continue
        application = _apply(entry, graph, rules, places.nodes, rewriters)
        progress.applications += 1
        compare(entry, told(progress.applications, application, places.ids))
        places.nodes.update((places.ids(node), node) for node in application.added)
        count = progress.counts.setdefault(application.rule, RuleCount())
        count.candidates += 1
        count.matches += 1
        count.applications += 1
        if observe is not None:
            observe(progress.applications, application)
    graph.additions.clear()


def _apply(
    entry: TraceEntry, graph: Graph, rules: Mapping[str, CheckedRule], numbers: Mapping[str, int],
    rewriters: dict[str, Rewriter],
) -> Application:  # fmt: skip
    """Apply the entry's rule where it says. Raises `ReplayError`."""
    name, place = entry.said["rule"], entry.said["outputs"][0]
    rule = rules.get(name)
    if rule is None:
        guess = did_you_mean(name, rules)
        raise ReplayError(
            entry.line, f"unknown rule `{name}`" + (f" (did you mean `{guess}`?)" if guess else "")
        )
    start = numbers.get(place)
    if start is None:
        raise ReplayError(entry.line, f"unknown node `{place}`")
    if graph.op[start] is DEAD:
        raise ReplayError(entry.line, f"the node `{place}` was already removed")
    if "match" in entry.said:
        scope = next(islice(matches(program_of(rule), graph, start), entry.said["match"], None), None)
        if scope is None:
            raise ReplayError(entry.line, f"`{name}` does not match at `{place}`")
        return _done(entry, apply_match(scope, edits_of(graph, rule.dialect), [], traced=True))
    if name not in rewriters:
        rewriters[name] = compile_rewriter(program_of(rule), traced=True)(edits_of(graph, rule.dialect))
    return _done(entry, rewriters[name](start, []))


def _done(entry: TraceEntry, application: Application | Failure | bool | None) -> Application:
    """Raises `ReplayError` unless something was applied."""
    name, place = entry.said["rule"], entry.said["outputs"][0]
    if isinstance(application, Failure):
        raise ReplayError(entry.line, f"`{name}` cannot be applied at `{place}`: {application.message}")
    if not isinstance(application, Application):
        raise ReplayError(entry.line, f"`{name}` does not match at `{place}`")
    return application


def compare(entry: TraceEntry, done: Said) -> None:
    """Compare an application with its line in the trace. Raises `ReplayError` if they differ."""
    for key, found in done.items():
        # in no particular order
        if entry.said[key] != found and not (key == "removed" and sorted(entry.said[key]) == sorted(found)):
            now, then = (json.dumps(value, ensure_ascii=False)[:_SHOWN] for value in (found, entry.said[key]))
            raise ReplayError(entry.line, f"`{done['rule']}` has other `{key}` here: {now}, and not {then}")
