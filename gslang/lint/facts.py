"""Conclusions from comparisons of one value with constants: which new one follows, and which cannot hold
beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.walks import against_constant, conjuncts, within_captures
from gslang.engine.values import COMPARE, FAILURES


@dataclass(frozen=True, slots=True)
class Fact:
    """`value operator constant`."""

    value: ir.Value
    operator: str
    constant: Any


@dataclass(slots=True)
class Known:
    """The known facts about a value: it is one of `among` (None: anything), none of `never`, and between two
    bounds.
    """

    among: tuple[Any, ...] | None = None
    never: list[Any] = field(default_factory=list)
    low: tuple[float, bool] = (-math.inf, False)  # and is the bound itself left out?
    high: tuple[float, bool] = (math.inf, False)

    def says(self, fact: Fact) -> bool | None:
        """True if a fact follows or cannot be; None where it is news."""
        operator, c = fact.operator, fact.constant
        if operator in ("in", "not in"):
            if not isinstance(c, tuple) or not c:
                return None
            each = [self.says(Fact(fact.value, "==", item)) for item in c]
            found = False if all(e is False for e in each) else None
            if self.among is not None:
                found = _agreed([compared("in", v, c) for v in self.among])
            return found if operator == "in" or found is None else not found
        if self.among is not None:
            return _agreed([compared(operator, v, c) for v in self.among])
        outside = any(compared("==", v, c) for v in self.never)
        if isinstance(c, (int, float)) and not isinstance(c, bool):
            below = c < self.low[0] or c == self.low[0] and self.low[1]
            above = c > self.high[0] or c == self.high[0] and self.high[1]
            match operator:
                case "<":
                    return False if below or c == self.low[0] else True if above else None
                case "<=":
                    return False if below else True if above or c == self.high[0] else None
                case ">":
                    return False if above or c == self.high[0] else True if below else None
                case ">=":
                    return False if above else True if below or c == self.low[0] else None
            outside = outside or below or above
        if operator in ("==", "!=") and outside:
            return operator == "!="
        return None

    def add(self, fact: Fact) -> None:
        operator, c = fact.operator, fact.constant
        if self.among is not None:
            self.among = tuple(v for v in self.among if compared(operator, v, c) is not False)
        elif operator == "==":
            self.among = (c,)
        elif operator == "in" and isinstance(c, tuple):
            self.among = tuple(v for v in c if self.says(Fact(fact.value, "==", v)) is not False)
        elif operator == "!=":
            self.never.append(c)
        elif operator == "not in" and isinstance(c, tuple):
            self.never += c
        elif isinstance(c, (int, float)) and operator in ("<", "<="):
            self.high = min(self.high, (c, operator == "<"), key=lambda bound: (bound[0], not bound[1]))
        elif isinstance(c, (int, float)) and operator in (">", ">="):
            self.low = max(self.low, (c, operator == ">"))


def _agreed(answers: list[bool | None]) -> bool | None:
    """The facts that all agree on, if any."""
    return answers[0] if answers and all(a == answers[0] for a in answers) else None


def compared(operator: str, a: object, b: object) -> bool | None:
    """A comparison of constants as the engine makes it; None where it fails."""
    try:
        return bool(COMPARE[operator](a, b))
    except FAILURES:
        return None


def facts_of(condition: ir.Value) -> Iterator[Fact | None]:
    """The comparisons with constants that a condition consists of; None for a part that is something else."""
    for part in conjuncts((condition,)):
        found = against_constant(part)
        yield None if found is None else Fact(*found)


def facts_of_constraint(node: int, field: str, test: ir.Test) -> Iterator[Fact]:
    """The facts in a constraint of the pattern, as far as it compares with constants."""
    attribute = ir.NodeAttr(ir.OWN, node, field)
    asked = within_captures(test)
    if (literal := ir.literal_of(asked)) is not None:
        yield Fact(attribute, "==", literal.value)
    match asked:
        case ir.OneOf(tests):
            literals = [ir.literal_of(part) for part in tests]
            values = tuple([literal.value for literal in literals if literal is not None])
            if len(values) == len(tests):
                yield Fact(attribute, "in", values)
        case ir.TupleTest(front, back) if field == "shape":
            ndim = ir.NodeAttr(ir.OWN, node, "ndim")
            yield Fact(ndim, "==" if back is None else ">=", len(asked.items))
            for k, item in enumerate(front):
                if (literal := ir.literal_of(item)) is not None:
                    yield Fact(ir.ItemValue(attribute, ir.Const(k)), "==", literal.value)
