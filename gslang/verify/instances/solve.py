"""Values that would make a `where` condition hold: one side of an equation is computed, the other one
requested in the next attempt (`assign`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gslang.check import checked as ir
from gslang.dialect.tensor_type import UNKNOWN
from gslang.engine.scope import evaluate, holds, iterate
from gslang.engine.values import FAILURES
from gslang.verify.instances.assign import Wish, assign, captured
from gslang.verify.instances.elements import NOT, in_tuples, loop_of_any, negated, with_elements
from gslang.verify.instances.leaves import of_instance
from gslang.verify.instances.make import Making

_NEARLY = {"close": "=="}


def solve(condition: ir.Value, making: Making, wanted: bool = True) -> Wish:
    """Wishes after which a condition that does not come out as wanted now may do so; none where no way is
    known.
    """
    scope, before = making.scope, making.scope.memo
    # nothing changes meanwhile: each of the lets is computed once, however many ways lead to it
    scope.memo = {}
    try:
        return _solve(condition, making, wanted)
    finally:
        scope.memo = before


def _solve(condition: ir.Value, making: Making, wanted: bool) -> Wish:
    if (by := condition.decided_by(wanted, making.rule.lets)) is not None:
        order = list(by.items)
        if not by.every:
            making.rng.shuffle(order)
        for item in order:
            if by.every and len(order) > 1 and holds(item, making.scope) == by.wanted:
                continue
            if (wish := _solve(item, making, by.wanted)) or by.every:
                return wish
        return {}
    if wanted and (each := condition.each) is not None:
        return (
            _every(each, making) or _each_place(each, making) or _each_instance(each, making)
            or with_elements(condition, making)
        )
    if (some := loop_of_any(condition)) is not None:
        if wanted:
            return with_elements(condition, making)
        return _solve(ir.Builtin("all", (replace(some, element=negated(some.element)),)), making, True)
    if (compared := condition.compares) is not None:
        sign, left, right = compared
        asked = _NEARLY.get(sign, sign) if wanted else NOT.get(sign)
        return {} if asked is None else _compare(asked, left, right, making)
    match condition:
        case ir.SelectValue():
            try:
                arm = making.scope.arm(condition)
            except FAILURES:
                return {}
            return _solve(arm, making, wanted)
        case ir.Uses():
            return assign(condition, wanted, making)
    return {}


def _compare(sign: str, left: ir.Value, right: ir.Value, making: Making) -> Wish:
    if sign == "not in" and (wish := _without(left, right, making)):
        return wish
    sides = [(left, right), (right, left)]
    if making.rng.random() < 0.3:
        sides.reverse()
    for side, other in sides:
        try:
            value = evaluate(other, making.scope)
        except FAILURES:
            continue
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if value is UNKNOWN or isinstance(value, tuple) and any(item is UNKNOWN for item in value):
            continue
        if (
            sign == "in" and side is right and isinstance(value, str) and isinstance(side, ir.NodeAttr)
            and side.name == "name"
        ):
            return assign(side, value, making)
        if sign == "in":
            if side is not left or not isinstance(value, tuple) or not value:
                continue
            value = making.rng.choice(value)
        elif sign != "==" and isinstance(value, np.ndarray):
            continue  # of the numbers of a constant no others are known
        elif sign == "!=" and value == "const":
            value = "call"  # the kind of an operand
        elif sign == "!=" and (other_value := _other(value, making)) is not None:
            value = other_value
        elif sign != "==":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            value = _beyond(sign, value, side is left, making)
        if wish := assign(side, value, making):
            return wish
    return {}


def _without(number: ir.Value, array: ir.Value, making: Making) -> Wish:
    """Another number for each element of a constant that is this one; the rest stays as it is."""
    try:
        excluded, value = evaluate(number, making.scope), evaluate(array, making.scope)
    except FAILURES:
        return {}
    if not isinstance(value, np.ndarray) or value.ndim != 1 or not isinstance(excluded, (int, float)):
        return {}
    others = [n for n in (0, 1, 2, 3, -1) if n != excluded and (n >= 0 or value.dtype.kind != "u")]
    items = [making.rng.choice(others) if item == excluded else item for item in value.tolist()]
    return assign(array, tuple(items), making)


def _other(value: object, making: Making) -> Any:
    """Another number, kind or element type; None for values of which no other one is known."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value + making.rng.choice((1, 2)) if value >= 0 else value - 1
    for names in (
        ("float32", "int32", "float64", "int64", "int8"), ("input", "param", "const", "call", "proj"),
        ("tanh", "exp"), ("Tanh", "Exp"),
    ):
        if value in names:
            return making.rng.choice([name for name in names if name != value])
    return None


def _beyond(sign: str, value: Any, is_left: bool, making: Making) -> Any:
    """A number that compares as wished with `value`."""
    step: float = making.rng.choice((1, 2))
    if isinstance(value, float) and 0 < abs(value) % 1 < 1:
        # the bound of a difference: within its own size; one of two close bounds: within less
        step = making.rng.choice((step, abs(value) / 8, abs(value) / 64))
    elif isinstance(value, float):
        step = max(step, abs(value) / 8)  # beside large numbers, small ones are nothing
    smaller = (sign in ("<", "<=")) == is_left
    if sign in ("<=", ">=") and making.rng.random() < 0.5:
        return value
    return value - step if smaller else value + step


def _every(each: ir.Comprehension, making: Making) -> Wish:
    """All items of a sequence become what an equation or a bound asks of each."""
    match each.element:
        case ir.CompareValue("==" | ">=" | "<=", ir.Local(name), bound) if (
            each.locals == (name,) and each.condition is None
        ):
            try:
                items, value = evaluate(each.source, making.scope), evaluate(bound, making.scope)
            except FAILURES:
                return {}
            return (
                assign(each.source, (value,) * len(items), making)
                if isinstance(items, tuple) or (isinstance(items, np.ndarray) and items.ndim)
                else {}
            )
    return {}


def _each_place(each: ir.Comprehension, making: Making) -> Wish:
    """Items of a tuple become what an equation asks of each: `p[i] == len(p) - 1 - i` of all places, `u == v`
    of all pairs in `zip(a, b)`.
    """
    if (compared := each.element.compares) is None or compared[0] != "==":
        return {}
    scope = making.scope
    before, memo = scope.locals, scope.memo
    for item, other in (compared[1:], compared[:0:-1]):
        base, index = _place_in_turn(each, item)
        if base is None:
            continue
        scope.locals, scope.memo = dict(before), None  # lets that read the place differ from round to round
        try:
            items = list(evaluate(base, scope))
            for k, _ in enumerate(iterate(each, scope)):
                items[k if index is None else evaluate(index, scope)] = evaluate(other, scope)
        except FAILURES:
            continue
        finally:
            scope.locals, scope.memo = before, memo
        if wish := assign(base, tuple(items), making):
            return wish
    return {}


_InstanceField = tuple[int, int, str, int]
"""An instance, a node and a field of it, and which item of that; -1 for the whole."""


def _each_instance(each: ir.Comprehension, making: Making) -> Wish:
    """Fields of instances of blocks become what an equation asks of each: `q.a == p[0].a` for all `q` in `p`,
    or of its neighbour, the later one of the two."""
    if (compared := each.element.compares) is None or compared[0] != "==":
        return {}
    scope, found = making.scope, dict[_InstanceField, object]()
    before, memo = scope.locals, scope.memo
    scope.locals, scope.memo = dict(before), None
    try:
        for _ in iterate(each, scope):
            sides = [(_instance_field(side, making), side) for side in compared[1:]]
            (key, _), (other, known) = sorted(sides, key=lambda side: side[0] or (-1, 0, "", 0), reverse=True)
            if key is not None and key != other:
                value = evaluate(known, scope)
                found[key] = value if other is None else found.get(other, value)
    except FAILURES:
        return {}
    finally:
        scope.locals, scope.memo = before, memo
    wish: dict[tuple[int, str], object] = {}
    for (instance, node, name, item), value in found.items():
        field = node, of_instance(name, instance)
        plain = in_tuples(value.tolist()) if isinstance(value, np.ndarray) else value
        if item >= 0:
            shape = wish.get(field) or _shape_in(instance, node, making)
            if not isinstance(shape, tuple) or item >= len(shape):
                continue
            plain = (*shape[:item], plain, *shape[item + 1 :])
        wish[field] = plain
    return wish


def _shape_in(instance: int, node: int, making: Making) -> tuple[int, ...] | None:
    """The shape of a node of an instance of a block."""
    block = making.rule.nodes[node].block
    made = [] if block is None else making.scope.instances[block]
    return making.shape_of(made[instance].slots.get(node, -1)) if 0 <= instance < len(made) else None


def _instance_field(side: ir.Value, making: Making) -> _InstanceField | None:
    """The field of an instance that a value reads; None if it reads anything else."""
    match side:
        case ir.NodeAttr(ir.At(_, index), node, name):
            return evaluate(index, making.scope), node, name, -1
        case ir.ItemValue(ir.NodeAttr(ir.At(_, index), node, "shape"), ir.Const(int(item))):
            return evaluate(index, making.scope), node, "shape", item
        case ir.Captured(ir.At(_, index), capture):
            for read in captured(making.rule, capture):
                match read:
                    case ir.NodeAttr(_, node, name):
                        return evaluate(index, making.scope), node, name, -1
                    case ir.ItemValue(ir.NodeAttr(_, node, "shape"), ir.Const(int(item))):
                        return evaluate(index, making.scope), node, "shape", item
    return None


def _place_in_turn(each: ir.Comprehension, item: ir.Value) -> tuple[ir.Value | None, ir.Value | None]:
    """The tuple of which each round of a loop reads another item as `item`, and its place there, None for the
    number of the round; None for no such tuple.
    """
    if isinstance(item, ir.ItemValue):
        return item.base, item.index
    if item.local is None or item.local not in each.locals or each.condition is not None:
        return None, None
    if isinstance(each.source, ir.Builtin) and each.source.name == "zip":
        return each.source.arguments[each.locals.index(item.local)], None
    return (each.source if len(each.locals) == 1 else None), None
