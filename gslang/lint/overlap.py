"""L0201: rules that match at the same node.

The graph is found by unifying the two sources; both matchers have run on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.engine.lower import program_of
from gslang.formats.json_writer import ids_of_nodes
from gslang.graph.graph import Graph
from gslang.lint.linted_file import Finding, LintedFile, LintedRule, finding
from gslang.lint.pattern_walk import is_run
from gslang.lint.shown_graph import as_json, as_statements
from gslang.lint.witness import common_graph, graphs_of, matching_nodes


def overlap(file: LintedFile) -> Iterator[Finding]:
    for first, second, graph, node in overlaps(file):
        related = (Label(first.written.name.span, "tried first"),)
        message = f"`{first.name}` and `{second.name}` match at the same node"
        shown = f"both match at `{ids_of_nodes(graph)[node]}` of {as_statements(graph)}"
        yield finding(
            "L0201", message, second.written.name.span, shown, related=related, graph=as_json(graph)
        )


def overlaps(file: LintedFile) -> Iterator[tuple[LintedRule, LintedRule, Graph, int]]:
    """Pairs in the order of the file, with a graph and a node at which both match."""
    shelves: dict[str, list[LintedRule]] = {}
    for rule in file.rules:
        if not is_run(rule.checked):
            continue
        starts = program_of(rule.checked).starts
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
