"""The cost of a graph before and after a run: `--cost` of `apply`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gslang.dialect.dialect import Dialect
    from gslang.graph.graph import Graph
    from gslang.search.cost.tables import CostTable


@dataclass(frozen=True, slots=True)
class CostReport:
    """Costs under a table, in its unit. `reason`: why there are none, if a call has no cost."""

    table: str
    unit: str
    before: float | None = None
    after: float | None = None
    reason: str = ""

    def as_data(self) -> dict[str, object]:
        """The `cost` of `--report` (docs/cli.md)."""
        data = {"computed": not self.reason, "table": self.table, "unit": self.unit}
        if self.reason:
            return {**data, "reason": self.reason}
        return {**data, "before": self.before, "after": self.after}

    def as_text(self) -> str:
        """One line for people."""
        if self.reason:
            return f"note: {self.reason}\n"
        ratio = f" ({self.after / self.before:.4f})" if self.before and self.after is not None else ""
        unit = f" {self.unit}" if self.unit else ""
        return f"cost {self.before:.6g} → {self.after:.6g}{unit}{ratio}\n"


def cost_report(
    before: Graph, after: Graph, dialect: Dialect, table: CostTable, sizes: Mapping[str, int]
) -> CostReport:
    """The costs of two graphs, with sizes for symbolic dimensions by name."""
    from gslang.search.cost.graph_cost import graph_cost, with_sizes
    from gslang.search.cost.work import UnknownCost

    costs = []
    for graph in (before, after):
        try:
            costs.append(graph_cost(with_sizes(graph, dialect, dict(sizes)), dialect, table, None).cost)
        except UnknownCost as error:
            return CostReport(table.name, table.unit, reason=str(error))
    return CostReport(table.name, table.unit, before=costs[0], after=costs[1])
