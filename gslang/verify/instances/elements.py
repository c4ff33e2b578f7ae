"""Constants that satisfy conditions on all of their elements, such as `all(row[0] == 0 for row in c.value)`.

A condition is run through as in a match, over a draft of each constant; an element for which it does not hold
gets another value there and then. Loops over `zip` count as loops over its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.engine.scope import all_rounds, evaluate, holds
from gslang.engine.values import FAILURES, plain
from gslang.graph.graph import CONST
from gslang.verify.instances.make import Making

NOT = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "in": "not in", "not in": "in"}
_WITHOUT_ZERO = 0.75  # share of elements
_SMALLER = {"<": 1, "<=": 1, ">": -1, ">=": -1}  # sign → in which direction the right side is from the left
_MOST_ELEMENTS = 1024  # of constants that are looked at one by one


def with_elements(condition: ir.Value, making: Making) -> dict[tuple[int, str], object]:
    """The values of constants under which a condition on all elements of an array holds; none where no way is
    known.
    """
    graph, scope = making.graph, making.scope
    slots = {
        number: slot
        for number, node in enumerate(making.rule.nodes)
        if isinstance(node, ir.LeafNode) and node.block is None and (slot := making.bound(number)) >= 0
        and graph.op[slot] is CONST and 0 < graph.value(slot).size <= _MOST_ELEMENTS
    }
    drafts = {slot: graph.value(slot).copy() for slot in slots.values()}
    before, memo, values = scope.locals, scope.memo, {slot: graph.values[slot] for slot in drafts}
    # what a let has been computed to be need not be so of the next element
    scope.locals, scope.memo = dict(before), None
    graph.values.update(drafts)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            settled = _Elements(making).settle(condition)
    except FAILURES:
        settled = False
    finally:
        scope.locals, scope.memo = before, memo
        graph.values.update(values)
    return {
        (number, "value"): in_tuples(drafts[slot].tolist())
        for number, slot in slots.items()
        if settled and drafts[slot].tobytes() != graph.value(slot).tobytes()
    }


class _Elements:
    """The run through a condition. `places`: variables of loops that are elements, with the array that holds
    them there.
    """

    def __init__(self, making: Making) -> None:
        self.scope, self.rng, self.lets = making.scope, making.rng, making.rule.lets
        self.places: dict[int, tuple[Any, int]] = {}

    def settle(self, condition: ir.Value) -> bool:
        """Make a condition hold for the variables as they are; False where no way is known."""
        if (each := condition.each) is not None:
            return self.all_rounds(each)
        if (some := loop_of_any(condition)) is not None:
            return self.one_round(some)
        by = condition.decided_by(True, self.lets)
        parts = by.items if by is not None and by.wanted and (by.every or len(by.items) == 1) else ()
        return (
            holds(condition, self.scope) or self.compared(condition) or self.chosen(condition)
            or bool(parts) and all([self.settle(part) for part in parts]) and holds(condition, self.scope)
        )

    def all_rounds(self, loop: ir.Comprehension) -> bool:
        """Settle the element of a loop in each of its rounds."""
        match loop.source:
            case ir.Builtin("zip", parts):
                arrays = [evaluate(part, self.scope) for part in parts]
            case source:
                arrays = [evaluate(source, self.scope)]
        elements = {
            local: array
            for local, array in zip(loop.locals, arrays) if isinstance(array, np.ndarray) and array.ndim == 1
        }
        for k, _ in enumerate(all_rounds(loop, self.scope)):
            self.places.update({local: (array, k) for local, array in elements.items()})
            if loop.condition is not None and not holds(loop.condition, self.scope):
                continue
            for local in elements:
                self.without_zero(local)
            if not self.settle(loop.element):
                return False
        for local in elements:
            del self.places[local]
        return True

    def one_round(self, loop: ir.Comprehension) -> bool:
        """Settle the element of a loop over one array in one of its rounds, whichever it is."""
        array = evaluate(loop.source, self.scope)
        if len(loop.locals) != 1 or not isinstance(array, np.ndarray) or array.ndim != 1 or not array.size:
            return False
        (local,), chosen, settled = loop.locals, self.rng.randrange(array.size), False
        for k, _ in enumerate(all_rounds(loop, self.scope)):
            if k == chosen:
                self.places[local] = array, k
                parts = (loop.element,) if loop.condition is None else (loop.condition, loop.element)
                settled = all([self.settle(part) for part in parts])
                del self.places[local]
        return settled

    def without_zero(self, local: int) -> None:
        """Mostly, make an element that is 0 another number: sizes and factors of 0 hold what they say of
        nothing.
        """
        array, k = self.places[local]
        if array.dtype.kind in "iu" and array[k] == 0 and self.rng.random() < _WITHOUT_ZERO:
            array[k] = self.scope.locals[local] = self.rng.choice((1, 2, 3))

    def compared(self, condition: ir.Value) -> bool:
        """Make one side of an equation the other one, if it is an element; True if it holds then. Of an
        inequality, a number next to the other one, or a little further away."""
        sign, left, right = condition.compares or ("", condition, condition)
        if sign in ("==", "close"):
            sides = self.rng.sample([(left, right, 0), (right, left, 0)], 2)
        elif sign in _SMALLER:  # elements before the last one that is compared are settled
            step = self.rng.choice((1, 1, 2)) * _SMALLER[sign]
            sides = [(right, left, step), (left, right, -step)]
            sides.sort(key=lambda side: -(self.place(side[0]) or (None, 0))[1])
        else:
            return False
        for side, other, step in sides:
            place, value = self.place(side), evaluate(other, self.scope)
            if place is not None and self.put(*place, value + step if step else value, condition):
                return True
        return False

    def place(self, side: ir.Value) -> tuple[Any, int] | None:
        """The array and the place in it that a value is read from; None if it is no element."""
        match side:
            case ir.ItemValue(base, index):
                array, k = evaluate(base, self.scope), evaluate(index, self.scope)
            case ir.Local(local) if local in self.places:
                array, k = self.places[local]
            case _:
                return None
        return (array, k) if isinstance(array, np.ndarray) and array.ndim == 1 else None

    def chosen(self, condition: ir.Value) -> bool:
        """Give an element that a condition reads a number near one of the condition's; True if it holds then.
        """
        read = {part.local for part in walk(condition, self.lets) if isinstance(part, ir.Local)}
        for local in sorted(read & set(self.places)):
            array, k = self.places[local]
            numbers = list(dict.fromkeys([*_numbers(condition, self.lets), *self.multiples(read - {local})]))
            self.rng.shuffle(numbers)
            if self.rng.random() < _WITHOUT_ZERO:
                numbers.sort(key=lambda number: number == 0)  # the last one to try
            if any(self.put(array, k, value, condition) for value in numbers):
                return True
        return False

    def multiples(self, locals: set[int]) -> list[float]:
        """Multiples of the numbers that variables hold, which conditions on remainders ask for."""
        held = [self.scope.locals.get(local) for local in sorted(locals)]
        return [k * number for number in held if type(number) is int for k in (1, 2, 3)]

    def put(self, array: Any, k: int, value: object, condition: ir.Value) -> bool:
        """Put a value into an array; it is taken back, and the answer False, if a condition does not hold
        then.
        """
        before = plain(array[k])
        for attempt in (value, before):
            try:
                array[k] = attempt
            except OverflowError:
                continue
            for local, (held, place) in self.places.items():
                if held is array and place == k:
                    self.scope.locals[local] = plain(array[k])
            if attempt is value and holds(condition, self.scope):
                return True
        return False


def loop_of_any(condition: ir.Value) -> ir.Comprehension | None:
    """The loop of a condition that holds if one round does."""
    loop = condition.arguments[0] if isinstance(condition, ir.Builtin) and condition.name == "any" else None
    return loop if isinstance(loop, ir.Comprehension) else None


def negated(condition: ir.Value) -> ir.Value:
    """A condition that holds if another one does not; comparisons stay such."""
    match condition:
        case ir.CompareValue(sign, left, right) if sign in NOT:
            return ir.CompareValue(NOT[sign], left, right)
    return ir.UnaryValue("not", condition)


def _numbers(condition: ir.Value, lets: Sequence[ir.Value]) -> list[float]:
    """Numbers that a condition may tell apart: its own, and those beside them."""
    found: dict[float, None] = {0: None, 1: None}
    for part in walk(condition, lets):
        if isinstance(part, ir.Const) and isinstance(part.value, (int, float)):
            number = part.value
            found.update(dict.fromkeys((number, -number, number + 1, number - 1, 2 * number)))
    return list(found)


def in_tuples(value: object) -> object:
    """A value with tuples instead of lists."""
    return tuple([in_tuples(item) for item in value]) if isinstance(value, list) else value
