"""One application of a rule to an e-graph: its target is added and, unless it is only proposed, equal to the
source.
"""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.engine.build import build_or_undo
from gslang.engine.conditions import output_slots
from gslang.engine.scope import Scope
from gslang.graph.inference import contradiction
from gslang.search.egraph import EGraph


@dataclass(frozen=True, slots=True)
class Added:
    """`made`: the e-nodes of the target, in the order in which it was built, also those that were there;
    `targets`: those of them (or matched nodes) that are equal to the outputs. `is_news`: the e-graph changes.
    """

    made: list[int]
    targets: list[int]
    is_news: bool


def add_target(egraph: EGraph, scope: Scope, proposes: bool = False) -> Added | str | None:
    """Add a match's target and, unless the rule only proposes it, unite it with the source.

    A text says why the target does not fit. None: a value that it needs is not known, so this is no match.
    Matching sees what is added after `EGraph.rebuild`.
    """
    store = egraph.store
    sources = output_slots(scope)
    first = len(store.op)
    targets = build_or_undo(store, scope)
    if not isinstance(targets, list):
        return targets
    if len(sources) != len(targets) or any(target < 0 for target in targets):
        store.discard_from(first)
        return None
    for source, target in zip(sources, targets):
        known = egraph.type_of(target) if target < first else store.types[target]
        if why := contradiction(egraph.type_of(source), known):
            store.discard_from(first)
            return f"the target's type does not fit: {why}"
    return _united(egraph, scope, sources, targets, first, proposes)


def _united(
    egraph: EGraph, scope: Scope, sources: list[int], targets: list[int], first: int, proposes: bool
) -> Added:
    """Intern the nodes from `first` on, and unite each source with its target."""
    store = egraph.store
    reasons = egraph.reason(scope, sources, targets, first) if not proposes else [None] * len(sources)
    same: dict[int, int] = {}
    made = [egraph.intern(node, same, scope.rule.name) for node in range(first, len(store.op))]
    news = fresh = any(node not in same for node in range(first, len(store.op)))
    now = [same.get(target, target) for target in targets]
    for source, target, cause in zip(sources, now, reasons):
        if not proposes and egraph.find(source) != egraph.find(target):
            egraph.unite(source, target, cause)
            news = True
    if not fresh:
        store.discard_from(first)
        del egraph.leader[first:]
    return Added(made, now, news)
