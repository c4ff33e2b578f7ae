"""Ranges over symbolic tensors, and elements at places that pairs of numbers say."""

from __future__ import annotations

from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_lookups import as_size, need_inside, place_in
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.dtypes import WHOLE, settled
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number
from gslang.verify.prove.terms.terms import Term, of_size


def whole_range(world: World, operands: Operands, dtype: Any) -> Tensor:
    """The whole numbers from one to another one. Raises `NotProved` for other steps than 1."""
    facts = world.facts
    note = "ranges do not end before they start"
    begin, end, step = (single_number(world, x, note) for x in operands)
    if world.reading and settled(operands[0].dtype) != WHOLE:
        world.notes.add("ranges of floats begin and end at whole numbers")
    for other in operands[1:]:
        world.need_same_dtype(operands[0].dtype, other.dtype)
    if facts.normal(step) != 1:
        raise NotProved("only ranges with a step of 1 are supported")
    length = facts.normal(end - begin)
    if world.reading:
        facts.learn(length)  # a range that ends before it begins is empty, as if it ended there
    else:
        world.need(length, "length of a range")

    def at(index: Index) -> Term:
        return of_size(facts.normal(begin + index[0]))

    return Tensor((length,), dtype, at)


def single_number(world: World, x: Tensor, note: str = "") -> Number:
    """A whole number as a size: known, computed from sizes, or any that an input says, which is noted then.
    """
    world.need_true(len(x.shape) <= 1, "an operand that is not a single number")
    for size in x.shape:
        world.need_equal(size, 1, "size of a single number")
    if x.leaf is not None and x.splat is None and x.items is None and world.reading:
        if x.leaf.number is None:
            x.leaf.number = world.facts.size("number", None)
            world.notes.update([note] if note else [])
        return x.leaf.number  # type: ignore[no-any-return]
    found = as_size(x.items[0] if x.items else x.at((0,) * len(x.shape)), world)
    if found is None:
        raise NotProved("computed integers are not supported here")
    return found


def _gather_nd(world: World, operands: Operands, attrs: Attrs) -> Value:
    """Elements, or parts, of a tensor at places in its first axes."""
    x, places = operands
    if attrs["batch_dims"]:
        raise NotProved("`batch_dims` of a gather is not supported")
    world.need_true(len(places.shape) >= 1, "the rank of the gather indices")
    count = world.facts.normal(places.shape[-1])
    if type(count) is not int or not 1 <= count <= len(x.shape):
        raise NotProved("the length of an index tuple is unknown")
    ahead = len(places.shape) - 1
    for k in range(count):
        need_inside(
            world, places, places.shape[:-1], x.shape[k], along=lambda index, k=k: (*index, k)  # type: ignore[misc]
        )

    def at(index: Index) -> Term:
        said = [place_in(world, places, (*index[:ahead], k), x.shape[k]) for k in range(count)]
        return x.at((*said, *index[ahead:]))  # type: ignore[no-any-return]

    return Tensor((*places.shape[:-1], *x.shape[count:]), x.dtype, at)


RANGES: dict[str, Meaning] = {"Range": lambda w, o, a: whole_range(w, o, o[0].dtype), "GatherND": _gather_nd}
