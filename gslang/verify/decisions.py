"""The decisions that a rule leaves to a match: each side of each `if`, each operand of an `or`, each arm and
alternative.

A rule may be wrong on one side only, and that side may be rare. `goals` lists what has to be seen at least
once; `seen` tells what one match showed. Conditions are told apart by where they stand in the rule, that is
by identity: two that read alike are two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

_Done = set[tuple[int, int]]
"""Keys of visited parts, which are shared: `id` of one, `id` of the instance there."""


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
        yield from _ways(condition, True, rule, always=True)
    for part in parts((rule.nodes, rule.lets, rule.where, rule.blocks, rule.target)):
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
    condition: ir.Value, wanted: bool, rule: ir.CheckedRule, always: bool = False
) -> Iterator[tuple[ir.Value, bool]]:
    """Ways for a condition to come out as `wanted`. If it `always` does, only what it is made of is of
    interest.
    """
    match condition:
        case ir.Const():
            return
        case ir.Connective() if always or condition.deciding is wanted:
            for item in condition.items:
                yield from _ways(item, wanted, rule, condition.deciding is not wanted)
        case ir.UnaryValue("not", operand):
            yield from _ways(operand, not wanted, rule, always)
        case ir.Let(ir.Own(), number):
            yield from _ways(rule.lets[number], wanted, rule, always)
        case ir.Builtin("all", (ir.Comprehension(element),)) if always and wanted:
            yield from _ways(element, True, rule, always)
        case _ if not always:
            yield condition, wanted
            yield from _ways(condition, wanted, rule, always=True)


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
            if _is_condition(value) or isinstance(value, (ir.Branching, ir.Selection)):
                _look(value, rule, scope, found, done)
    scope.current = before
    for output in rule.target.outputs:
        _look(output, rule, scope, found, done)
    return found


def _look(part: Any, rule: ir.CheckedRule, scope: Scope, found: Seen, done: _Done) -> None:
    """Evaluate all conditions inside a value, a test, or the target of a number, that are evaluated there:
    the other side of a choice is not looked at.
    """
    part = rule.target.targets[part] if isinstance(part, int) else part
    if part is None or (id(part), id(scope.current)) in done:
        return
    done.add((id(part), id(scope.current)))
    if _is_condition(part):
        _note(part, scope, found)
    below: Iterable[Any] = ()
    before = scope.current
    try:
        match part:
            case ir.Branching(condition=condition):
                _note(condition, scope, found)
                _look(condition, rule, scope, found, done)
                below = [part.then if truth(evaluate(condition, scope)) else part.otherwise]
            case ir.Selection():
                below = [part.arms[scope.branch(part.place, part.node)]]
            case ir.Loop():
                _look(part.source, rule, scope, found, done)
                _look_at_rounds(part, rule, scope, found)
            case ir.Let(place, number):
                below = [rule.lets[number]]
                scope.current = before if isinstance(place, ir.Own) else scope.instance(place)
            case ir.TargetPart() if part.reads is not part:
                below = [*part.parts, *_values(part.reads)]
            case _ if is_dataclass(part):
                below = _values(tuple([getattr(part, f.name) for f in fields(part)]))
        for each in below:
            _look(each, rule, scope, found, done)
    except FAILURES:
        pass
    scope.current = before


def _look_at_rounds(loop: ir.Loop, rule: ir.CheckedRule, scope: Scope, found: Seen) -> None:
    """Evaluate the conditions of each round; those of the element where it is wanted. Raises what fails."""
    for _ in iterate(ir.Comprehension(loop.element, loop.locals, loop.source, None), scope):
        done: _Done = set()
        if loop.condition is not None:
            _note(loop.condition, scope, found)
            _look(loop.condition, rule, scope, found, done)
        if loop.condition is None or holds_now(loop.condition, scope):
            _look(loop.element, rule, scope, found, done)


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
