"""The wishes under which an expression takes a value: what it reads is asked for, arithmetic is undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gslang.check import checked as ir
from gslang.dialect.domain import ListOf
from gslang.engine.scope import evaluate, holds
from gslang.engine.values import FAILURES
from gslang.verify.instances.elements import in_tuples
from gslang.verify.instances.make import Making
from gslang.verify.instances.surround import FIELD, INSIDE
from gslang.verify.samplers.sample import Shape

Wish = dict[tuple[int, str], object]
"""A value for a field of a pattern node: the shape, type or value of a leaf, an attribute of a call, a count
of instances.
"""

_LARGE = 300  # a size beside which others are 1
_LEVELS = 8  # of arithmetic that is undone: each looks at both operands


def assign(side: ir.Value, value: object, making: Making, levels: int = _LEVELS) -> Wish:
    """The wishes under which the expression `side` becomes `value`. `levels`: how deep into arithmetic to
    look."""
    # Long on purpose: a flat `match`, a form of value after the other.
    match side:
        case ir.NodeAttr(ir.Own(), node, name):
            return _field(node, name, value, making)
        case ir.Uses("calls", ir.Own(), node, operators):
            return {(node, f"{INSIDE} {side.body} {operators!r}"): (side, value)}
        case ir.Uses(what, ir.Own(), node, operators):
            return {(node, f"{FIELD} {what} {operators!r}"): (side, value)}
        case ir.Captured(ir.Own(), capture):
            wishes = (assign(read, value, making, levels) for read in captured(making.rule, capture))
            return next((wish for wish in wishes if wish), {})
        case ir.Let(ir.Own(), let):
            return assign(making.rule.lets[let], value, making, levels)
        case ir.BinaryValue(sign, left, right) if levels and type(value) in (int, float):
            return _undone(sign, left, right, value, making, levels - 1)
        case ir.Builtin("len", (ir.NodeAttr(ir.Own(), node, "shape"),)):
            return _field(node, "ndim", value, making)
        case ir.Builtin("len", (inner,)) if isinstance(value, int) and value > 0:
            try:
                now = evaluate(inner, making.scope)
            except FAILURES:
                return {}
            if not isinstance(now, tuple) or not now:
                return {}
            return assign(inner, _of_length(now, value, making), making, levels)
        case ir.ItemValue(ir.NodeAttr(ir.Own(), node, "shape"), _) if isinstance(
            making.rule.nodes[node], ir.CallNode
        ) and isinstance(value, int):
            return _of_range(node, value, making) or _some_size(value, making)
        case ir.ItemValue(ir.Captured(ir.Own(), capture), index):
            read = [ir.ItemValue(whole, index) for whole in captured(making.rule, capture)]
            wishes = (assign(item, value, making, levels) for item in read)
            return next((wish for wish in wishes if wish), {})
        case ir.UnaryValue("-", inner) if isinstance(value, int) and not isinstance(value, bool):
            return assign(inner, -value, making, levels)
        case ir.Builtin("abs", (inner,)) if isinstance(value, (int, float)) and value >= 0:
            return assign(inner, making.rng.choice((value, -value)), making, levels)
        case ir.ItemValue(ir.NodeAttr(ir.Own(), node, name), index):
            return _with_item(node, name, side.base, index, value, making)
        case ir.Builtin("numel", (inner,)) if isinstance(value, int):
            return assign(inner, _of_elements(inner, value, making), making, levels)
        case ir.Builtin("prod", (inner,)) if isinstance(value, int):
            try:
                count = len(evaluate(inner, making.scope))
            except FAILURES:
                return {}
            return assign(inner, (value, *(1,) * (count - 1)), making, levels) if count else {}
        case ir.Builtin("min" | "max" as end, (inner,)) if (
            isinstance(value, (int, float)) and not isinstance(value, bool)
        ):
            return _with_end(end, inner, value, making, levels)
        case ir.Builtin("broadcast", parts) if isinstance(value, tuple):
            wishes = (assign(part, value, making, levels) for part in making.rng.sample(parts, len(parts)))
            return next((wish for wish in wishes if wish), {})
        case ir.SliceValue(base, lower, upper, step) if isinstance(value, tuple):
            try:
                items = list(evaluate(base, making.scope))
                bounds = (lower, upper, step)
                some = slice(*[b if b is None else evaluate(b, making.scope) for b in bounds])
                count = len(items[some])  # a step may be 0
            except FAILURES:
                return {}
            if count != len(value):
                return {}
            items[some] = value
            return assign(base, tuple(items), making, levels)
        case ir.Builtin("normalize_axis", (inner, _)):
            return assign(inner, value, making, levels)
        case ir.Length(block) if isinstance(value, int):
            return {(block, "%count"): value}
        case ir.IfValue(condition, then, otherwise):
            return assign(then if holds(condition, making.scope) else otherwise, value, making, levels)
        case ir.Builtin("sum", (ir.Comprehension(source=ir.NodeAttr(ir.Own(), node, "value")),)):
            return _only_element(side, node, value, making)
    return {}


def _only_element(side: ir.Value, node: int, value: object, making: Making) -> Wish:
    """The wish under which what reads the one element of a constant is another number, in as many axes."""
    try:
        number = _one_number(node, making)
        if number is None or evaluate(side, making.scope) != number:
            return {}
    except FAILURES:
        return {}
    shape = making.shape_of(making.bound(node)) or ()
    return {(node, "value"): _splat(value, shape)}


def _one_number(node: int, making: Making) -> object:
    """The number in a constant of one element; None for anything else."""
    slot = making.bound(node)
    array = making.graph.value(slot) if slot >= 0 else None
    return array.item() if array is not None and array.size == 1 else None


def _splat(value: object, shape: Shape) -> object:
    """A constant of this shape, as a wish."""
    return in_tuples(np.full(shape, value).tolist())


def captured(rule: ir.CheckedRule, capture: int) -> Iterator[ir.Value]:
    """The values that a capture is bound to, as a rule would read them: attributes and items of such."""
    for number, node in enumerate(rule.nodes):
        for constraint in node.tests:
            whole = ir.NodeAttr(ir.OWN, number, constraint.field)
            match constraint.test:
                case ir.Capture(found) if found == capture:
                    yield whole
                case ir.TupleTest() as test:
                    for place, item in zip(test.places, test.items):
                        if isinstance(item, ir.Capture) and item.capture == capture:
                            yield ir.ItemValue(whole, ir.Const(place))


def _with_item(
    node: int, name: str, attribute: ir.Value, index: ir.Value, value: object, making: Making
) -> Wish:
    """The wishes under which an item of an attribute of a node becomes `value`."""
    try:
        found, k = evaluate(attribute, making.scope), evaluate(index, making.scope)
    except FAILURES:
        return {}
    if isinstance(found, np.ndarray) and found.ndim == 1:
        found = tuple(found.tolist())
    if not (isinstance(found, tuple) and isinstance(k, int) and -len(found) <= k < len(found)):
        return {}
    k %= len(found)
    if name == "shape" and isinstance(value, int) and value > _LARGE:
        found = (1,) * len(found)  # the whole stays small
    items = [*found[:k], value, *found[k + 1 :]]
    if isinstance(value, int) and _lists_each_once(node, name, making) and value in found:
        items[found.index(value)] = found[k]
    return _field(node, name, tuple(items), making)


def _with_end(end: str, side: ir.Value, value: float, making: Making, levels: int) -> Wish:
    """The items of which `value` is to be the least or the largest: one becomes it, and those beyond it."""
    try:
        now = np.asarray(evaluate(side, making.scope))
    except FAILURES:
        return {}
    if not now.size or now.dtype.kind not in "iuf" or now.dtype.kind != "f" and isinstance(value, float):
        return {}
    flat = [max(item, value) if end == "min" else min(item, value) for item in now.reshape(-1).tolist()]
    flat[making.rng.randrange(len(flat))] = value
    items = np.empty(len(flat), object)  # as they are: a number may be none of a narrow type
    items[:] = flat
    return assign(side, in_tuples(items.reshape(now.shape).tolist()), making, levels)


def _lists_each_once(node: int, name: str, making: Making) -> bool:
    """True if an attribute is a list of different items, such as a permutation."""
    pattern = making.rule.nodes[node]
    for operator in pattern.operators if isinstance(pattern, ir.CallNode) else ():
        spec = making.rule.dialect.operators[operator].attributes.get(name)
        parts = () if spec is None else getattr(spec.domain, "parts", (spec.domain,))
        if any(isinstance(part, ListOf) and part.distinct for part in parts):
            return True
    return False


def _undone(sign: str, left: ir.Value, right: ir.Value, value: Any, making: Making, levels: int) -> Wish:
    """The wishes that make `left sign right` be `value`, one side being as it is."""
    for side, other, is_left in ((left, right, True), (right, left, False)):
        try:
            known = evaluate(other, making.scope)
        except FAILURES:
            continue
        needed: Any = None
        if isinstance(known, (float, np.floating)) or type(known) is int and type(value) is float:
            needed = _undone_float(sign, float(known), value, is_left)
        elif type(known) is not int:
            continue
        elif sign == "+":
            needed = value - known
        elif sign == "-":
            needed = value + known if is_left else known - value
        elif sign == "*" and known and value % known == 0:
            needed = value // known
        elif sign == "%" and is_left and 0 <= value < known:
            needed = value + known * making.rng.choice((0, 1, 2) if value else (1, 2))  # a size is hardly 0
        elif sign == "//" and is_left and known > 0:
            least = 1 if value == 0 and known > 1 else 0
            needed = value * known + making.rng.choice((least, making.rng.randrange(least, known)))
        if needed is not None and (wish := assign(side, needed, making, levels)):
            return wish
    whole = sign == "*" and type(value) is int
    return assign(right, 1, making, levels) if whole else {}  # then the other one can be it all


def _undone_float(sign: str, known: float, value: float, is_left: bool) -> float | None:
    """The number on one side of a sum or product of floats that makes it `value`; None if there is none."""
    if sign == "+":
        return value - known
    if sign == "-":
        return value + known if is_left else known - value
    if sign == "*":
        return value / known if known else None
    if sign == "/" and is_left:
        return value * known
    return known / value if sign == "/" and value else None


def _of_range(node: int, length: int, making: Making) -> Wish:
    """The end of a range from 0, which may have got dimensions of one element; none for other calls."""
    nodes = making.rule.nodes
    while isinstance(call := nodes[node], ir.CallNode) and call.operators == ("Unsqueeze",):
        node = call.below[0]
    if not isinstance(call, ir.CallNode) or call.operators not in (("Range",), ("arange",)):
        return {}
    end = call.below[1]
    return {(end, "value"): length} if isinstance(nodes[end], ir.LeafNode) else {}


# operator → the operand or the attribute that is the shape of its result
_SAYS_SHAPE: Mapping[str, int | str] = {
    "Expand": 1, "Reshape": 1, "dyn.broadcast_to": 1, "dyn.reshape": 1, "broadcast_to": "shape",
    "reshape": "newshape",
}


def _of_stated_shape(node: int, shape: object, making: Making) -> Wish:
    """The operand or attribute that says the shape of a call, which may be one of several alternatives."""
    nodes = making.rule.nodes
    for branch in nodes[node].branches or (node,):
        call = nodes[branch]
        if not isinstance(call, ir.CallNode) or len(call.operators) != 1:
            continue
        says = _SAYS_SHAPE.get(call.operators[0])
        if isinstance(says, str):
            return {(branch, says): shape}
        if says is not None and isinstance(nodes[call.below[says]], ir.LeafNode):
            return {(call.below[says], "value"): shape}
    return {}


def _of_length(now: tuple[Any, ...], length: int, making: Making) -> tuple[Any, ...]:
    """A tuple with so many items: the first ones of another one, then these again, or where they are whole
    numbers such as count on, as places do."""
    if type(now[-1]) is int and making.rng.random() < 0.5:
        return (*now, *range(now[-1] + 1, now[-1] + 1 + length))[:length]
    return (now * length)[:length]


def _some_size(value: int, making: Making) -> Wish:
    """The size of what is computed: some input's size becomes it."""
    leaves = [
        (number, shape)
        for number, node in enumerate(making.rule.nodes)
        if isinstance(node, ir.LeafNode) and node.block is None and (slot := making.bound(number)) >= 0
        and (shape := making.shape_of(slot))
    ]
    if not leaves:
        return {}
    number, shape = making.rng.choice(leaves)
    k = making.rng.randrange(len(shape))
    return {(number, "shape"): (*shape[:k], value, *shape[k + 1 :])}


def _of_elements(shape: ir.Value, count: int, making: Making) -> tuple[int, ...]:
    """A shape of so many elements, of the rank that is wished for if one is; else sometimes of the rank that
    it has."""
    rank = making.wishes.get((shape.node, "ndim")) if isinstance(shape, ir.NodeAttr) else None
    if isinstance(rank, int) and (rank or count == 1):
        return (*(1,) * (rank - 1), count) if rank else ()
    try:
        now: tuple[int, ...] = evaluate(shape, making.scope)
    except FAILURES:
        now = (1,)
    if count == 1:
        return making.rng.choice(((), (1,), (1,) * len(now)))
    if not now or making.rng.random() < 0.5:
        return (count,)
    k = making.rng.randrange(len(now))
    others = [1 if count else max(d, 1) for d in now]
    return (*others[:k], count, *others[k + 1 :])


def _field(node: int, name: str, value: object, making: Making) -> Wish:
    pattern = making.rule.nodes[node]
    if name == "name":
        return {(node, name): value} if isinstance(value, str) else {}
    if name == "shape" and (wish := _of_stated_shape(node, value, making)):
        return wish
    if not isinstance(pattern, ir.CallNode):
        if name == "ndim" and isinstance(value, int) and (number := _one_number(node, making)) is not None:
            # it stays one
            return {(node, "shape"): (1,) * value, (node, "value"): _splat(number, (1,) * value)}
        if name != "shape" or (slot := making.bound(node)) < 0:
            return {(node, name): value}
        alike = [
            k
            for k, other in enumerate(making.rule.nodes)
            if isinstance(other, ir.LeafNode) and other.block is None and making.bound(k) >= 0
        ]
        return {
            (k, "shape"): value for k in alike if making.shape_of(making.bound(k)) == making.shape_of(slot)
        }
    if name == "ndim" and isinstance(value, int):
        leaves = [
            k
            for k, other in enumerate(making.rule.nodes)
            if isinstance(other, ir.LeafNode) and making.bound(k) >= 0
        ]
        leaves = [k for k in leaves if making.graph.value(making.bound(k)) is None] or leaves  # inputs
        return {(making.rng.choice(leaves), "ndim"): value} if leaves else {}
    if name == "dtype" and pattern.operators == ("Cast",):
        return {(node, "to"): value}
    for operator in pattern.operators:
        signature = making.rule.dialect.operators[operator]
        if name in signature.attributes or any(
            o.name == name for o in signature.operands if o.attribute is not None
        ):
            return {(node, name): value}
    return {}
