"""The decisions that a rule leaves to a match: each side of each `if`, each operand of an `or`, each arm and
alternative.

A rule may be wrong on one side only, and that side may be rare. `goals` lists what has to be seen at least
once, `ties` what is worth a look; `seen` tells what one match showed. Conditions are told apart by where they
stand in the rule, that is by identity: two that read alike are two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.context import USES
from gslang.check.decided import UNKNOWN, decided
from gslang.check.walks import against_constant, is_field, values_below, walk
from gslang.engine.scope import Scope, all_rounds, evaluate, holds
from gslang.engine.values import FAILURES, truth
from gslang.verify.written import written_value

Seen = set[tuple[int, bool]]
"""Pairs of a condition (its `id`, or the number of an alternation below 0) and how it came out (or which
branch).
"""

_MOST_ROUNDS: Final = 1_000  # of loops, for one match: decisions go both ways sooner, or not at all

Outcomes = tuple[tuple[ir.Value, bool], ...]
"""Conditions and how they come out."""

_Done = set[tuple[int, int]]
"""Keys of visited parts, which are shared: `id` of one, `id` of the instance there."""


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """`condition` comes out as `wanted`. `text`: for messages. `beside`: conditions and how they have to come
    out for this one to decide.
    """

    condition: ir.Value
    wanted: bool
    text: str
    beside: Outcomes = ()

    @property
    def key(self) -> tuple[int, bool]:
        return id(self.condition), self.wanted

    @property
    def outcomes(self) -> Outcomes:
        return (self.condition, self.wanted), *self.beside


def goals(rule: ir.CheckedRule) -> list[Goal]:
    """Each way in which a decision of the rule may come out, once."""
    found: dict[tuple[int, bool], Goal] = {}
    sides = ((side, True, ()) for limit in limits(rule).values() for side in limit)
    for condition, wanted, beside in (*_all(rule), *sides):
        if decided(condition, lambda part: UNKNOWN) not in (UNKNOWN, wanted):
            continue  # by a row of a family, or by a parameter
        text = f"`{written_value(rule, condition)}` is {'true' if wanted else 'false'}"
        found.setdefault((id(condition), wanted), Goal(condition, wanted, text, beside))
    return list(found.values())


@cache
def ties(rule: ir.CheckedRule) -> dict[int, Goal]:
    """`id` of a comparison → that its sides are as near to each other as it allows: a rule may be wrong for
    the largest size that it is meant for, and for no other. Of those in loops none is known.
    """
    found: dict[int, Goal] = {}
    for part in walk((rule.nodes, rule.lets, rule.where, rule.blocks, rule.target)):
        match part:
            case ir.CompareValue("<" | "<=" | ">" | ">=" as sign, left, right) if not any(
                isinstance(inner, ir.Local) for inner in walk(part)
            ):
                low, high = (left, right) if sign[0] == "<" else (right, left)
                nearest = high if sign[1:] else ir.BinaryValue("-", high, ir.Const(1))
                text = f"`{written_value(rule, part)}` is tight"
                found[id(part)] = Goal(ir.CompareValue("==", low, nearest), True, text)
    return found


_Way = tuple[ir.Value, bool, Outcomes]
_MOST_LISTED: Final = 8  # values in a list


@cache
def limits(rule: ir.CheckedRule) -> dict[int, tuple[ir.CompareValue, ...]]:
    """`id` of a value that is another one beyond a limit → comparisons that are to be true once: either
    number is the smaller one, a remainder is another number, a tuple has more items than are taken, a value
    is each one of a list. Of those in loops none is known.
    """
    found: dict[int, tuple[ir.CompareValue, ...]] = {}
    for part in walk((rule.nodes, rule.lets, rule.where, rule.blocks, rule.target)):
        limits_ = part.limits if isinstance(part, ir.Expression) else ()
        sides = tuple([ir.CompareValue(*limit) for limit in limits_]) or _listed(part)
        if sides and all(getattr(inner, "local", None) is None for inner in walk(sides)):
            found[id(part)] = sides
    return found


def _listed(condition: ir.Value) -> tuple[ir.CompareValue, ...]:
    """That a value is the one or the other in a list, but for element types, which instances vary anyway."""
    compared = against_constant(condition)
    if compared is None or compared[1] not in ("in", "not in") or is_field(compared[0], "dtype"):
        return ()
    values = compared[2] if isinstance(compared[2], tuple) and len(compared[2]) <= _MOST_LISTED else ()
    return tuple([ir.CompareValue("==", compared[0], ir.Const(value)) for value in values])


def _all(rule: ir.CheckedRule) -> Iterator[_Way]:
    for condition in (*rule.where, *(c for block in rule.blocks for c in block.where)):
        yield from _ways(condition, True, rule, always=True)
    for part in walk((rule.nodes, rule.lets, rule.where, rule.blocks, rule.target)):
        if isinstance(part, ir.Conditioned) and part.condition is not None:
            yield from _ways(part.condition, True, rule)
            yield from _ways(part.condition, False, rule)
        elif isinstance(part, ir.SelectValue):
            for arm in part.arms:
                if arm is not None and _is_condition(arm):
                    yield from _ways(arm, True, rule)
    for target in rule.target.calls:  # truth values that become attributes
        for _, value in target.attributes:
            if _is_condition(value):
                yield from _ways(value, True, rule)
                yield from _ways(value, False, rule)


def _ways(
    condition: ir.Value, wanted: bool, rule: ir.CheckedRule, always: bool = False, beside: Outcomes = ()
) -> Iterator[_Way]:
    """Ways for a condition to come out as `wanted`. If it `always` does, only what it is made of is of
    interest.
    """
    if isinstance(condition, ir.Const):
        return
    by = condition.decided_by(wanted, rule.lets)
    if by is not None and (always or not by.every or len(by.items) == 1):
        for k, item in enumerate(by.items):
            before = () if by.every else tuple((other, not by.wanted) for other in by.items[:k])
            inner = by.every and (always or len(by.items) > 1)
            yield from _ways(item, by.wanted, rule, inner, beside + before)
    elif not always:
        yield condition, wanted, beside
        yield from _ways(condition, wanted, rule, True, beside)
    elif wanted and condition.each is not None:
        yield from _ways(condition.each.element, True, rule, always)


def _is_condition(value: ir.Value) -> bool:
    match value:
        case ir.Uses(what):
            return USES[what][0] == "bool"
        case ir.Builtin(name):
            return name in ("all", "any", "close")
    return ir.is_true_or_false(value)


def reachable(rule: ir.CheckedRule, never: Seen) -> set[int]:
    """The `id`s of the values of a rule that may be evaluated, where these outcomes do not occur: those
    behind an `if` that always goes the other way are none of them."""
    found: set[int] = set()
    left: list[Any] = [rule.nodes, rule.lets, rule.where, rule.blocks, rule.target]
    while left:
        part = left.pop()
        if isinstance(part, tuple):
            left += part
        elif is_dataclass(part) and id(part) not in found:
            found.add(id(part))
            found.update(map(id, limits(rule).get(id(part), ())))
            if isinstance(part, ir.IfValue):
                sides = ((True, part.then), (False, part.otherwise))
                left += [part.condition, *(v for way, v in sides if (id(part.condition), way) not in never)]
            else:
                left += values_below(part)
    return found


# ── what a match showed ──


def seen(rule: ir.CheckedRule, scope: Scope) -> Seen:
    """The outcomes of the decisions that a complete match, and building the target there, took."""
    before, memo = scope.current, scope.memo
    scope.memo = {}  # the match is complete: nothing changes meanwhile
    try:
        return _seen(rule, scope)
    finally:
        scope.current, scope.memo = before, memo


def _seen(rule: ir.CheckedRule, scope: Scope) -> Seen:
    look, outside = _Look(rule, scope), scope.current
    places: list[Any] = [None, *[instance for instances in scope.instances for instance in instances]]
    for condition in rule.where:
        look.at(condition)
    for place in places:
        scope.current = place
        blocks = [
            block
            for k, block in enumerate(rule.blocks)
            if place is not None and any(place is i for i in scope.instances[k])
        ]
        conditions = [c for block in blocks for c in block.where]
        nodes = [node for node in rule.nodes if (node.block is None) == (place is None)]
        for value in (*conditions, *walk([node.constraints for node in nodes])):
            if _is_condition(value) or isinstance(value, (ir.Branching, ir.Selection)):
                look.at(value)
    scope.current = outside
    for output in rule.target.outputs:
        look.at(output)
    return look.found


class _Look:
    """A look at the conditions that are evaluated in a match: the other side of a choice is not looked at."""

    def __init__(self, rule: ir.CheckedRule, scope: Scope) -> None:
        self.rule, self.scope = rule, scope
        self.found: Seen = set()
        self.done: _Done = set()
        self.lets: _Done = set()  # those that were looked at: they are the same in all rounds
        self.deciding, self.ties, self.limits = _deciding(rule), ties(rule), limits(rule)
        self.rounds = _MOST_ROUNDS

    def at(self, part: Any) -> None:
        """Evaluate all conditions inside a value, a test, or the target of a number, that are evaluated
        there."""
        rule, scope = self.rule, self.scope
        part = _target_or_value(rule, part)
        key = (id(part), id(scope.current))
        if id(part) not in self.deciding or key in self.done:
            return
        self.done.add(key)
        if _is_condition(part):
            self.note(part)
        for side in self.limits.get(id(part), ()):
            self.note(side)
        below: Iterable[Any] = ()
        before = scope.current
        try:
            match part:
                case ir.UnaryValue("not", inner):  # it may be an attribute, which is no condition itself
                    self.note(inner)
                    below = [inner]
                case ir.Branching(condition=condition):
                    self.note(condition)
                    self.at(condition)
                    below = [part.then if truth(evaluate(condition, scope)) else part.otherwise]
                case ir.Selection():
                    below = [part.arms[scope.branch(part.place, part.node)]]
                case ir.Loop():
                    self.at(part.source)
                    self.at_rounds(part)
                case ir.Let(place, number):
                    scope.current = scope.instance(place)
                    let = number, id(scope.current)
                    below = [] if let in self.lets else [rule.lets[number]]
                    self.lets.add(let)
                case ir.Connective():
                    self.at_operands(part)
                case _:
                    below = _below(part)
            for each in below:
                self.at(each)
        except FAILURES:
            pass
        scope.current = before

    def at_operands(self, connective: ir.Connective) -> None:
        """Look at the operands of `and` or `or`. How those behind one that decides come out makes no
        difference, but which way the choices inside them go may.
        """
        decided = False
        for item in connective.items:
            before = set(self.found)
            self.at(item)
            if decided:
                own = set(_made_of(item))
                self.found = before | {key for key in self.found if key[0] not in own}
            try:
                decided = decided or truth(evaluate(item, self.scope)) is connective.deciding
            except FAILURES:
                pass

    def at_rounds(self, loop: ir.Loop) -> None:
        """Evaluate the conditions of the first rounds; those of the element where it is wanted. Raises what
        fails."""
        if loop.condition is None and id(_target_or_value(self.rule, loop.element)) not in self.deciding:
            return
        outside = self.done
        try:
            for _ in all_rounds(loop, self.scope):
                if self.rounds == 0:
                    return
                self.rounds -= 1
                self.done = set()
                if loop.condition is not None:
                    self.note(loop.condition)
                    self.at(loop.condition)
                if loop.condition is None or holds(loop.condition, self.scope):
                    self.at(loop.element)
        finally:
            self.done = outside

    def note(self, condition: ir.Value) -> None:
        try:
            self.found.add((id(condition), truth(evaluate(condition, self.scope))))
            tie = self.ties.get(id(condition))
            if tie is not None and truth(evaluate(tie.condition, self.scope)):
                self.found.add(tie.key)
        except FAILURES:
            return


def _made_of(condition: ir.Value) -> Iterator[int]:
    """The `id`s of a condition and of those that it connects."""
    yield id(condition)
    by = condition.decided_by(True, ())
    for item in () if by is None else by.items:
        yield from _made_of(item)


@cache
def _deciding(rule: ir.CheckedRule) -> frozenset[int]:
    """The `id`s of the parts of a rule that are conditions, or have one inside."""
    known: dict[int, bool] = {}

    def decides(part: Any) -> bool:
        part = _target_or_value(rule, part)
        if part is None or id(part) in known:
            return part is not None and known[id(part)]
        known[id(part)] = False  # a circle adds nothing
        below = [rule.lets[part.let]] if isinstance(part, ir.Let) else _below(part)
        inside = [decides(each) for each in below]
        own = isinstance(part, ir.Conditioned) and part.condition is not None
        known[id(part)] = own or _is_condition(part) or id(part) in limits(rule) or any(inside)
        return known[id(part)]

    conditions = (*rule.where, *(c for block in rule.blocks for c in block.where))
    tests = [node.constraints for node in rule.nodes]
    for part in (*conditions, *filter(is_dataclass, walk(tests)), *rule.target.outputs):
        decides(part)
    return frozenset([number for number, decided in known.items() if decided])


def _target_or_value(rule: ir.CheckedRule, part: object) -> object:
    """The target of a number; anything else as it is."""
    return rule.target.targets[part] if isinstance(part, int) else part


def _below(part: Any) -> Iterable[Any]:
    """The parts of a value, a test or a target, targets by their numbers."""
    if isinstance(part, ir.TargetPart) and part.reads is not part:
        return [*part.parts, *_values(part.reads)]
    return _values(tuple([getattr(part, f.name) for f in fields(part)])) if is_dataclass(part) else ()


def _values(item: object) -> Iterator[object]:
    if isinstance(item, tuple):
        for part in item:
            yield from _values(part)
    elif is_dataclass(item):
        yield item
