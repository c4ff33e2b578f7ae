"""One rule: its matches, its nearest misses, its picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gslang.api.models import Model, graph_of
from gslang.base.quick_dataclass import dataclass
from gslang.base.shown_file import shown_file
from gslang.check.checked import CheckedRule
from gslang.check.opsets import why_unfit
from gslang.engine.conditions import bound_slots, output_slots
from gslang.engine.effort import Effort, matches_within
from gslang.engine.lower import program_of
from gslang.engine.machine import matches as find_matches
from gslang.engine.rewrite import describe
from gslang.graph.graph import CONST
from gslang.graph.known_calls import prepared

if TYPE_CHECKING:
    from gslang.engine.miss import Miss


@dataclass(frozen=True)
class Match:
    """One match. `nodes`: user's name → id in the graph; `instances`: block → list of such tables."""

    rule: str
    outputs: tuple[str, ...]
    nodes: dict[str, str]
    instances: dict[str, list[dict[str, str]]]


@dataclass(frozen=True)
class Rule:
    """One rule of a set."""

    rule: CheckedRule

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def doc(self) -> str | None:
        return self.rule.doc

    def matches(self, model: Model, effort: Effort | None = None) -> Iterator[Match]:
        """The matches of the rule, one for each first output; the graph is unchanged.

        Matches of the same nodes with the outputs in another order (a symmetric pattern seen from its other
        side) are one. If a pattern has any number of outputs, a match takes all that there are; none of them
        is then the first output of another match. With an `effort` raises `EffortSpent` when that is used up.
        """
        graph, plan = graph_of(model, self.rule.dialect), program_of(self.rule)
        starts, seen = set(plan.starts), set()
        taken: set[int] = set()
        # a model may have thousands of bodies
        if CONST not in starts and starts.isdisjoint(graph.op) or why_unfit(self.rule, graph.meta):
            return
        graph = prepared(graph, self.rule.dialect)
        for node in list(graph.ordered()):
            if graph.op[node] not in starts or node in taken:
                continue
            for scope in (
                find_matches(plan, graph, node) if effort is None
                else matches_within(effort, plan, graph, node)
            ):
                blocks = {block.name for block in self.rule.blocks}
                if (nodes := (
                    frozenset(output_slots(scope)), frozenset(slot for _, slot in bound_slots(scope)),
                )) in seen:
                    break
                seen.add(nodes)
                if self.rule.output_block is not None:
                    taken.update(nodes[0])
                bound = describe(scope, graph.label)
                yield Match(
                    self.name,
                    tuple(graph.label(n) for n in output_slots(scope)),
                    {name: where for name, where in bound.items() if name not in blocks},
                    {name: where for name, where in bound.items() if name in blocks},
                )
                break

    def why_not(
        self, model: Model, node: int | None = None, limit: int = 5, effort: Effort | None = None
    ) -> list[Miss]:
        """The nearest misses, best first (`engine.why_not`); of matches that `node` would take part in, if
        one is given. What an `effort` does not suffice for is left out.
        """
        from gslang.engine.why_not import why_not

        return why_not(
            program_of(self.rule), prepared(graph_of(model, self.rule.dialect), self.rule.dialect), node,
            limit, effort,
        )

    @property
    def text(self) -> str:
        """The rule as its author wrote it, with documentation and annotations."""
        from gslang.syntax.item_texts import rule_text

        return rule_text(self.rule.span.source, self.name)

    def svg(self) -> str:
        """The rule as a picture: source and target as two small graphs."""
        from gslang.formats.rule_picture import rule_svg

        return rule_svg(self.rule)

    def __repr__(self) -> str:
        return (
            f"<Rule {self.name}, {shown_file(self.rule.span.source.name)} line "
            f"{self.rule.span.line_column[0]}>"
        )

    def _repr_html_(self) -> str:
        from gslang.notebook import rule_html

        return rule_html(self.rule)
