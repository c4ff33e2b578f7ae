"""ONNX operators that move elements, over symbolic tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.constants import vector
from gslang.verify.prove.operators.domains import fresh_shape
from gslang.verify.prove.operators.listed import Listed
from gslang.verify.prove.operators.onnx_operands import axes_operand, operand, vector_numbers, whole_numbers
from gslang.verify.prove.operators.relay_movement import (
    broadcast_to_shape,
    concatenated,
    cut,
    inserted,
    new_shape,
    permuted,
    plain_axis,
    reshaped,
    without_axes,
)  # fmt: skip
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.opaque import Opaque, unanswered
from gslang.verify.prove.terms.paths import Choices, NotProved
from gslang.verify.prove.terms.sizes import Number, product, text_of
from gslang.verify.prove.terms.terms import Term


def _reshape(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, shape = operands[0], operand(operands, 1)
    world.need_true(shape is not None and len(shape.shape) == 1, "a reshape whose sizes are not a vector")
    if shape.items is not None or shape.leaf is not None and shape.leaf.is_read:
        if (numbers := vector_numbers(world, shape)) is not None:
            plain = (_plain_number(world, number) for number in numbers)  # those that do not fit end the case
            return reshaped(world, x, new_shape(world, x.shape, plain, attrs["allowzero"]))
    key = _key_for(world, shape, x, attrs["allowzero"])
    return reshaped(world, x, whole_numbers(world, shape, key, lambda: fresh_shape(world, "new", shape)))


def _plain_number(world: World, number: Number) -> Number:
    """A number of a target shape: a size that is at least 1, 0 or -1, a case each where it is not known."""
    if type(number) is int or world.facts.at_least(number, 1):
        return number
    for plain in (-1, 0):
        if world.facts.equal(number, plain):
            return plain
    world.need_true(False, "a size below -1 in a reshape")
    return number


def _key_for(world: World, shape: Tensor, x: Tensor, allowzero: object) -> str:
    """The name of what the numbers of an input say of a tensor of this shape: that of an equal one, if 0
    means the same.
    """
    if shape.leaf is None:
        return ""
    known: dict[str, tuple[tuple[Number, ...], object]] = shape.leaf.shapes
    for key, (sizes, zeros) in known.items():
        if world.same_shape(sizes, x.shape) and (zeros is allowzero or bool(zeros) == bool(allowzero)):
            return key
    key = f"shape for {len(known)}: {', '.join(text_of(world.facts.normal(d)) for d in x.shape)}"
    known[key] = x.shape, allowzero
    return key


def _flatten(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, axis = operands[0], attrs["axis"]
    rank = len(x.shape)
    world.need_true(-rank <= axis <= rank, "the axis of `Flatten`")
    axis = axis + rank if axis < 0 else axis
    return reshaped(
        world, x, (world.facts.normal(product(x.shape[:axis])), world.facts.normal(product(x.shape[axis:])))
    )


def _squeeze(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    axes = axes_operand(world, operands, 1, len(x.shape))
    if axes is None:
        axes = tuple(k for k, d in enumerate(x.shape) if world.facts.equal(d, 1))
    for a in axes:
        world.need_equal(x.shape[a], 1, "size of a squeezed axis")
    return without_axes(x, axes)


def _unsqueeze(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    new = operand(operands, 1)
    world.need_true(new is not None, "missing axes")
    if new.items is None and new.leaf is None:
        raise NotProved("the inserted axes are unknown")

    def any_axes() -> tuple[int, ...]:
        length = world.facts.normal(new.shape[0])
        count = length if type(length) is int else world.facts.choices.choose(3)
        world.need_equal(new.shape[0], count, "number of inserted axes")
        world.notes.add("at most two axes are inserted at once, non-negative and in increasing order")
        subsets = list(combinations(range(len(x.shape) + count), count))
        return subsets[world.facts.choices.choose(len(subsets))]

    found = whole_numbers(world, new, f"new of {len(x.shape)}", any_axes)
    rank = len(x.shape) + len(found)
    axes = sorted(plain_axis(world, a, rank) for a in found)
    world.need_true(len(set(axes)) == len(axes), "a repeated axis")
    for a in axes:
        x = inserted(x, a, 1)
    return x


def _split(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, sizes = operands[0], operand(operands, 1)
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    if sizes is None and type(attrs["num_outputs"]) is int:
        return _equal_parts(world, x, axis, attrs["num_outputs"])
    if sizes is not None and isinstance(sizes.items, Listed):
        return parts_by(world, x, axis, sizes.items)
    known = None if sizes is None or not _is_counted(world, sizes) else vector_numbers(world, sizes)
    if known is None:
        return OpenParts(world, x, axis, _cuts(world, sizes, attrs["num_outputs"], axis, x.shape[axis]))
    return split_by(world, x, axis, known)


def split_by(world: World, x: Tensor, axis: int, sizes: Sequence[Number]) -> tuple[Tensor, ...]:
    """The parts of a tensor along an axis, one behind the other, which are all of it."""
    world.need_equal(sum(sizes), x.shape[axis], "total size of a split")
    parts: list[Tensor] = []
    begin: Number = 0
    for size in sizes:
        world.need(size, "size of a split part")
        parts.append(cut(x, axis, begin, size))
        begin = begin + size
    return tuple(parts)


class EqualParts(Opaque):
    """The parts of a tensor along an axis that have one size, the last of which has what is left; their
    number is not known.
    """

    def __init__(self, world: World, x: Tensor, axis: int, size: Number) -> None:
        self.world, self.x, self.axis, self.size = world, x, axis, size

    @property
    def count(self) -> Number:
        """The number of parts."""
        return self.world.facts.normal((self.x.shape[self.axis] - 1) // self.size + 1)

    def size_of(self, place: Number) -> Number:
        """The size of a part that is there."""
        facts, whole = self.world.facts, self.x.shape[self.axis]
        begin = facts.normal(place * self.size)
        return self.size if facts.at_least(whole - begin, self.size) else facts.normal(whole - begin)

    def part(self, place: Number) -> Tensor:
        """One of them, counted from the front."""
        begin = self.world.facts.normal(place * self.size)
        self.world.need(place, "index of a part")
        self.world.need(self.x.shape[self.axis] - 1 - begin, "index of a part")
        return cut(self.x, self.axis, begin, self.size_of(place))


def parts_by(world: World, x: Tensor, axis: int, sizes: Listed) -> EqualParts:
    """The parts of a tensor that a list of symbolic length says: it must be those of equal size. That is
    shown for any place of the list, which has one for each part.
    """
    parts, facts = EqualParts(world, x, axis, sizes.step), world.facts
    if world.reading or not (facts.at_least(sizes.end, 1) and facts.equal(sizes.end, x.shape[axis])):
        raise NotProved("splits by a list of symbolic length are not supported")
    place = facts.size("each", 0)
    facts.learn(sizes.end - 1 - place * sizes.step)
    if not facts.equal(sizes.number(place), parts.size_of(place)):
        raise NotProved("splits into any number of parts of different sizes are not supported")
    return parts


def _is_counted(world: World, sizes: Tensor) -> bool:
    """True for a vector of a known length, or one that the rule reads: its length is a case then."""
    if len(sizes.shape) != 1:
        return False
    read = sizes.leaf is not None and sizes.leaf.is_vector and sizes.leaf.is_read
    return read or type(world.facts.normal(sizes.shape[0])) is int


def _cuts(world: World, sizes: Tensor | None, count: object, axis: int, whole: Number) -> Cuts:
    """Where a split cuts: the same wherever one operand, or number of parts, says it of axes of one size."""
    told = id(sizes.leaf or sizes) if sizes is not None else count
    key = ("parts", str(told), axis, text_of(world.facts.normal(whole)))
    if told is not None and key in world.slices:
        return world.slices[key]  # type: ignore[no-any-return]
    if not world.reading:
        raise NotProved("the part sizes of a split are unknown")
    world.kept.append(sizes)
    world.slices[key] = found = Cuts()
    return found


class AnyPlace(Opaque):
    """The index of a part that may be any: compared, it is the same or not, a case each."""

    __slots__ = ("choices",)

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def _either(self, other: object) -> bool:
        return bool(self.choices.choose(2))

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _either
    __hash__ = unanswered  # type: ignore[assignment]


class Cuts:
    """The parts of a split, as far as they are known: the sizes of the first ones, and for an index that may
    be any where its part begins and its size.
    """

    def __init__(self) -> None:
        self.sizes: list[Number] = []
        self.anywhere: dict[int, tuple[Number, Number]] = {}
        self.places: list[AnyPlace] = []


class OpenParts(Opaque):
    """The parts of a split of which nothing is said: as many as are asked for."""

    def __init__(self, world: World, x: Tensor, axis: int, cuts: Cuts) -> None:
        self.world, self.x, self.axis, self.cuts = world, x, axis, cuts

    def part(self, place: object) -> Tensor:
        """One of them, by its number or `AnyPlace`."""
        if not (isinstance(place, AnyPlace) or type(place) is int and place >= 0):
            raise NotProved("the index of a split part is unknown, or negative")
        facts, whole, cuts = self.world.facts, self.x.shape[self.axis], self.cuts
        sizes, told = cuts.sizes, cuts.anywhere
        known = id(place) in told if isinstance(place, AnyPlace) else len(sizes) > place
        if not (known or self.world.reading):
            raise NotProved("the target uses a split part that the source does not")
        if isinstance(place, AnyPlace):
            if not known:
                cuts.places.append(place)
                begin, size = told[id(place)] = facts.size("begin", 0), facts.size("part", 0)
                facts.learn(whole - begin - size)
            return cut(self.x, self.axis, *told[id(place)])
        while len(sizes) <= place:
            sizes.append(facts.size("part", 0))
            facts.learn(whole - sum(sizes))
        return cut(self.x, self.axis, sum(sizes[:place]), sizes[place])


def _equal_parts(world: World, x: Tensor, axis: int, count: int) -> Value:
    """Parts of one size; the last one has what is left."""
    world.need_true(count >= 1, "the number of parts")
    size = world.facts.normal(x.shape[axis])
    part = world.facts.normal((size + count - 1) // count)
    last = size - part * (count - 1)
    world.need(last, "size of the last part of a split")
    return tuple(cut(x, axis, part * k, part if k < count - 1 else last) for k in range(count))


def _tile(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, repeats = operands
    rank = len(x.shape)
    found = whole_numbers(
        world, repeats, f"repeats of {rank}", lambda: tuple(world.facts.size("times") for _ in range(rank))
    )
    world.need_true(len(found) == rank, "the number of repeats of a tile")
    if repeats.leaf is not None:
        world.need_equal(repeats.shape[0], rank, "number of repeats")
    for count in found:
        world.need(count - 1, "number of repeats")
    sizes = tuple(map(world.facts.normal, x.shape))

    def at(index: Index) -> Term:
        return x.at(tuple(  # type: ignore[no-any-return]
            place if type(times) is int and times == 1 else world.facts.normal(place % size)
            for place, size, times in zip(index, sizes, map(world.facts.normal, found))
        ))

    return Tensor(tuple(size * times for size, times in zip(sizes, found)), x.dtype, at)


def _expand(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, shape = operands
    wanted = whole_numbers(world, shape, "expanded", lambda: fresh_shape(world, "wide", shape))
    if shape.leaf is not None and len(shape.shape) == 1:
        world.need_equal(shape.shape[0], len(wanted), "length of a shape")
    return broadcast_to_shape(world, x, world.broadcast(x.shape, wanted))


def _concat(world: World, operands: Operands, attrs: Attrs) -> Value:
    parts = [o for o in operands if o is not None]
    if all(len(part.shape) == 1 for part in parts):
        numbers = [vector_numbers(world, part) for part in parts]
        if all(found is not None for found in numbers):
            plain_axis(world, attrs["axis"], 1)
            for part in parts[1:]:
                world.need_same_dtype(parts[0].dtype, part.dtype)
            return vector(tuple(item for found in numbers for item in found or ()), parts[0].dtype)
    return concatenated(world, parts, attrs["axis"])


def _dropout(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    training = operand(operands, 2)

    def at(index: Index) -> Term:
        known = (
            None if training is None else training.leaf.value if training.leaf is not None else training.splat
        )
        if training is not None and (known is None or known.constant != 0):
            raise NotProved("dropout in training mode is not supported")
        return x.at(index)

    return (Tensor(x.shape, x.dtype, at),)


MOVEMENT: dict[str, Meaning] = {
    "Identity": lambda w, o, a: o[0],
    "Dropout": _dropout,
    "Transpose": lambda w, o, a: permuted(w, o[0], a["perm"]),
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Concat": _concat,
    "Split": _split,
    "Tile": _tile,
    "Expand": _expand,
}
