"""L0205: critical pairs whose results differ. Two rules match at one node, or one at a node that the match of
the other takes away.

Each rule goes first once, then all rules of the file run to a fixed point. Results that compute the same in
the same way are the same: operands of commutative operators in either order, equal calls being one. Pairs
that join in this way are no finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.check import checked as ir
from gslang.engine.lower import program_of
from gslang.formats.json_writer import ids_of_nodes
from gslang.graph.graph import Graph
from gslang.lint.linted_file import Finding, LintedFile, LintedRule, finding
from gslang.lint.overlap import overlaps
from gslang.lint.pattern_walk import is_run
from gslang.lint.shown_graph import as_json, as_statements, same_results
from gslang.lint.small_run import Index, apply_at, by_start, run_small
from gslang.lint.witness import inner_graph

_MOST_APPLICATIONS = 60
# of a rule and a node inside another that are unified: files of thousands of rules have millions
_MOST_PAIRS = 20_000


def order_dependent(file: LintedFile) -> Iterator[Finding]:
    index = by_start([rule.checked for rule in file.rules])
    reported: set[tuple[str, str]] = set()
    for first, second, graph, node in overlaps(file):
        yield from _judged(first, second, graph, node, node, index, reported)
    for outer, inner, graph, top, below in _inner_overlaps(file):
        if (inner.name, outer.name) not in reported and (outer.name, inner.name) not in reported:
            yield from _judged(outer, inner, graph, top, below, index, reported)


def _judged(
    first: LintedRule,
    second: LintedRule,
    graph: Graph,
    top: int,
    below: int,
    index: Index,
    reported: set[tuple[str, str]],
) -> Iterator[Finding]:
    one, two = _after(graph, first.checked, top, index), _after(graph, second.checked, below, index)
    if one is None or two is None or same_results(one, two, first.checked.dialect):
        return
    reported.add((first.name, second.name))
    ids = ids_of_nodes(graph)
    if first is second:
        message = (
            f"where `{first.name}` is applied first, at `{ids[top]}` or at `{ids[below]}`, decides the result"
        )
    else:
        message = f"whether `{first.name}` or `{second.name}` comes first decides the result"
    related = (Label(first.written.name.span, f"first at `{ids[top]}`, it leads to {_calls(one)}"),)
    hint = f"first at `{ids[below]}`, this one leads to {_calls(two)}; starting from {as_statements(graph)}"
    yield finding("L0205", message, second.written.name.span, hint, related=related, graph=as_json(graph))


def _inner_overlaps(file: LintedFile) -> Iterator[tuple[LintedRule, LintedRule, Graph, int, int]]:
    """Pairs (outer, inner) with a graph and the nodes at which they match, that of the inner one being
    interior to the outer.
    """
    starting: dict[str, list[LintedRule]] = {}
    for rule in file.rules:
        if is_run(rule.checked) and not rule.checked.blocks:
            for start in program_of(rule.checked).starts:
                starting.setdefault(start, []).append(rule)
    budget = _MOST_PAIRS
    for outer in file.rules:
        if not is_run(outer.checked) or outer.checked.blocks:
            continue
        for at in sorted(outer.checked.interior):
            pattern = outer.checked.nodes[at]
            if not isinstance(pattern, ir.CallNode) or at in outer.checked.outputs:
                continue
            candidates = {
                other.name: other for operator in pattern.operators for other in starting.get(operator, ())
            }
            for inner in candidates.values():
                budget -= 1
                if budget < 0:
                    return
                found = inner_graph(outer.checked, at, inner.checked)
                if found is not None:
                    yield outer, inner, *found


def _after(graph: Graph, first: ir.CheckedRule, node: int, index: Index) -> Graph | None:
    """The graph after a rule at a node and then all rules to a fixed point; None if that cannot be, or does
    not end.
    """
    graph = graph.copy()
    if not apply_at(graph, first, node):
        return None
    return graph if run_small(graph, first.dialect, index, _MOST_APPLICATIONS).ended else None


def _calls(graph: Graph) -> str:
    return ", ".join(graph.op[node] for node in graph.in_order() if graph.is_call(node)) or "no calls"
