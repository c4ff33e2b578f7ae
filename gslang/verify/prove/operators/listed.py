"""Lists over a range of symbolic length: `[k // n for k in range(m * n)]`.

What stands at a place is computed where it is asked for, as the engine computes it for each place. A question
of the list as a whole has no answer.
"""

from __future__ import annotations

from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import against_constant, walk
from gslang.engine.scope import Scope, evaluate
from gslang.verify.prove.operators.constant_value import ConstantValue
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.opaque import Opaque, unanswered
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number, Size, is_number


class Listed(Opaque):
    """The values of an expression for 0, `step`, 2·`step`, … below `end`."""

    __hash__ = __eq__ = unanswered  # type: ignore[assignment]

    def __init__(self, facts: Facts, scope: Scope, loop: ir.Comprehension, end: Size, step: Number) -> None:
        self.facts, self.scope, self.loop, self.end, self.step = facts, scope, loop, end, step
        self.current, self.locals = scope.current, dict(scope.locals)

    @property
    def length(self) -> Number:
        """The number of items, where there are any."""
        return self.facts.normal((self.end - 1) // self.step + 1)

    def at(self, place: Number) -> Any:
        """The item at a place that is inside."""
        scope = self.scope
        before = scope.current, scope.locals
        scope.current = self.current
        scope.locals = {**self.locals, self.loop.locals[0]: self.facts.normal(place * self.step)}
        try:
            return evaluate(self.loop.element, scope)
        finally:
            scope.current, scope.locals = before

    def number(self, place: Number) -> Number:
        """The whole number at a place that is inside."""
        found = _plain(self.at(place))
        if not is_number(found):
            raise NotProved("only lists of integers are supported")
        return self.facts.normal(found)

    def __getitem__(self, place: Any) -> Any:
        place, facts = _plain(place), self.facts
        if not is_number(place) or not facts.at_least(place, 0):
            raise NotProved("only non-negative list indices are supported")
        if not facts.at_least(self.end - 1, place * self.step):
            raise IndexError("the list is shorter")
        return self.at(place)


def _plain(value: Any) -> Any:
    return value.real() if isinstance(value, ConstantValue) else value


def listed(facts: Facts, scope: Scope, loop: ir.Comprehension) -> Listed | None:
    """The list that a comprehension makes over a range of symbolic length, or over the multiples of a number
    there; None for any other one.
    """
    if loop.rounds is None:
        return None
    end = facts.normal(_plain(evaluate(loop.rounds, scope)))
    if not isinstance(end, Size):
        return None
    if loop.condition is None:
        return Listed(facts, scope, loop, end, 1)
    local = ir.Local(loop.locals[0])
    match against_constant(loop.condition.meant(scope.rule.lets)):
        case ir.BinaryValue("%", dividend, divisor), "==", 0 if (
            dividend == local and local not in walk(divisor, scope.rule.lets)
        ):
            step = _plain(evaluate(divisor, scope))
            if is_number(step) and facts.at_least(step, 1):
                return Listed(facts, scope, loop, end, facts.normal(step))
    raise NotProved("filters on lists of symbolic length are not supported")
