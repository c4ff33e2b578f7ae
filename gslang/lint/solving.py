"""Values that pass the conditions of a rule, for small graphs: found by trying constants that stand in the
conditions and their neighbours.

Only comparisons of one attribute with a constant, or with what is known already, are solved; the rest is left
to luck, and to the matcher to refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import dimension_of, equations
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import FAILURES
from gslang.lint.facts import Fact, compared, facts_of


def conjuncts(conditions: tuple[ir.Value, ...]) -> Iterator[ir.Value]:
    """The conditions one by one; of an `or` the first part."""
    stack = list(reversed(conditions))
    while stack:
        match stack.pop():
            case ir.AllOf(items):
                stack.extend(reversed(items))
            case ir.AnyOf(items):
                stack.append(items[0])
            case condition:
                yield condition


def solve(rule: ir.CheckedRule, node: int, wanted: dict[str, Any], scope: Scope) -> None:
    """Change the wanted fields of a pattern node such that the conditions on them hold, as far as that is
    seen.
    """
    facts: dict[str, list[Fact]] = {}
    for condition in conjuncts(rule.where):
        for side, other in equations((condition,)):
            if side.node == node:
                try:
                    wanted[side.name] = evaluate(other, scope)
                except FAILURES:
                    pass
                break
        for fact in facts_of(condition):
            if fact is None:
                continue
            dimension = dimension_of(fact.value)
            read = fact.value if dimension is None else dimension[0]
            if not isinstance(read, ir.NodeAttr) or read.place != ir.OWN or read.node != node:
                continue
            if dimension is None:
                facts.setdefault(read.name, []).append(fact)
                continue
            index, shape = dimension[1], list(wanted.get("shape") or ())
            if -len(shape) <= index < len(shape):
                shape[index] = _passing(shape[index], [fact])
                wanted["shape"] = tuple(shape)
    for name, group in facts.items():
        wanted[name] = _passing(wanted.get(name), group)
    rank = wanted.pop("ndim", None)
    if isinstance(rank, int) and 0 <= rank < 9 and isinstance(wanted.get("shape"), tuple):
        wanted["shape"] = (*wanted["shape"], *(4,) * rank)[:rank]


def _passing(default: object, facts: list[Fact]) -> object:
    """The default, or the first constant near those of the facts, that passes all of them; the default if
    none does.
    """
    candidates = [default]
    for fact in facts:
        for c in (
            fact.constant if isinstance(fact.constant, tuple) and fact.operator in ("in", "not in")
            else (fact.constant,)
        ):
            candidates.append(c)
            if isinstance(c, bool):
                candidates.append(not c)
            elif isinstance(c, (int, float)):
                candidates += [c + 1, c - 1]
    return next((c for c in candidates if all(compared(f.operator, c, f.constant) for f in facts)), default)
