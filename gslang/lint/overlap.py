"""L0201 and L0205: rules that match at the same node, and those of them where it matters which one comes first.

The graph is found by unifying the two sources; both matchers have run on it. For L0205 each rule goes first once, then all rules of the
file run to a fixed point, and the two results are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from gslang.base.diagnostics import Diagnostic, Label
from gslang.check import checked as ir
from gslang.engine.plan import plan_of
from gslang.formats.json_graph import ids_of_nodes, write_json
from gslang.graph.compare import differences
from gslang.graph.graph import Graph
from gslang.lint.linted_file import LintedFile, LintedRule, finding
from gslang.lint.small_run import Index, by_start, run_small
from gslang.lint.witness import common_graph, graphs_of, matching_nodes

_MOST_APPLICATIONS = 60


def overlap(file: LintedFile) -> Iterator[Diagnostic]:
    for first, second, graph, node in _overlaps(file):
        related = (Label(first.written.name.span, "tried first"),)
        message = f"`{first.name}` and `{second.name}` match at the same node"
        yield finding("L0201", message, second.written.name.span, f"both match at {ids_of_nodes(graph)[node]} of {_shown(graph)}", related=related)


def order_dependent(file: LintedFile) -> Iterator[Diagnostic]:
    index = by_start([rule.checked for rule in file.rules])
    for first, second, graph, _ in _overlaps(file):
        one, two = _after(graph, first.checked, index), _after(graph, second.checked, index)
        if one is None or two is None:
            continue
        found = differences(one, two, first.checked.dialect)
        if found:
            related = (Label(first.written.name.span, f"first, it leads to {_calls(one)}"),)
            message = f"whether `{first.name}` or `{second.name}` comes first decides the result"
            mend = f"if this one comes first: {_calls(two)}; begin with {_shown(graph)}"
            yield finding("L0205", message, second.written.name.span, mend, related=related)


def _overlaps(file: LintedFile) -> Iterator[tuple[LintedRule, LintedRule, Graph, int]]:
    """Pairs in the order of the file, with a graph and a node at which both match."""
    shelves: dict[str, list[LintedRule]] = {}
    for rule in file.rules:
        if rule.checked.disconnected:
            continue
        starts = plan_of(rule.checked).starts
        own = graphs_of(file, rule.checked) if any(start in shelves for start in starts) else []
        earlier = {other.name: other for start in starts for other in shelves.get(start, ())}
        for other in earlier.values():
            found = _in_tests(own, rule, other) or common_graph(other.checked, rule.checked)
            if found is not None:
                yield other, rule, *found
        for start in starts:
            shelves.setdefault(start, []).append(rule)


def _in_tests(graphs: list[Graph], rule: LintedRule, other: LintedRule) -> tuple[Graph, int] | None:
    for graph in graphs:
        both = set(matching_nodes(other.checked, graph)) & set(matching_nodes(rule.checked, graph))
        if both:
            return graph, min(both)
    return None


def _after(graph: Graph, first: ir.CheckedRule, index: Index) -> Graph | None:
    """The graph after one application of a rule and all others to a fixed point; None if that does not end."""
    graph = graph.copy()
    if not run_small(graph, first.dialect, by_start([first]), 1).applied:
        return None
    return graph if run_small(graph, first.dialect, index, _MOST_APPLICATIONS).ended else None


def _shown(graph: Graph) -> str:
    """The graph as JSON in one line."""
    return json.dumps(json.loads(write_json(graph)), ensure_ascii=False)


def _calls(graph: Graph) -> str:
    return ", ".join(graph.op[node] for node in graph.in_order() if graph.is_call(node)) or "no calls"
