"""Sizes and constants of an instance that change together, where conditions tie several of them.

`solve` undoes one equation at a time and leaves every other number as it is: `m * n <= 144` beside `m <= 12`
just holds for few pairs, and `a == 3 * b` beside `a + b > 9` for none near the drawn ones. Here conditions
are computed for many values of each number in turn, without a graph being made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import isfinite, isqrt, prod
from random import Random

import numpy as np

from gslang.base.arrays import Array
from gslang.base.deadline import Deadline
from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.walks import readings
from gslang.dialect.dtypes import whole_numbers
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.engine.scope import Scope, holds
from gslang.graph.graph import CONST
from gslang.verify.decisions import Goal, Outcomes
from gslang.verify.instances.elements import in_tuples
from gslang.verify.reads import stated

Wishes = dict[tuple[int, str], object]

_SMALL = 13  # sizes up to this one are tried
_COARSE = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # so that a limit between two of them shows
_MOST_STATED = 6  # numbers of a rule that are combined
_MOST_NUMBERS = 8  # that change together
_MOST_ITEMS = 6  # of a constant
_MOST_SETTLED = 100  # values of one number in a sweep
_MOST_TRIED = 32  # values of one number between which a limit is sought
_HALVINGS = 16  # of what is between two of them
_SWEEPS = 8  # changes of one number after another
_LARGEST = 5_000  # size
_MOST_ELEMENTS = 100_000  # of an input


@dataclass(frozen=True, slots=True)
class _Number:
    """A size of a leaf, or (`axis` None) a number of a short constant, that conditions read."""

    leaf: int
    axis: int | None
    item: int  # of the constant
    captures: tuple[int, ...]  # bound to it
    candidates: tuple[float, ...]


class JointNumbers:
    """The numbers that the conditions of a rule read in a match: what they are may be changed, for the
    conditions alone, until `restore`."""

    def __init__(self, rule: ir.CheckedRule, scope: Scope, outcomes: Outcomes = ()) -> None:
        self.rule, self.scope, self.graph = rule, scope, scope.graph
        self.conditions: Outcomes = (*[(condition, True) for condition in rule.where], *outcomes)
        self.shapes: dict[int, list[int]] = {}
        self.values: dict[int, Array] = {}
        self.numbers = list(self._found())[:_MOST_NUMBERS]
        self._before = (
            {leaf: self.graph.types[scope.slots[leaf]] for leaf in self.shapes},
            {leaf: self.graph.values[scope.slots[leaf]] for leaf in self.values},
            dict(scope.captures), scope.memo,
        )
        scope.memo = None

    def restore(self) -> None:
        """Let the match be what it was."""
        types, values, self.scope.captures, self.scope.memo = self._before
        for leaf, type_ in types.items():
            self.graph.types[self.scope.slots[leaf]] = type_
        for leaf, value in values.items():
            self.graph.values[self.scope.slots[leaf]] = value

    def _found(self) -> Iterator[_Number]:
        graph, captured = self.graph, _captures(self.rule)
        read = set(_fields_read(self.rule, self.conditions))
        for leaf, node in self.rule.leaves.items():
            slot = self.scope.slots[leaf] if node.block is None else -1
            type_ = graph.types[slot] if slot >= 0 else None
            if not isinstance(type_, TensorType) or not is_static(type_.shape) or type_.dtype is None:
                continue
            shape = [d for d in type_.shape or () if isinstance(d, int)]
            if (leaf, "shape") in read:
                self.shapes[leaf] = shape
                sizes = tuple([int(n) for n in _candidates(self.rule) if 1 <= n <= _LARGEST])
                for axis in range(len(shape)):
                    bound = [c for at, c in captured.get(leaf, ()) if at % len(shape) == axis]
                    yield _Number(leaf, axis, 0, tuple(bound), sizes)
            if (leaf, "value") in read and graph.op[slot] is CONST and graph.value(slot).size <= _MOST_ITEMS:
                self.values[leaf] = graph.value(slot).copy()
                numbers = _of_type(_candidates(self.rule), type_.dtype)
                for item in range(graph.value(slot).size):
                    yield _Number(leaf, None, item, (), numbers)

    def _put(self, number: _Number, value: float) -> None:
        slot = self.scope.slots[number.leaf]
        type_ = self.graph.types[slot]
        assert isinstance(type_, TensorType)
        if number.axis is None:
            self.values[number.leaf].reshape(-1)[number.item] = value
            self.graph.values[slot] = self.values[number.leaf].copy()
            return
        shape = self.shapes[number.leaf]
        shape[number.axis] = int(value)
        self.graph.types[slot] = TensorType(tuple(shape), type_.dtype)
        for capture in number.captures:
            self.scope.captures[capture] = int(value)

    def _now(self, number: _Number) -> float:
        if number.axis is not None:
            return self.shapes[number.leaf][number.axis]
        value: float = self.values[number.leaf].reshape(-1)[number.item].item()
        return value

    @property
    def _hold(self) -> bool:
        return all(holds(condition, self.scope) is wanted for condition, wanted in self.conditions)

    def _failing(self) -> int:
        return sum(holds(condition, self.scope) is not wanted for condition, wanted in self.conditions)

    def _fits(self, number: _Number, value: float) -> bool:
        others = self.shapes[number.leaf] if number.axis is not None else []
        return prod(d for k, d in enumerate(others) if k != number.axis) * value <= _MOST_ELEMENTS

    def settle(self, random: Random, until: Deadline) -> bool:
        """Change one number after another until all conditions come out as wanted; False if they do not."""
        failing = self._failing()
        for _ in range(_SWEEPS * bool(self.numbers)):
            if not failing or until.passed:
                break
            number = random.choice(self.numbers)
            tried = {}
            for value in random.sample(number.candidates, min(len(number.candidates), _MOST_SETTLED)):
                if self._fits(number, value):
                    self._put(number, value)
                    tried[value] = self._failing()
            if not tried:
                return False
            failing = min(tried.values())
            self._put(number, random.choice([value for value, count in tried.items() if count == failing]))
        return not failing

    def widen(self, random: Random, until: Deadline) -> bool:
        """Make one number as large as the conditions allow, or a constant as small, once the others are so,
        or as small as possible; numbers without a limit stay. True if any changed."""
        if not self.numbers:
            return False
        one, before, others_up = random.choice(self.numbers), self.wishes(), random.random() < 0.5
        for number in (*random.sample(self.numbers, len(self.numbers)), one):
            up = random.random() < 0.5 if number.axis is None else others_up or number is one
            if until.passed:
                return False
            now = self._now(number)
            beyond = sorted(n for n in number.candidates if (n > now if up else n < now))
            allowed = self._allowed(number, beyond if up else beyond[::-1], up)
            self._put(number, now if allowed is None else allowed)
        return repr(self.wishes()) != repr(before)

    def _allows(self, number: _Number, value: float) -> bool:
        self._put(number, value)
        return self._hold

    def _allowed(self, number: _Number, values: list[float], up: bool) -> float | None:
        """The last of these values, from near to far, under which the conditions hold, or one between it and
        the next; None if they hold under none, or under the farthest ones, too: then there is no limit."""
        now = self._now(number)
        fits = [value for value in values if self._fits(number, value)]
        fits = [*fits[: len(fits) - 1 : 1 + len(fits) // _MOST_TRIED], *fits[-1:]]
        allowed = [value for value in fits if self._allows(number, value)]
        is_size = number.axis is not None
        if is_size and not up:
            return allowed[-1] if allowed else None
        if len(allowed) == len(fits) or is_size and allowed and 2 * allowed[-1] > fits[-1]:
            return None
        last = allowed[-1] if allowed else now
        beyond = next((value for value in fits if abs(value - now) > abs(last - now)), None)
        for _ in range(_HALVINGS):
            if beyond is None or abs(beyond - last) <= 1:
                break
            middle = (last + beyond) // 2
            last, beyond = (middle, beyond) if self._allows(number, middle) else (last, middle)
        return last if last != now else None

    def wishes(self) -> Wishes:
        """The numbers as they are now, as wishes for an instance."""
        found: Wishes = {(leaf, "shape"): tuple(shape) for leaf, shape in self.shapes.items()}
        for leaf, array in self.values.items():
            found[leaf, "value"] = in_tuples(array.tolist()) if array.ndim else array.item()
            found[leaf, "shape"] = array.shape
        return found


def _changed(
    rule: ir.CheckedRule, scope: Scope, outcomes: Outcomes, change: Callable[[JointNumbers], bool]
) -> Wishes:
    """The wishes after a change that succeeds, else none."""
    numbers = JointNumbers(rule, scope, outcomes)
    try:
        with np.errstate(all="ignore"):
            return numbers.wishes() if change(numbers) else {}
    finally:
        numbers.restore()


def at_limits(
    rule: ir.CheckedRule, scope: Scope, outcomes: Outcomes, random: Random, until: Deadline
) -> Wishes:
    """Wishes for numbers that the rule's conditions, and these, just allow."""
    known = bool(rule.where or outcomes)
    return _changed(rule, scope, outcomes, lambda numbers: numbers.widen(random, until)) if known else {}


def reaching(
    rule: ir.CheckedRule, scope: Scope, goal: Goal, random: Random, until: Deadline
) -> Wishes:
    """Wishes for numbers under which the rule's conditions hold and a decision goes as wanted."""
    return _changed(rule, scope, goal.outcomes, lambda numbers: numbers.settle(random, until))


def _fields_read(rule: ir.CheckedRule, conditions: Outcomes) -> Iterator[tuple[int, str]]:
    """The fields of nodes that conditions read, also through captures."""
    bound = {capture: leaf for leaf, known in _captures(rule).items() for _, capture in known}
    for part in readings(tuple([condition for condition, _ in conditions]), rule.lets):
        if isinstance(part, ir.NodeAttr):
            yield part.node, part.name
        elif isinstance(part, ir.Captured) and part.capture in bound:
            yield bound[part.capture], "shape"


def _captures(rule: ir.CheckedRule) -> dict[int, list[tuple[int, int]]]:
    """Leaf → the places in its shape and the captures that are bound to them."""
    found: dict[int, list[tuple[int, int]]] = {}
    for leaf, node in rule.leaves.items():
        for test in node.asked("shape"):
            if isinstance(test, ir.TupleTest):
                places = zip(test.places, test.items)
                found[leaf] = [(at, item.capture) for at, item in places if isinstance(item, ir.Capture)]
    return found


def _candidates(rule: ir.CheckedRule) -> tuple[float, ...]:
    """Numbers that conditions may tell apart: small ones, those of the rule, and combinations of these."""
    known = [
        abs(n) for n in stated((rule.where, rule.lets, rule.target.targets))
        if isinstance(n, (int, float)) and not isinstance(n, bool) and isfinite(n)
    ]
    numbers = list(dict.fromkeys(known))[:_MOST_STATED]
    found: list[float] = [*range(_SMALL), *_COARSE, *numbers]
    for n in numbers:
        found += [n + 1, n - 1, n / 2, 2 * n, isqrt(int(n)), *(n // k for k in range(1, _SMALL))]
    for a, b in product(numbers, repeat=2):
        found += [a + b, a - b, a * b, a * (b + 1) - 1]
    return tuple(dict.fromkeys(found))


def _of_type(numbers: Iterable[float], dtype: str) -> tuple[float, ...]:
    """The numbers of both signs that are of an element type, with the ends of the type."""
    both = [sign * n for n in numbers for sign in (1, -1)]
    if (ends := whole_numbers(dtype)) is None:
        return tuple(dict.fromkeys(map(float, both)))
    whole = [int(n) for n in both if n == int(n) and ends[0] <= n <= ends[1]]
    return tuple(dict.fromkeys([*whole, *ends]))
