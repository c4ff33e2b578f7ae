"""Sequences of tensors, as tuples: parts of a tensor of which the number is known, and one of them."""

from __future__ import annotations

from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_movement import EqualParts, split_by
from gslang.verify.prove.operators.onnx_operands import operand, vector_numbers, whole_numbers
from gslang.verify.prove.operators.onnx_ranges import single_number
from gslang.verify.prove.operators.relay_movement import plain_axis
from gslang.verify.prove.operators.tensors import Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.paths import NotProved


def _split(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, sizes = operands[0], operand(operands, 1)
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    if sizes is None:
        raise NotProved("sequences of parts of size 1 are not supported")
    if not sizes.shape:
        return _equal_parts(world, x, axis, sizes)
    world.need_true(len(sizes.shape) == 1, "the rank of the part sizes")
    known = vector_numbers(world, sizes)  # whatever `keepdims` is: it speaks of parts of size 1
    if known is None:
        raise NotProved("the part sizes of a sequence are unknown")
    for size in known:
        world.need(size - 1, "size of a sequence part")
    return split_by(world, x, axis, known)


def _equal_parts(world: World, x: Tensor, axis: int, size: Tensor) -> EqualParts:
    """As many parts of one size as there are, the last of which has what is left."""
    number = single_number(world, size)
    world.need(number - 1, "size of sequence parts")
    return EqualParts(world, x, axis, number)


def _at(world: World, operands: Operands, attrs: Attrs) -> Value:
    parts, place = operands
    found: Any
    if isinstance(parts, EqualParts):
        world.need_true(len(place.shape) == 0, "the rank of a sequence index")
        found = single_number(world, place)
        return parts.part(found if world.facts.at_least(found, 0) else found + parts.count)
    if not isinstance(parts, tuple):
        raise NotProved("indexing an unknown sequence is not supported")
    world.need_true(len(place.shape) == 0 and len(parts) > 0, "the rank of a sequence index")
    count = len(parts)

    def any_place() -> tuple[int, ...]:
        return (world.facts.choices.choose(2 * count) - count,)

    said = place.splat  # of a literal
    if said is not None and said.constant is not None:
        found = int(said.constant)
    else:
        (found,) = whole_numbers(world, place, f"places in {count}", any_place)
    world.need_true(type(found) is int and -count <= found < count, "a sequence index out of range")
    return parts[found]


SEQUENCES: dict[str, Meaning] = {
    "SplitToSequence": _split,
    "SequenceConstruct": lambda world, operands, attrs: tuple(operands),
    "SequenceAt": _at,
}
