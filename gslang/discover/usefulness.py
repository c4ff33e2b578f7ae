"""The usefulness of rules: how often each fires on some graphs, alone, and what that saves."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.api import parse_rules
from gslang.base.quick_dataclass import dataclass
from gslang.check.limits import LimitExceeded
from gslang.discover.judge import Judged
from gslang.graph.graph import Graph
from gslang.search.cost.graph_cost import graph_cost
from gslang.search.cost.tables import CostTable
from gslang.search.cost.work import UnknownCost

_MOST_APPLICATIONS = 500  # of one rule to one graph: some lead back to where they came from


@dataclass(frozen=True, slots=True)
class Use:
    """`fired`: applications on all graphs; `saved`: what the graphs cost less then (negative where they cost
    more).
    """

    fired: int = 0
    saved: float = 0.0


def use_of(rule: Judged, prelude: str, graphs: Sequence[Graph], table: CostTable) -> Use:
    """The effect of a rule on graphs. A graph that has no cost, before or after, saves nothing."""
    rules = parse_rules(prelude + rule.text, "<discovered>")
    fired, saved = 0, 0.0
    for graph in graphs:
        if graph.dialect != rules.dialect.name:
            continue
        try:
            result = rules.apply(graph, limit=_MOST_APPLICATIONS, subgraphs=False)
        except LimitExceeded:
            continue
        fired += result.applications
        if result.applications:
            saved += _cost(graph, rules.dialect, table) - _cost(result.graph, rules.dialect, table)
    return Use(fired, saved if saved == saved else 0.0)


def _cost(graph: Graph, dialect: object, table: CostTable) -> float:
    try:
        return graph_cost(graph, dialect, table).cost  # type: ignore[arg-type]
    except UnknownCost:
        return 0.0


def in_order(rules: Sequence[Judged], uses: Sequence[Use]) -> list[tuple[Judged, Use]]:
    """The most useful first: what saves most, then what fires most, then as they were found."""
    places = sorted(range(len(rules)), key=lambda k: (-uses[k].saved, -uses[k].fired, k))
    return [(rules[k], uses[k]) for k in places]
