"""Slices over symbolic tensors: Python's rules for beginnings, ends and steps, for numbers that are not
known.

Where the numbers are given, each may lie before, inside or behind the axis: cases. Where nothing is known of
them (`OpenSlice`), what they make of an axis of a certain size is three new numbers: where it starts, how
many elements it takes, and the step between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.verify.prove.operators.tensors import Tensor, World
from gslang.verify.prove.terms.opaque import Opaque
from gslang.verify.prove.terms.paths import OPERATOR, Impossible, NotProved
from gslang.verify.prove.terms.sizes import Number, Size, text_of
from gslang.verify.prove.terms.terms import Term

_NO_SIZE = 2**48  # no tensor has as many elements along an axis
_LARGEST = 2**31 - 1  # that a number of 32 bits can be


@dataclass(frozen=True, slots=True)
class Range:
    """Positions `start`, `start + step`, …: `count` of them."""

    start: Number
    count: Number
    step: Number
    room: Number | None = None  # the size of the axis, where it is not known yet that they lie inside


def nonzero(world: World) -> Number:
    """A number that is any but 0: its sign is a case."""
    size = world.facts.size("step")
    return size if world.facts.choices.choose(2) == 0 else -size


def is_forward(world: World, step: Number) -> bool:
    """True if a step is above 0. Raises `NotProved` where it may be 0."""
    if world.facts.at_least(step, 1):
        return True
    if world.facts.at_least(-1, step):
        return False
    if world.reading:
        raise Impossible(OPERATOR)
    raise NotProved("a slice step may be 0")


def range_of(world: World, begin: Number | None, end: Number | None, step: Number, size: Number) -> Range:
    """The part of an axis that `begin:end:step` takes; None for a bound that is left out."""
    forward = is_forward(world, step)
    first, last = (0, size) if forward else (-1, size - 1)  # bounds are moved between these
    start = (first if forward else last) if begin is None else _moved(world, begin, size, first)
    stop = (last if forward else first) if end is None else _moved(world, end, size, first)
    room, stride = (stop - start, step) if forward else (start - stop, -step)
    if not world.facts.at_least(room, 1):
        return Range(0, 0, step)
    return Range(
        start, world.facts.normal(world.facts.normal(room + stride - 1) // world.facts.normal(stride)), step
    )


def _moved(world: World, value: Number, size: Number, first: int) -> Number:
    """A bound counted from the front, moved to where there are positions."""
    facts, last = world.facts, size + first
    if type(value) is int and abs(value) > _NO_SIZE:
        return last if value > 0 else first
    if not facts.by_cases:
        world.clipped = True
        return facts.clip(value, size, first)
    if not facts.at_least(value, 0):
        value = value + size
        return value if facts.at_least(value, first) else first
    return value if facts.at_least(last, value) else last


def learn_longest(world: World) -> None:
    """Take axes to be no longer than the largest number of 32 bits, so that bounds of at least that number,
    as conditions of the rule say they are, stand for the end.
    """
    facts = world.facts
    for name, (bound, size, low) in list(facts.clips.items()):
        if facts.proves(facts.normal(bound - _LARGEST)):
            facts.learn(_LARGEST - size)
            facts.learn_equal(Size({(name,): 1}, facts), size + low)
            world.notes.add(f"no axis is longer than {_LARGEST}")


def taken(world: World, x: Tensor, axis: int, part: Range) -> Tensor:
    """Those positions of an axis."""
    facts = world.facts

    def at(index: tuple[Number, ...]) -> Term:
        # there is an element, so a last one
        if part.room is not None and facts.proves(facts.normal(part.count - 1)):
            last = part.start + part.step * (part.count - 1)
            for value in (last, part.room - 1 - last):
                facts.learn(value)
        return x.at((*index[:axis], facts.normal(index[axis] * part.step + part.start), *index[axis + 1 :]))

    return Tensor((*x.shape[:axis], part.count, *x.shape[axis + 1 :]), x.dtype, at, None, x.splat)


class OpenSlice(Opaque):
    """The numbers of a slice of which nothing is said: what they make of an axis is the same wherever it has
    the same size.
    """

    def __init__(self, world: World, shape: Sequence[Number]) -> None:
        self.world, self.rank = world, len(shape)
        self.ranges: list[tuple[int, Number, Range]] = []  # (axis, its size, what is taken)
        self.way: tuple[object, ...] | None = None  # what else says which elements the numbers stand for
        self.of(shape)

    def read_by(self, *way: object) -> None:
        """Take the numbers together with what else says which elements they stand for: axes, a mode.

        Raises `NotProved` where that was another thing before.
        """
        if self.way is None:
            self.way = way
        if not all(
            a is b or not isinstance(a, Opaque) and not isinstance(b, Opaque) and a == b
            for a, b in zip(self.way, way)
        ):
            raise NotProved("slice bounds are copied without the axes or the mode")

    def of(self, shape: Sequence[Number]) -> list[Range]:
        """The part that is taken of each axis of a tensor of this shape."""
        if self.rank != len(shape):
            raise NotProved("a slice is copied to a tensor of a different rank")
        return [self._range(axis, size) for axis, size in enumerate(shape)]

    def _range(self, axis: int, size: Number) -> Range:
        facts = self.world.facts
        for place, other, found in self.ranges:
            if place == axis and text_of(facts.normal(other)) == text_of(facts.normal(size)):
                return found
        if not self.world.reading:
            raise NotProved("a slice is copied to an axis of a different size")
        start, count, step = facts.size("start", 0), facts.size("count", 0), facts.size("step", None)
        facts.learn(size - 1 - start)
        facts.learn(size - count)
        self.ranges.append((axis, size, Range(start, count, step, size)))
        return self.ranges[-1][2]

    def steps(self) -> tuple[Number, ...]:
        """The step along each axis."""
        return tuple(
            self.world.facts.normal(found.step)
            for _, _, found in sorted(self.ranges, key=lambda item: item[0])
        )
