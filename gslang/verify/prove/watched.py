"""A rule whose decisions are named values, and a scope that notes how they come out: so the prover knows
which sides its cases took.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import truth
from gslang.verify.decisions import Goal, goals
from gslang.verify.prove.opaque import AnyCount


class WatchingScope(Scope):
    """`watched`: number of a named value → the decision that it is. `taken`: (decision, how it came out)."""

    watched: dict[int, int] = {}
    sides: set[tuple[int, bool]] = set()

    def around(self, uses: ir.Uses) -> Any:
        """The surroundings of the source are open: each question has both answers, in separate cases."""
        if self.slot(uses.place, uses.node) < 0:
            raise UnknownValue("the node is not part of the match")
        return AnyCount(self.graph.world.facts.choices)  # type: ignore[attr-defined]

    def let(self, place: ir.Place, number: int) -> Any:
        """The value of a let; that of a decision is noted, and computed anew each time: it may read what a
        comprehension runs over.
        """
        if number not in self.watched:
            return super().let(place, number)
        result = evaluate(self.rule.lets[number], self)
        self.sides.add((self.watched[number], truth(result)))
        return result


def watched(rule: ir.CheckedRule) -> tuple[ir.CheckedRule, dict[int, int], list[Goal]]:
    """The rule with each decision as a let, which let is which decision (by `id` in the old rule), and what
    should be seen.
    """
    wanted = goals(rule)
    conditions = {id(goal.condition): goal.condition for goal in wanted}
    numbers = {key: len(rule.lets) + k for k, key in enumerate(conditions)}

    def changed(item: object, whole: bool = False) -> Any:
        if id(item) in numbers and not whole:
            return ir.Let(ir.OWN, numbers[id(item)])
        if isinstance(item, tuple):
            new = tuple(changed(part) for part in item)
            return item if all(a is b for a, b in zip(item, new)) else new
        if is_dataclass(item) and not isinstance(item, (type, ir.CheckedRule)):
            parts = {
                f.name: changed(getattr(item, f.name))
                for f in fields(item)
                if f.init and f.name not in ("span", "spans", "where_spans", "bounds_span")
            }
            different = {name: value for name, value in parts.items() if value is not getattr(item, name)}
            return replace(item, **different) if different else item
        return item

    lets = (
        *(changed(value) for value in rule.lets),
        *(changed(condition, True) for condition in conditions.values()),
    )
    result = replace(
        rule, nodes=changed(rule.nodes), blocks=changed(rule.blocks), where=changed(rule.where),
        target=changed(rule.target), lets=lets,
    )
    return result, {number: key for key, number in numbers.items()}, wanted
