"""The decisions that a rule leaves to a match: each side of each `if`, each operand of an `or`, each arm and
alternative.

A rule may be wrong on one side only, and that side may be rare. `goals` lists what has to be seen at least
once; `seen` tells what one match showed. Conditions are told apart by where they stand in the rule, that is
by identity: two that read alike are two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.context import USES
from gslang.engine.scope import Scope, evaluate, iterate
from gslang.engine.values import FAILURES, truth
from gslang.verify.reads import NO_PARTS, parts
from gslang.verify.written import written_value

Seen = set[tuple[int, bool]]
"""Pairs of a condition (its `id`, or the number of an alternation below 0) and how it came out (or which
branch).
"""

_Done = set[tuple[int, int | None]]
"""Keys of visited values, which are shared: (`id` of a value, `id` of the instance there), (number of a
target, None)."""


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """`condition` comes out as `wanted`. `text`: for messages."""

    condition: ir.Value
    wanted: bool
    text: str

    @property
    def key(self) -> tuple[int, bool]:
        return id(self.condition), self.wanted


def goals(rule: ir.CheckedRule) -> list[Goal]:
    """Each way in which a decision of the rule may come out, once."""
    found: dict[tuple[int, bool], Goal] = {}
    for condition, wanted in _all(rule):
        text = written_value(rule, condition)
        found.setdefault(
            (id(condition), wanted), Goal(condition, wanted, f"`{text}` is {'true' if wanted else 'false'}")
        )
    return list(found.values())


def _all(rule: ir.CheckedRule) -> Iterator[tuple[ir.Value, bool]]:
    for condition in (*rule.where, *(c for block in rule.blocks for c in block.where)):
        yield from _below(condition, True, rule)
    for part in parts((rule.nodes, rule.lets, rule.where, rule.blocks, rule.target)):
        match part:
            case ir.IfValue() | ir.IfTest() | ir.ChooseTarget() | ir.Comprehension() | ir.Repeat() if (
                part.condition is not None
            ):
                yield from _ways(part.condition, True, rule)
                yield from _ways(part.condition, False, rule)
            case ir.SelectValue(_, _, arms):
                for arm in arms:
                    if arm is not None and _is_condition(arm):
                        yield from _ways(arm, True, rule)
    for target in rule.target.targets:  # truth values that become attributes
        if isinstance(target, ir.MakeCall):
            for _, value in target.attributes:
                if _is_condition(value):
                    yield from _ways(value, True, rule)
                    yield from _ways(value, False, rule)


def _below(condition: ir.Value, wanted: bool, rule: ir.CheckedRule) -> Iterator[tuple[ir.Value, bool]]:
    """The ways of a condition that always comes out as `wanted`: of interest is what it is made of."""
    match condition:
        case ir.Connective():
            for item in condition.items:
                yield from (_ways if condition.deciding is wanted else _below)(item, wanted, rule)
        case ir.UnaryValue("not", operand):
            yield from _below(operand, not wanted, rule)
        case ir.Builtin("all", (ir.Comprehension(element),)) if wanted:
            yield from _below(element, True, rule)
        case ir.Let(ir.Own(), number):
            yield from _below(rule.lets[number], wanted, rule)


def _ways(condition: ir.Value, wanted: bool, rule: ir.CheckedRule) -> Iterator[tuple[ir.Value, bool]]:
    """Ways for a condition to come out as `wanted`."""
    match condition:
        case ir.Const():
            return
        case ir.Connective() if condition.deciding is wanted:
            for item in condition.items:
                yield from _ways(item, wanted, rule)
        case ir.UnaryValue("not", operand):
            yield from _ways(operand, not wanted, rule)
        case ir.Let(ir.Own(), number):
            yield from _ways(rule.lets[number], wanted, rule)
        case _:
            yield condition, wanted
            yield from _below(condition, wanted, rule)


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
            if isinstance(part, ir.IfValue):
                sides = ((True, part.then), (False, part.otherwise))
                left += [part.condition, *(v for way, v in sides if (id(part.condition), way) not in never)]
            else:
                left += [getattr(part, f.name) for f in fields(part) if f.name not in NO_PARTS]
    return found


# ── what a match showed ──


def seen(rule: ir.CheckedRule, scope: Scope) -> Seen:
    """The outcomes of the decisions that a complete match, and building the target there, took."""
    found: Seen = set()
    done: _Done = set()
    places: list[Any] = [None, *[instance for instances in scope.instances for instance in instances]]
    before = scope.current
    for condition in rule.where:
        _look(condition, rule, scope, found, done)
    for place in places:
        scope.current = place
        blocks = [
            block
            for k, block in enumerate(rule.blocks)
            if place is not None and any(place is i for i in scope.instances[k])
        ]
        conditions = [c for block in blocks for c in block.where]
        nodes = [node for node in rule.nodes if (node.block is None) == (place is None)]
        for value in (*conditions, *parts([node.constraints for node in nodes])):
            if isinstance(value, ir.IfTest):
                _note(value.condition, scope, found)
                _look(value.condition, rule, scope, found, done)
            elif _is_condition(value) or isinstance(value, (ir.IfValue, ir.SelectValue)):
                _look(value, rule, scope, found, done)
    scope.current = before
    for output in rule.target.outputs:
        _look_at_target(output, rule, scope, found, done)
    return found


def _look_at_target(number: int, rule: ir.CheckedRule, scope: Scope, found: Seen, done: _Done) -> None:
    """The values that are built only: the other side of a choice is not looked at."""
    if (number, None) in done:
        return
    done.add((number, None))
    target = rule.target.targets[number]
    match target:
        case ir.ChooseTarget(condition, then, otherwise):
            _note(condition, scope, found)
            _look(condition, rule, scope, found, done)
            try:
                side = then if truth(evaluate(condition, scope)) else otherwise
            except FAILURES:
                return
            _look_at_target(side, rule, scope, found, done)
        case ir.SelectTarget(place, node, arms):
            try:
                built = arms[scope.branch(place, node)]
            except FAILURES:
                return
            if built is not None:
                _look_at_target(built, rule, scope, found, done)
        case ir.Repeat() as repeat:
            _look(repeat.source, rule, scope, found, done)
            try:
                for _ in iterate(repeat, scope):
                    if repeat.condition is not None:
                        found.add((id(repeat.condition), True))
                    _look_at_target(repeat.element, rule, scope, found, set())
            except FAILURES:
                return
        case _:
            for part in target.parts:
                _look_at_target(part, rule, scope, found, done)
            for read in _values(target.reads):
                _look(read, rule, scope, found, done)


def _look(value: Any, rule: ir.CheckedRule, scope: Scope, found: Seen, done: _Done) -> None:
    """Evaluate all conditions inside a value that are evaluated there."""
    if value is None or (id(value), id(scope.current)) in done:
        return
    done.add((id(value), id(scope.current)))
    if _is_condition(value):
        _note(value, scope, found)
    match value:
        case ir.IfValue(condition, then, otherwise):
            _note(condition, scope, found)
            _look(condition, rule, scope, found, done)
            if (id(condition), True) in found or (id(condition), False) in found:
                _look(then if holds_now(condition, scope) else otherwise, rule, scope, found, done)
        case ir.SelectValue(place, node, arms):
            try:
                arm = arms[scope.branch(place, node)]
            except FAILURES:
                return
            if arm is not None:
                _note(arm, scope, found)
                _look(arm, rule, scope, found, done)
        case ir.Comprehension(element, _, source, condition) as loop:
            _look(source, rule, scope, found, done)
            every = ir.Comprehension(element, loop.locals, source, None)
            try:
                for _ in iterate(every, scope):
                    each: _Done = set()
                    if condition is not None:
                        _note(condition, scope, found)
                        _look(condition, rule, scope, found, each)
                    if condition is None or holds_now(condition, scope):
                        _note(element, scope, found)
                        _look(element, rule, scope, found, each)
            except FAILURES:
                return
        case ir.Let(place, number):
            try:
                instance = scope.current if isinstance(place, ir.Own) else scope.instance(place)
            except FAILURES:
                return
            before, scope.current = scope.current, instance
            _look(rule.lets[number], rule, scope, found, done)
            scope.current = before
        case _ if is_dataclass(value):
            for f in fields(value):
                for part in _values(getattr(value, f.name)):
                    _look(part, rule, scope, found, done)


def _values(item: object) -> Iterator[Any]:
    if isinstance(item, tuple):
        for part in item:
            yield from _values(part)
    elif is_dataclass(item):
        yield item


def _note(condition: ir.Value, scope: Scope, found: Seen) -> None:
    try:
        found.add((id(condition), truth(evaluate(condition, scope))))
    except FAILURES:
        return


def holds_now(condition: ir.Value, scope: Scope) -> bool:
    """True if a condition is known to hold."""
    try:
        return truth(evaluate(condition, scope))
    except FAILURES:
        return False
