"""Calls that are not defined for all elements of their operands: divisions of whole numbers, shifts, lookups.

Each element of a tensor is computed, also where no output reads it. So the target must be defined everywhere
if the source is: what it asks for at an arbitrary place is what the source asks for at some place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.verify.partial import DIVISIONS
from gslang.verify.prove.operators.tensors import Index, Tensor, World
from gslang.verify.prove.operators.whole import (
    asked_of_both,
    asked_of_right,
    elements_read,
    is_always_valid,
    is_partial,
    same_words,
)
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number, product, text_of
from gslang.verify.prove.terms.terms import ONE, Atom, Term
from gslang.verify.prove.terms.totals import up_to_date
from gslang.verify.prove.terms.uses import in_normal_form

Asked = Sequence[tuple[Term, str]]
"""Truth values of which one must hold, each with the assumption under which it suffices, or an empty text."""


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A call, of the source or of the target. `applies`: it is one in this case. `asked`: what it asks for at
    a place; `covered` is told each place of the target at which that is known.
    """

    of_source: bool
    shape: tuple[Number, ...]
    asked: Callable[[Index], Sequence[Asked]]
    applies: Callable[[], bool] = lambda: True
    covered: Callable[[Index], None] = lambda index: None


def check_everywhere(world: World) -> None:
    """Raise `NotProved` if the target may be undefined somewhere although the source is defined."""
    calls = [call for call in world.partial if call.applies()]
    for call in [call for call in calls if not call.of_source]:  # operands first
        if all([world.facts.at_least(size, 1) for size in world.facts.normals(call.shape)]):
            index = any_place(world, call.shape)
            sources = [_Known(world, known) for known in calls if known.of_source]
            for asked in _evaluated(world, call, index, ""):
                _check(world, asked, sources, call.shape, index)
            call.covered(index)


def need_valid(world: World, name: str, operands: Sequence[Tensor], result: Tensor) -> None:
    """Each element of an element-wise function of whole numbers must be defined."""
    left, right = operands[:2]
    if is_always_valid(name, right.splat):
        return

    def of_right(index: Index) -> list[Asked]:
        return [[(asked_of_right(name, right.at(index), result.dtype), "")]]

    def of_both(index: Index) -> list[Asked]:
        a, b = (world.element(operand, result.shape, index) for operand in (left, right))
        return [[(asked_of_both(a, b, result.dtype), "")]]

    def applies() -> bool:
        return is_partial(name, result.dtype)

    world.partial.append(Partial(world.reading, right.shape, of_right, applies))
    if name.partition(" ")[0] in DIVISIONS:
        world.partial.append(Partial(world.reading, result.shape, of_both, applies))


def any_place(world: World, shape: Sequence[Number]) -> tuple[Number, ...]:
    """A place in a tensor, the same one in each of this shape."""
    index: list[Number] = []
    for axis, size in enumerate(map(world.facts.normal, shape)):
        if type(size) is int and size == 1:
            index.append(0)
            continue
        key = ("any place", axis, text_of(size))
        if key not in world.slices:
            world.slices[key] = world.facts.position(size)
        index.append(world.facts.normal(world.slices[key]))
    return tuple(index)


def _evaluated(world: World, call: Partial, index: Index, side: str) -> list[Asked]:
    """The demands of a call at a place. `side`: whose lookups are taken for granted, "source" or none's."""
    before, world.comparing = world.comparing, side
    try:
        with in_normal_form():
            return [
                [(up_to_date(term, world.facts), note) for term, note in asked] for asked in call.asked(index)
            ]
    finally:
        world.comparing = before


def _check(
    world: World, asked: Asked, sources: Sequence[_Known], shape: Sequence[Number], index: Index
) -> None:
    known: list[Term] = []
    for term, note in asked:
        if term.key == ONE.key:
            return
        for source in sources:
            for other in source.near(term, shape, index):
                if other.key == term.key:
                    world.notes |= {note} if note else set()
                    return
                known.append(other)
    first = asked[0][0]
    if not same_words(world, first, ONE, "bool", [(other, True) for other in known]):
        raise NotProved(
            f"the target may be undefined where the source is defined: {first.key} is not implied"
        )


class _Known:
    """A call of the source, which says: it is defined at each of its places."""

    def __init__(self, world: World, call: Partial) -> None:
        self.world, self.call = world, call
        self.shape = world.facts.normals(call.shape)
        self.place: Index | None = None  # an arbitrary one, if there is any
        self.there: list[Term] = []
        if all(world.facts.proves(size - 1) for size in self.shape):
            self.place = any_place(world, self.shape)
            self.there = self._at(self.place)

    def near(self, term: Term, shape: Sequence[Number], index: Index) -> Iterator[Term]:
        """The truths at places that may tell something of a term, which is about a place in a shape."""
        yield from self.there
        for place in self._of_the_same_number(shape, index):
            yield from self._at(place)
        places: list[Index] = []
        if self.place is not None:
            read = [atom for other in self.there for atom in elements_read(other)]
            places += [
                self._place_read(own, other)
                for other in elements_read(term) for own in read if own.name == other.name
            ]
        for place in {tuple(map(text_of, place)): place for place in places}.values():
            if self._is_inside(place):
                yield from self._at(place)

    def _of_the_same_number(self, shape: Sequence[Number], index: Index) -> Iterator[Index]:
        """The place that has the same number in row-major order, if both shapes have as many elements."""
        world = self.world
        if world.same_shape(self.shape, shape):
            yield index
        elif self._text_of_count(self.shape) == self._text_of_count(shape):
            yield world.unravelled(world.ravelled(index, shape), self.shape)

    def _text_of_count(self, shape: Sequence[Number]) -> str:
        return text_of(self.world.facts.normal(product(shape)))

    def _place_read(self, own: Atom, other: Atom) -> Index:
        """The place at which the element that is read at an arbitrary one is that of the other atom."""
        said = {text_of(a): b for a, b in zip(own.args, other.args)}
        return tuple([said.get(text_of(p), p) for p in self.place or ()])

    def _is_inside(self, place: Index) -> bool:
        facts = self.world.facts
        return all(facts.proves(p) and facts.proves(size - 1 - p) for p, size in zip(place, self.shape))

    def _at(self, place: Index) -> list[Term]:
        return [term for asked in _evaluated(self.world, self.call, place, "source") for term, _ in asked]

