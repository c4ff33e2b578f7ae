"""L0202: rules that come too late: an earlier one takes each of their matches."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.check import checked as ir
from gslang.check.walks import field_of, walk
from gslang.graph.graph import Graph
from gslang.lint.generality import overlays
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.rule_pairs import candidate_pairs, twins
from gslang.lint.shown_graph import as_json, as_statements
from gslang.lint.small_run import apply_at
from gslang.lint.witness import graphs_of, matching_nodes

_MAY_FAIL = (ir.Captured, ir.SelectTarget, ir.SelectValue, ir.ItemValue, ir.Builtin)
"""Parts of a target of which it depends on the match if they can be built."""


def unreachable(file: LintedFile) -> Iterator[Finding]:
    reported: set[str] = set()
    covers = {rule.name for rule in file.rules if not rule.checked.once and _always_built(rule.checked)}
    for earlier, later in candidate_pairs(file):
        if later.checked.blocks or later.name in reported or earlier.name not in covers:
            continue
        if next(overlays(earlier.checked, later.checked), None) is None or twins(earlier, later):
            continue
        graph = next(iter(graphs_of(file, later.checked)), None)
        if graph is not None and not _taken(earlier.checked, later.checked, graph):
            continue
        reported.add(later.name)  # the first one that covers it is enough to know
        related = (Label(earlier.written.name.span, "more general, and tried first"),)
        hint = f"put `{later.name}` before `{earlier.name}`, or remove it"
        if graph is not None:
            hint += f"; both match in {as_statements(graph)}"
        shown = None if graph is None else as_json(graph)
        yield finding(
            "L0202",
            f"`{earlier.name}` matches everything that `{later.name}` does",
            later.written.name.span,
            hint,
            related=related, graph=shown,
        )


def _taken(earlier: ir.CheckedRule, later: ir.CheckedRule, graph: Graph) -> bool:
    """True if the earlier rule matches, and can be applied, wherever the later one matches in a graph."""
    own = set(matching_nodes(earlier, graph))
    return all(node in own and apply_at(graph.copy(), earlier, node) for node in matching_nodes(later, graph))


def _always_built(rule: ir.CheckedRule) -> bool:
    """True if all that the target reads is known at each match.

    Where a dimension or value is not, the match is skipped.
    """
    for part in walk(rule.target.targets, rule.lets):
        if isinstance(part, _MAY_FAIL):
            return False
        if field_of(part) in ("shape", "dtype", "ndim", "value"):
            return False
        if isinstance(part, ir.BinaryValue) and part.operator in ("/", "//", "%", "**"):
            return False
    return True
