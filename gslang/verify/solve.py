"""What would make a `where` condition hold: one side of an equation is computed, the other one wished for in the next attempt.

A wish is a value for a field of a pattern node: the shape, type or value of a leaf, an attribute of a call, a count of instances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gslang.check import checked as ir
from gslang.engine.scope import evaluate, holds
from gslang.engine.values import FAILURES
from gslang.verify.make import Making

Wish = dict[tuple[int, str], Any]


def solve(condition: ir.Value, making: Making) -> Wish:
    """Wishes after which a condition that does not hold now may hold; none where no way is known."""
    match condition:
        case ir.AllOf(items):
            for item in items:
                if not holds(item, making.scope):
                    return solve(item, making)
        case ir.AnyOf(items):
            order = list(items)
            making.rng.shuffle(order)
            for item in order:
                if wish := solve(item, making):
                    return wish
        case ir.SelectValue(place, node, arms):
            arm = arms[making.scope.branch(place, node)]
            return {} if arm is None else solve(arm, making)
        case ir.CompareValue(sign, left, right):
            return _compare(sign, left, right, making)
        case ir.Builtin("close", (left, right, *_)):
            return _compare("==", left, right, making)
        case ir.Builtin("all", (ir.Comprehension(element, (local,), source, None),)):
            return _every(element, local, source, making)
    return {}


def _compare(sign: str, left: ir.Value, right: ir.Value, making: Making) -> Wish:
    sides = [(left, right), (right, left)]
    if making.rng.random() < 0.3:
        sides.reverse()
    for side, other in sides:
        try:
            value = evaluate(other, making.scope)
        except FAILURES:
            continue
        if sign == "in":
            if side is not left or not isinstance(value, tuple) or not value:
                continue
            value = making.rng.choice(value)
        elif sign == "!=" and value == "const":
            value = "call"  # the kind of an operand
        elif sign != "==":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            value = _beyond(sign, value, side is left, making)
        if wish := _assign(side, value, making):
            return wish
    return {}


def _beyond(sign: str, value: Any, is_left: bool, making: Making) -> Any:
    """A number that compares as wished with `value`."""
    step = making.rng.choice((1, 2))
    smaller = (sign in ("<", "<=")) == is_left
    if sign in ("<=", ">=") and making.rng.random() < 0.5:
        return value
    return value - step if smaller else value + step


def _every(element: ir.Value, local: int, source: ir.Value, making: Making) -> Wish:
    """All items of a sequence become what an equation or a bound asks of each."""
    match element:
        case ir.CompareValue("==" | ">=" | "<=", ir.Local(name), bound) if name == local:
            try:
                items, value = evaluate(source, making.scope), evaluate(bound, making.scope)
            except FAILURES:
                return {}
            return _assign(source, (value,) * len(items), making) if isinstance(items, tuple) or (isinstance(items, np.ndarray) and items.ndim) else {}
    return {}


def _assign(side: ir.Value, value: Any, making: Making) -> Wish:
    """What must be wished for so that the expression `side` becomes `value`."""
    match side:
        case ir.NodeAttr(ir.Own(), node, name):
            return _field(node, name, value, making)
        case ir.Let(ir.Own(), let):
            return _assign(making.rule.lets[let], value, making)
        case ir.ItemValue(ir.NodeAttr(ir.Own(), node, name), index):
            try:
                found, k = evaluate(side.base, making.scope), evaluate(index, making.scope)
            except FAILURES:
                return {}
            if isinstance(found, tuple) and isinstance(k, int) and -len(found) <= k < len(found):
                k %= len(found)
                return _field(node, name, (*found[:k], value, *found[k + 1 :]), making)
        case ir.Builtin("numel", (inner,)) if isinstance(value, int):
            return _assign(inner, making.rng.choice(((), (1,))) if value == 1 else (value,), making)
        case ir.Builtin("normalize_axis", (inner, _)):
            return _assign(inner, value, making)
        case ir.Length(block) if isinstance(value, int):
            return {(block, "%count"): value}
        case ir.IfValue(condition, then, otherwise):
            return _assign(then if holds(condition, making.scope) else otherwise, value, making)
    return {}


def _field(node: int, name: str, value: Any, making: Making) -> Wish:
    pattern = making.rule.nodes[node]
    if not isinstance(pattern, ir.CallNode):
        return {(node, name): value}
    if name == "dtype" and pattern.operators == ("Cast",):
        return {(node, "to"): value}
    for operator in pattern.operators:
        signature = making.rule.dialect.operators[operator]
        if name in signature.attributes or any(o.name == name for o in signature.operands if o.attribute is not None):
            return {(node, name): value}
    return {}
