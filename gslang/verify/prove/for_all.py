"""Conditions on all numbers of a constant: `all(t.value[k] == k for k in range(n))`.

Such a condition says what stands at each place of the constant, or which places hold the same number. It is
read once, with a symbol for the place; where an element of the constant is asked for later, the place is put
in. A condition that is not read is left out: the rule is then taken to be applied more often than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.engine.values import truth
from gslang.verify.prove.case import Case
from gslang.verify.prove.operators.constant_value import ConstantValue
from gslang.verify.prove.operators.infinities import finite_element
from gslang.verify.prove.operators.leaf import NONE_IS_INFINITE, ONE_IS_A_NUMBER, ONE_IS_TRUE, Leaf
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import NotProved, TooMuch
from gslang.verify.prove.terms.sizes import Number, Size, linear, names_in, text_of
from gslang.verify.prove.terms.terms import Term


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a constant at places in its first axes; all of them: an element."""

    leaf: Leaf
    index: tuple[Number, ...]

    @property
    def shape(self) -> tuple[Number, ...]:
        """The sizes of the axes that are left."""
        facts = self.leaf.world.facts
        return tuple(map(facts.normal, self.leaf.resolved().shape[len(self.index) :]))


# places of symbols → the number that an expression is there
Formula = Callable[[Mapping[str, Number]], Term]


class Unread(Exception):
    """A condition, or a part of one, that is not understood here."""


def learn(case: Case, condition: ir.Value) -> None:
    """Take from a condition what it says of all numbers of constants."""
    part = condition.meant(case.rule.lets)
    each, by = part.each, part.decided_by(True, ())
    try:
        if each is not None and each.condition is None:
            with _round(case, each.locals, each.source):
                learn(case, each.element)
        elif by is not None and by.wanted and by.every:
            for item in by.items:
                _held(case, item)
        elif by is not None and by.wanted and not case.ranges:
            _one_of(case, by.items)
        elif isinstance(part, ir.IfValue) and not case.ranges:
            _held(case, part.then if truth(case.value(part.condition)) else part.otherwise)
        elif isinstance(part, ir.CompareValue) and part.operator == "==" and case.ranges:
            _relate(case, part.left, part.right)
        elif isinstance(part, ir.CompareValue) and part.operator == ">" and case.ranges:
            _above(case, _value(case, part.left), part.right)
        elif isinstance(part, ir.CompareValue) and part.operator == "<" and part.left.local is not None:
            _below(case, _value(case, part.left), part.right)
        elif case.ranges and (loop := _any_of(part)) is not None:
            _in_each_row(case, loop)
    except Unread:
        return


def _held(case: Case, condition: ir.Value) -> None:
    """The same of a part of a condition, which may be one that can be read like any other."""
    if not case.ranges:
        try:
            case.assume(condition)
            return
        except TooMuch:
            raise
        except NotProved:
            pass
    learn(case, condition)


def _one_of(case: Case, items: Sequence[ir.Value]) -> None:
    """One of some conditions holds: a case each for those that cannot be read. Raises `Impossible` where none
    does.
    """
    unread = []
    for item in items:
        try:
            if case.holds(item):
                return
        except TooMuch:
            raise
        except NotProved:
            unread.append(item)
    learn(case, unread[case.world.facts.choices.choose(len(unread))])


@contextmanager
def _round(case: Case, names: tuple[int, ...], source: ir.Value) -> Iterator[None]:
    """Any round of a comprehension: its variables stand for what is at a place that is a symbol."""
    item, symbol, size = _any_item(case, source)
    items = item if len(names) > 1 else (item,)
    if not isinstance(items, tuple) or len(items) != len(names):
        raise Unread
    before = dict(case.scope.locals)
    case.scope.locals.update(zip(names, items))
    case.ranges[next(iter(names_in(symbol)))] = size
    try:
        yield
    finally:
        case.scope.locals.clear()
        case.scope.locals.update(before)
        del case.ranges[next(iter(names_in(symbol)))]


def _any_item(case: Case, source: ir.Value) -> tuple[Any, Size, Number]:
    """(what is at a place, the place, the number of places)."""
    symbol = case.world.facts.size("each", 0)
    assert isinstance(symbol, Size)

    def at(value: ir.Value) -> tuple[Any, Number]:
        match value:
            case ir.RangeValue(lower, upper):
                begin = _number(case, lower)
                return begin + symbol, _number(case, upper) + 1 - begin
        if value.counted_to is not None:
            return symbol, _number(case, value.counted_to)
        whole = _value(case, value)
        if not isinstance(whole, Part) or not whole.shape:
            raise Unread
        return Part(whole.leaf, (*whole.index, symbol)), whole.shape[0]

    match source:
        case ir.Builtin("zip", (first, second)):
            (one, size), (other, length) = at(first), at(second)
            if not _alike(case.world.facts, size, length):
                raise Unread  # the pairs end where the shorter one does
            return (one, other), symbol, size
    item, size = at(source)
    return item, symbol, size


def _value(case: Case, value: ir.Value) -> Any:
    """A number, or a part of a constant."""
    if (counted := value.length_of) is not None:
        whole = _value(case, counted)
        if isinstance(whole, Part) and whole.shape:
            return whole.shape[0]
    match value:
        case ir.ItemValue(base, index):
            whole = _value(case, base)
            if isinstance(whole, Part) and whole.shape:
                return Part(whole.leaf, (*whole.index, _number(case, index)))
            if isinstance(whole, tuple) and type(place := _value(case, index)) is int:
                return whole[place]
            raise Unread
        case ir.BinaryValue("+" | "-" | "*" | "//" as sign, left, right):
            a, b = _number(case, left), _number(case, right)
            return a + b if sign == "+" else a - b if sign == "-" else a * b if sign == "*" else a // b
    found = case.value(value)
    return Part(found.leaf, (0,) * found.taken) if isinstance(found, ConstantValue) else found


def _number(case: Case, value: ir.Value) -> Number:
    found = _value(case, value)
    if not isinstance(found, Size) and type(found) is not int:
        raise Unread
    return found


# ── what a condition says of the elements ──


@dataclass(frozen=True, slots=True)
class Says:
    """The element at an index, in which symbols stand for places below `ranges`, is a number, that at
    another index of the same constant, or what a `formula` says. `pairs`: the axis along which it holds for
    2k and 2k + 1 alike.
    """

    index: tuple[Number, ...]
    ranges: dict[str, Number]
    number: Number = 0
    other: tuple[Number, ...] | None = None
    pairs: int | None = None
    formula: Formula | None = None

    def applied(
        self, facts: Facts, index: tuple[Number, ...], shape: tuple[Number, ...]
    ) -> Number | Term | tuple[Number, ...] | None:
        """The number at an index, or another index that holds the same; None where nothing is said of it."""
        places: dict[str, Number] = {}
        everywhere: set[str] = set()  # symbols for any place of an axis
        for axis, (said, place) in enumerate(zip(self.index, index)):
            difference = facts.normal(place - said)
            own = sorted(names_in(said) & self.ranges.keys())
            if not own:
                if type(difference) is not int or difference:
                    return None
                continue
            found = _solved(facts, said, own[0], place, axis == self.pairs)
            if len(own) > 1 or found is None or own[0] in places and found - places[own[0]] != 0:
                return None
            places[own[0]] = found
            if text_of(said) == f"1*{own[0]}" and _alike(facts, self.ranges[own[0]], shape[axis]):
                everywhere.add(own[0])
        for name, place in places.items():
            within = (place, self.ranges[name] - 1 - place)
            if name not in everywhere and not all(facts.is_not_negative(value) for value in within):
                return None
        if self.formula is not None:
            return self.formula(places)
        if self.other is None:
            return facts.normal(facts.replaced(self.number, places))
        return facts.normals(facts.replaced(part, places) for part in self.other)


def _alike(facts: Facts, a: Number, b: Number) -> bool:
    return text_of(facts.normal(a)) == text_of(facts.normal(b))


def _solved(facts: Facts, said: Number, name: str, place: Number, pairs: bool) -> Number | None:
    """The value of a symbol for which an expression is a place; for the first place of a pair, 2k, of either
    place.
    """
    parts = linear(said, name, facts)
    if parts is None or parts[0] != (2 if pairs else 1):
        return None
    rest = facts.normal(place - parts[1])
    return facts.normal(rest // 2) if pairs else rest


def _relate(case: Case, left: ir.Value, right: ir.Value) -> None:
    """Note what an equation says of an element."""
    values = []
    for side in (left, right):
        try:
            values.append(_value(case, side))
        except Unread:
            values.append(None)
    for one, other, written in ((values[0], values[1], right), (values[1], values[0], left)):
        if not isinstance(one, Part) or one.shape:
            continue
        ranges = dict(case.ranges)
        if isinstance(other, Size) or type(other) is int:
            one.leaf.says.append(Says(one.index, ranges, other))
            return
        if isinstance(other, Part) and other.leaf is one.leaf:
            found = None if other.shape else _later(case.world.facts, one.index, other.index, ranges)
            if found is not None:
                one.leaf.says.append(found)
                return
        elif case.world.is_real(one.leaf.dtype):  # whole numbers would wrap
            one.leaf.says.append(Says(one.index, ranges, formula=_formula(case, written, one.leaf)))
            return


def _formula(case: Case, value: ir.Value, leaf: Leaf) -> Formula:
    """An expression of elements of other constants than `leaf`, for any place. Raises `Unread`."""
    if isinstance(value, ir.BinaryValue) and value.operator == "*":
        one, other = _formula(case, value.left, leaf), _formula(case, value.right, leaf)
        return lambda places: finite_element("*", one(places)) * finite_element("*", other(places))
    found, facts = _value(case, value), case.world.facts
    if not isinstance(found, Part):
        alone = case.world.element_of(found)
        return lambda places: alone
    if found.shape or found.leaf is leaf or not case.world.is_real(found.leaf.dtype):
        raise Unread
    whole = found.leaf.resolved()
    return lambda places: whole.at(tuple(facts.replaced(k, places) for k in found.index))


def _above(case: Case, element: Any, bound: ir.Value) -> None:
    """Note that an element at any place of a constant is above 0."""
    if _is_any_element(case, element) and isinstance(bound, ir.Const) and bound.value == 0:
        element.leaf.above_0 = True


_FAR = 1e30  # no number beyond it is asked for by a mask


def _below(case: Case, element: Any, bound: ir.Value) -> None:
    """Note that an element at any place of a constant is below a number, so that it is neither +∞ nor NaN."""
    if _is_any_element(case, element) and _is_within(bound, -inf, _FAR):
        element.leaf.rows.add(NONE_IS_INFINITE)


def _is_within(value: ir.Value, low: float, high: float) -> bool:
    return isinstance(value, ir.Const) and low <= value.value <= high


def _any_of(part: ir.Value) -> ir.Comprehension | None:
    """The loop of `any(…)`."""
    match part:
        case ir.Builtin("any", (ir.Comprehension() as loop,)):
            return loop
    return None


def _in_each_row(case: Case, loop: ir.Comprehension) -> None:
    """Note that some element of any row of a constant is true, or above a very low number."""
    if loop.condition is not None or len(loop.locals) != 1:
        raise Unread
    row, element = _value(case, loop.source), loop.element.meant(case.rule.lets)
    if not isinstance(row, Part) or len(row.shape) != 1 or not _is_anywhere(case, row):
        raise Unread
    case.world.facts.equal(row.shape[0], 1)  # a case: such a row is repeated where it is broadcast
    if element.local == loop.locals[0]:
        row.leaf.rows.add(ONE_IS_TRUE)
    elif (
        isinstance(element, ir.CompareValue) and element.operator == ">"
        and element.left.local == loop.locals[0]
        and _is_within(element.right, -_FAR, inf)
    ):
        row.leaf.rows.add(ONE_IS_A_NUMBER)


def _is_any_element(case: Case, element: Any) -> bool:
    return isinstance(element, Part) and not element.shape and _is_anywhere(case, element)


def _is_anywhere(case: Case, part: Part) -> bool:
    """True if a part of a constant is at any place: a symbol of its own along each axis, or 0 if it is 1."""
    facts, met = case.world.facts, set()
    for place, size in zip(part.index, part.leaf.resolved().shape):
        name = next(iter(names_in(place)), "")
        if name and text_of(place) == f"1*{name}" and name not in met and name in case.ranges:
            met.add(name)
            if _alike(facts, case.ranges[name], size):
                continue
        elif text_of(place) == "0" and text_of(facts.normal(size)) == "1":
            continue
        return False
    return True


def _later(
    facts: Facts, index: tuple[Number, ...], other: tuple[Number, ...], ranges: dict[str, Number]
) -> Says | None:
    """The index, if it differs from the other one in one place that lies behind it: k + h behind k, or
    2k + 1 behind 2k.
    """
    different = [k for k, (a, b) in enumerate(zip(index, other)) if facts.normal(a - b) != 0]
    if len(different) != 1:
        return None
    (axis,) = different
    own = sorted(names_in(other[axis]) & ranges.keys())
    parts = linear(other[axis], own[0], facts) if len(own) == 1 else None
    ahead = facts.normal(index[axis] - other[axis])
    if parts is None or parts[1] != 0 or names_in(ahead) & ranges.keys() or not facts.proves(ahead):
        return None
    if parts[0] == 1:
        return Says(index, ranges, other=other)
    return Says(other, ranges, other=other, pairs=axis) if parts[0] == 2 and ahead == 1 else None
