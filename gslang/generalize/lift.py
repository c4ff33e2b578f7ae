"""Attributes that a rule fixes needlessly: those that its source states, and those of the target that its
source could provide.

A lift is a set of edits of the rule's text. Whether the rule then holds under some conditions is for `refine`
to find out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check import checked as ir
from gslang.generalize.drafting import draft_of, rule_item, walk
from gslang.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class Lift:
    """`names`: what it does, for people. `edits` and `drop`: see `draft_of`. `opened`: the attributes
    that are left open, or the input that becomes a constant."""

    names: tuple[str, ...]
    edits: Mapping[tuple[int, int], str]
    drop: frozenset[tuple[int, int]]
    opened: frozenset[str] = frozenset()


def lifts(source: Source, name: str, rule: ir.CheckedRule) -> list[Lift]:
    """Ways to make a rule more general, the most general one first."""
    opened, carried = _opened(source, name, rule), _carried(source, name, rule)
    return [lift for lift in (opened, carried) if lift.names]


def gains(lift: Lift, conditions: Iterable[str]) -> bool:
    """False if conditions state a value for an attribute that was left open: the rule as written says so
    better.
    """
    names = "|".join(map(re.escape, sorted(lift.opened)))
    stated = rf"\w+\.({names}) (==|in) [^a-z]|normalize_axis\(\w+\.({names}), .*\) == -?\d"
    return not lift.opened or not any(re.match(stated, text) for text in conditions)


def constants(source: Source, name: str, rule: ir.CheckedRule) -> list[Lift]:
    """Forms of a rule of several inputs in which one of them, the last ones first, is a constant, whose value
    may then be asked for.
    """
    item, _ = rule_item(source, name)
    plain = [one for one in item.inputs if one.kind is None]
    if len(rule.inputs) < 2:
        return []
    return [
        Lift(
            (f"`{one.name.id}` is a constant",), {(one.span.start, one.span.end): f"{one.name.id}: const"},
            frozenset(), frozenset([one.name.id]),
        )
        for one in reversed(plain)
    ]


def _carried(source: Source, name: str, rule: ir.CheckedRule) -> Lift:
    """Attributes that the target does not state come from a call of the same operator in the source."""
    item, _ = rule_item(source, name)
    givers = _givers(source, name)
    edits: dict[tuple[int, int], str] = {}
    names: list[str] = []
    for call in _calls(item.target):
        operator = call.callee.span.text
        declared = rule.dialect.operators.get(operator)
        stated = {a.name for a in call.arguments if isinstance(a, n.Keyword)}
        if (
            operator not in givers or declared is None or declared.attributes.keys() <= stated
            or any(isinstance(a, n.Spread) for a in call.arguments)
        ):
            continue
        end = call.arguments[-1].span.end if call.arguments else call.span.end - 1
        edits[(end, end)] = (", " if call.arguments else "") + f"{givers[operator]}.*"
        names.append(f"attributes of `{operator}` carried over from `{givers[operator]}`")
    return Lift(tuple(dict.fromkeys(names)), edits, frozenset())


def _opened(source: Source, name: str, rule: ir.CheckedRule) -> Lift:
    """Attributes that the source fixes are open, and the target takes those of a call of the same operator
    that had the same values.
    """
    item, _ = rule_item(source, name)
    givers = _givers(source, name)
    drop: dict[tuple[int, int], str] = {}  # the argument → the operator
    values: dict[str, dict[str, object]] = {}
    for call in _calls(item.source):
        operator = call.callee.span.text
        if operator not in rule.dialect.operators:
            continue
        for a in call.arguments:
            if (
                isinstance(a, n.Keyword) and a.name in rule.dialect.operators[operator].attributes
                and (value := literal(a.value)) is not None
            ):
                values.setdefault(operator, {}).setdefault(a.name, value)
                drop[(a.span.start, a.span.end)] = operator
    edits: dict[tuple[int, int], str] = {}
    fixed: set[str] = set()  # operators of calls of the target that cannot follow
    for call in _calls(item.target):
        operator = call.callee.span.text
        declared, given = rule.dialect.get(operator), values.get(operator, {})
        if (
            operator not in givers or declared is None  # a function of the file
            or any(isinstance(a, n.Spread) for a in call.arguments)
        ):
            continue
        stated = {
            a.name: literal(a.value)
            for a in call.arguments if isinstance(a, n.Keyword) and a.name in declared.attributes
        }
        if declared.attributes and all(
            _same(stated.get(k, (declared.defaults.get(k),)), given.get(k, (declared.defaults.get(k),)))
            for k in declared.attributes
        ):
            kept = [
                a.span.text
                for a in call.arguments if not (isinstance(a, n.Keyword) and a.name in declared.attributes)
            ]
            edits[(call.span.start, call.span.end)] = (
                f"{operator}({', '.join([*kept, f'{givers[operator]}.*'])})"
            )
        else:
            fixed.add(operator)
    names = [
        f"attributes that `{operator}` had fixed: {', '.join(found)}"
        for operator, found in values.items() if operator not in fixed
    ]
    left = frozenset(span for span, operator in drop.items() if operator not in fixed)
    return Lift(tuple(names), edits, left, frozenset(k for op in values.keys() - fixed for k in values[op]))


def literal(value: n.Expr) -> tuple[object] | None:
    """The value of a literal, as the only item of a tuple; None for other expressions."""
    match value:
        case n.Literal():
            return (value.value,)
        case n.Unary(operator="-", operand=n.Literal(value=int() | float() as number)):
            return (-number,)
        case n.TupleExpr(items=items):
            parts = [literal(part) for part in items if not isinstance(part, n.Star)]
            return (
                (tuple(part[0] for part in parts if part is not None),)
                if None not in parts and len(parts) == len(items)
                else None
            )
    return None


def _same(left: object, right: object) -> bool:
    return repr(left) == repr(right)


def _givers(source: Source, name: str) -> dict[str, str]:
    """For each operator the first call of it in the source, by name."""
    found: dict[str, str] = {}
    for s in draft_of(source, name).source:
        if not isinstance(s, str) and s.arguments is not None:
            found.setdefault(s.head.split()[-1], s.name)
    return found


def _calls(side: n.Side) -> list[n.Call]:
    return [node for node in walk(side) if isinstance(node, n.Call)]
