"""Tables over symbolic tensors: elements that stand at places which other tensors say.

A place that is no size is a position of its own below the length of its axis, the same wherever equal terms
say it of axes of equal length. What holds for every place holds for that one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.everywhere import Asked, Partial
from gslang.verify.prove.operators.onnx_composed import added, layer_normal, need_along_last
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.onnx_shapes import gathered_size
from gslang.verify.prove.operators.relay_movement import plain_axis
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Place, Tensor, Value, World
from gslang.verify.prove.terms.dtypes import WHOLE, compared, holds, settled
from gslang.verify.prove.terms.paths import OPERATOR, Impossible, NotProved
from gslang.verify.prove.terms.sizes import Number, text_of
from gslang.verify.prove.terms.terms import Term, of_size, sizes_of, unknown
from gslang.verify.prove.terms.totals import up_to_date
from gslang.verify.prove.terms.uses import in_normal_form

_PLACES = ("int32", "int64")
_FROM_THE_START = "lookup indices are non-negative"


def place_in(
    world: World, places: Tensor, index: Index, size: Number, more: Number = 0, from_end: bool = True
) -> Number:
    """The place along an axis of a size that an element of `places` says, `more` behind it; `from_end`:
    counted from there where it is below 0.

    The source may look up any place. Raises `NotProved` for one of the target that the source does not look
    up and that may lie outside.
    """
    facts = world.facts
    with in_normal_form():
        value = up_to_date(places.at(index) + of_size(facts.normal(more)), facts)
    known = as_size(value, world)
    if known is not None:
        return _inside(world, known, size, from_end)
    found = place_said(world, value, size, from_end)
    if found is not None:
        return found
    if (origin := _before_conversion(world, places)) is None:
        raise NotProved("the target looks up an index that the source does not")
    return place_in(world, origin, index, size, more, from_end)


def place_said(world: World, said: Term, size: Number, from_end: bool = False) -> Number | None:
    """The place along an axis of a size that a term says, which is no size; None if the target looks up one
    that the source does not.
    """
    facts = world.facts
    if any(facts.mentions_bound(part) for atom in said.atoms() for part in sizes_of(atom)):
        raise NotProved("sums over lookup indices are not supported")
    if (known := _known_place(world, said, size)) is not None:
        if known.from_end and not from_end:
            world.notes.add(_FROM_THE_START)
        return known.position
    if world.comparing != "source":
        return None
    return _add_place(world, said, size, from_end)


def _add_place(world: World, said: Term, size: Number, from_end: bool) -> Number:
    facts = world.facts
    if not facts.at_least(size, 1):
        raise Impossible(OPERATOR)  # no place is in an empty axis
    world.places.append(Place(said, size, facts.place(size), from_end))
    return world.places[-1].position


def _known_place(world: World, said: Term, size: Number) -> Place | None:
    """The place that is looked up already."""
    length = text_of(world.facts.normal(size))
    return next(
        (
            place for place in world.places
            if place.said.key == said.key and text_of(world.facts.normal(place.size)) == length
        ),
        None,
    )


def _before_conversion(world: World, places: Tensor) -> Tensor | None:
    """The whole numbers that were converted to a type in which places are said: a place that the source looks
    up is the same in either type."""
    origin = places.converted
    if origin is None or settled(origin.dtype) != WHOLE:
        return None
    if not any(compared(places.dtype, name) is True for name in _PLACES):
        return None
    world.notes |= {note} if (note := _note_on(places, origin)) else set()
    return origin


def _note_on(places: Tensor, origin: Tensor) -> str:
    """The assumption under which whole numbers are the same in the type that they were converted to."""
    name = next((name for name in _PLACES if compared(places.dtype, name) is True), "places")
    return "" if holds(places.dtype, origin.dtype) else f"lookup indices are {name}"


def need_inside(
    world: World, places: Tensor, shape: Sequence[Number], size: Number, *, from_end: bool = True,
    along: Callable[[Index], Index] = lambda index: index,
) -> None:  # fmt: skip
    """Demand that a tensor says a place along an axis of a size for each index in a shape, as `place_in`
    reads it. `along`: where it says that."""
    facts, reading = world.facts, world.reading

    def said(tensor: Tensor, index: Index) -> Term:
        return up_to_date(tensor.at(along(index)), facts)

    def asked(index: Index) -> list[Asked]:
        value = said(places, index)
        known = as_size(value, world)
        if known is not None:
            if not reading:
                _inside(world, known, size, from_end)
            return []
        inside = f"inside {text_of(facts.normal(size))}"
        above = f"from the start {inside}"
        ways = [(value, "")]
        if (origin := places.converted) is not None and settled(origin.dtype) == WHOLE:
            ways.append((said(origin, index), _note_on(places, origin)))
        if not reading and not from_end:
            return [[
                (unknown(name, term), assumed or note)
                for name, assumed in ((above, ""), (inside, _FROM_THE_START)) for term, note in ways
            ]]
        names = (inside, above) if not from_end else (inside,)
        return [[(unknown(name, term), note) for name in names for term, note in ways]]

    def covered(index: Index) -> None:
        with in_normal_form():
            value = said(places, index)
        if as_size(value, world) is None and _known_place(world, value, size) is None:
            _add_place(world, value, size, from_end)

    world.partial.append(Partial(reading, tuple(shape), asked, covered=covered))


def as_size(value: Term | Number, world: World) -> Number | None:
    """A term as a polynomial of sizes and positions; None for another one."""
    if not isinstance(value, Term):
        return world.facts.normal(value)
    result: Number = 0
    for factors, c in value.parts.items():
        if c.denominator != 1 or any(atom.kind != "num" or exponent < 0 for atom, exponent in factors):
            return None
        part: Number = int(c)
        for atom, exponent in factors:
            part = part * atom.args[0] ** exponent
        result = result + part
    return world.facts.normal(result)


def _inside(world: World, place: Number, size: Number, from_end: bool) -> Number:
    """A known place, which must lie within its axis."""
    facts = world.facts
    counted = place if not from_end or facts.at_least(place, 0) else facts.normal(place + size)
    if not (facts.at_least(counted, 0) and facts.at_least(size - 1, counted)):
        if world.comparing == "source":
            raise Impossible(OPERATOR)  # it is not defined there
        raise NotProved("an index may be out of range")
    return counted


def _gather(world: World, operands: Operands, attrs: Attrs) -> Value:
    """Rows of a table, which other tensors name."""
    table, places = operands
    if table.items is not None and len(places.shape) <= 1:
        return gathered_size(world, table, places, attrs["axis"])
    axis = plain_axis(world, attrs["axis"], len(table.shape))
    if world.reading and places.leaf is not None and places.leaf.is_read and not places.shape:
        _numbered(world, places.leaf, table.shape[axis])
    behind = axis + len(places.shape)
    need_inside(world, places, places.shape, table.shape[axis])
    if world.reading:
        world.gathered.append((places, table.shape[axis]))

    def at(index: Index) -> Term:
        place = place_in(world, places, index[axis:behind], table.shape[axis])
        return table.at((*index[:axis], place, *index[behind:]))  # type: ignore[no-any-return]

    shape = (*table.shape[:axis], *places.shape, *table.shape[axis + 1 :])
    return Tensor(shape, table.dtype, at, None, table.splat)


def _numbered(world: World, leaf: Any, size: Number) -> None:
    """A constant whose number the rule reads is a place along an axis of this size."""
    if leaf.number is None and leaf.value is None:
        leaf.number = world.facts.size("place", None)
    if leaf.number is not None:
        world.facts.learn(size - 1 - leaf.number)
        world.facts.learn(leaf.number + size)


def _rows(world: World, table: Tensor, places: Tensor | None, like: Tensor) -> Tensor:
    """[batch, sequence, columns]: a row for each place, those from the first on where no places are said."""
    world.need_true(len(table.shape) == 2, "the rank of a lookup table")
    if places is None:
        world.need(table.shape[0] - like.shape[1], "rows of a table beyond the sequence")
    else:
        world.need_true(len(places.shape) == 2, "the rank of the positions")
        if not (type(size := world.facts.normal(places.shape[0])) is int and size == 1):
            world.need_equal(size, like.shape[0], "batch size of the positions")
        world.need_equal(places.shape[1], like.shape[1], "number of positions")
        need_inside(world, places, places.shape, table.shape[0], from_end=False)

    def at(index: Index) -> Term:
        b, s, c = index
        if places is None:
            return table.at((s, c))
        row = world.facts.within(b, places.shape[0])
        return table.at((place_in(world, places, (row, s), table.shape[0], 0, False), c))

    return Tensor((*like.shape, table.shape[1]), table.dtype, at)


def _unknown_mask(index: Index) -> Term:
    raise NotProved("length masks are not supported")


def _embed(world: World, operands: Operands, attrs: Attrs) -> Value:
    """Rows of words, places and kinds of words, added and normalized."""
    words, kinds, first, second, third, scale, shift, mask, places = (operand(operands, k) for k in range(9))
    if mask is not None or attrs["mask_index_type"]:
        raise NotProved("embeddings with a mask are not supported")
    world.need_true(len(words.shape) == 2, "the rank of the word indices")
    world.need_true((kinds is None) == (third is None), "segment indices or a segment table alone")
    tables = [(first, words), (second, places), *([] if third is None else [(third, kinds)])]
    total = added(world, [_rows(world, table, at, words) for table, at in tables])
    for a, b in zip(total.shape, (*words.shape, first.shape[1])):
        world.need_equal(a, b, "row lengths")
    need_along_last(world, total, scale, shift)
    lengths = Tensor(words.shape[:1], "int32", _unknown_mask)
    return layer_normal(world, total, scale, shift, attrs["epsilon"]), lengths, total


LOOKUPS: dict[str, Meaning] = {"Gather": _gather, "com.microsoft.EmbedLayerNormalization": _embed}
