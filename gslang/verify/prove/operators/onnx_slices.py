"""Slices and paddings of ONNX over symbolic tensors, whose numbers are operands.

Constants of a known length are vectors of numbers of which nothing is known (`Leaf.numbers`); so are those of
which `Slice` or `Pad` tells how long they are. What stands in other operands is an `OpenSlice`, the same
wherever the same operands stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.constants import unreadable, vector
from gslang.verify.prove.operators.onnx_operands import axes_operand, operand
from gslang.verify.prove.operators.relay_movement import by_length, padded, plain_axis
from gslang.verify.prove.operators.slices import OpenSlice, Range, nonzero, range_of, taken
from gslang.verify.prove.operators.tensors import Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number, text_of
from gslang.verify.prove.terms.terms import ZERO

_MOST_NUMBERS = 12  # in a vector


def numbers_in(
    world: World, tensor: Tensor, make: Callable[[], Any], count: int | None = None, computed: bool = False
) -> tuple[Number, ...] | None:
    """The numbers of a vector: known, or new ones of a constant whose length is known (`count`: what the
    operator says of it; `computed`: of any input). None for others.
    """
    if tensor.items is not None:
        return tuple(tensor.items)
    leaf = tensor.leaf if tensor.leaf is None or tensor.leaf.like is None else tensor.leaf.like
    if leaf is None or not (leaf.is_constant or computed) or len(tensor.shape) != 1:
        return None
    if leaf.numbers is None and world.reading:
        if count is not None:
            world.need_equal(tensor.shape[0], count, "length of a vector")
        length = world.facts.normal(tensor.shape[0])
        if type(length) is not int or length > _MOST_NUMBERS:
            return None
        leaf.numbers = tuple(make() for _ in range(length))
        world.numbers_chosen()  # before where they lie is made a case
    return None if leaf.numbers is None else tuple(map(world.facts.normal, leaf.numbers))


def _slice(world: World, operands: Operands, attrs: Attrs) -> Value:
    return sliced(world, operands[0], [operand(operands, k) for k in range(1, 5)])


def numbers_of_slice(
    world: World, parts: Sequence[Tensor | None], rank: int
) -> list[tuple[Number, ...] | None]:
    """The numbers in the starts, ends, axes and steps of a slice, None for those that are not known."""
    found = places_of_slice(world, parts, rank)
    settled = _settle_lengths(world, parts, rank)
    if parts[3] is None:
        return [*found, None]
    return [*found, numbers_in(world, parts[3], lambda: nonzero(world), None, settled)]


def places_of_slice(
    world: World, parts: Sequence[Tensor | None], rank: int
) -> list[tuple[Number, ...] | None]:
    """The numbers in the starts, ends and axes of a slice, None for those that are not known."""
    settled = _settle_lengths(world, parts, rank)
    makers: list[Callable[[], Any]] = [
        lambda: world.facts.size("begin", None), lambda: world.facts.size("end", None),
        lambda: world.facts.choices.choose(2 * rank) - rank if rank else 0,
    ]  # fmt: skip
    found = [
        None if part is None else numbers_in(world, part, make, None, settled)
        for part, make in zip(parts, makers)
    ]
    if world.reading and found[2] is not None:
        axes = [axis % rank for axis in found[2] if type(axis) is int and rank]
        world.need_true(len(set(axes)) == len(axes), "the axes of a slice")
    return found


def sliced(
    world: World, x: Tensor, parts: Sequence[Tensor | None], with_lengths: bool = False
) -> Tensor:
    """The slice of a tensor that starts, ends, axes and steps say; `with_lengths`: lengths stand in place of
    ends, and steps are not read.
    """
    if x.items is not None and not with_lengths:
        return _slice_of_shape(world, x, parts)
    rank = len(x.shape)
    numbers = numbers_of_slice(world, parts, rank)
    if any(part is not None and found is None for part, found in zip(parts, numbers)):
        if not with_lengths and (found := _open_ended(world, x, parts, numbers)) is not None:
            return found
        return _open_slice(world, x, parts, with_lengths)
    begins, ends = numbers[0] or (), numbers[1] or ()
    axes = range(len(begins)) if numbers[2] is None else [plain_axis(world, a, rank) for a in numbers[2]]
    steps = (1,) * len(begins) if numbers[3] is None else numbers[3]
    world.need_true(len(begins) == len(ends) == len(axes) == len(steps), "the bounds and axes of a slice")
    world.need_true(len(set(axes)) == len(axes) and all(a < rank for a in axes), "the axes of a slice")
    for begin, end, axis, step in zip(begins, ends, axes, steps):
        bounds = by_length(world, begin, end, x.shape[axis]) if with_lengths else (begin, end, step)
        x = taken(world, x, axis, range_of(world, *bounds, x.shape[axis]))
    return x


def _open_ended(
    world: World, x: Tensor, parts: Sequence[Tensor | None], numbers: Sequence[tuple[Number, ...] | None]
) -> Tensor | None:
    """The slice along one axis of which all but the end is known, which makes the number of elements one of
    those that there may be. None for others.
    """
    begins, ends, axes, steps = numbers
    if ends is not None or begins is None or axes is None or not len(begins) == len(axes) == 1:
        return None
    axis = plain_axis(world, axes[0], len(x.shape))
    (step,) = (1,) if steps is None else steps
    whole = range_of(world, begins[0], None, step, x.shape[axis])
    size = world.facts.normal(x.shape[axis])
    key = ("end", id(parts[1]), *map(text_of, (size, whole.start, whole.step)))
    if key not in world.slices:
        if not world.reading:
            raise NotProved("the target takes a slice that the source does not")
        count = world.facts.size("count", 0)
        world.facts.learn(whole.count - count)
        world.slices[key] = Range(whole.start, count, whole.step)
        world.kept += parts
    return taken(world, x, axis, world.slices[key])


def _slice_of_shape(world: World, x: Tensor, parts: Sequence[Tensor | None]) -> Tensor:
    """A part of a vector of sizes: where it begins and ends is a case."""
    items = x.items or ()
    count = len(items)
    world.notes.add("`start` and `end` of a shape slice lie within the rank")

    def bound() -> int:
        return world.facts.choices.choose(2 * count + 1) - count

    def step() -> Number:
        size = world.facts.size
        return (1, size("step", 2), -size("step"))[world.facts.choices.choose(3)]

    makers: list[Callable[[], object]] = [bound, bound, lambda: world.facts.choices.choose(2) - 1, step]
    found = [None if part is None else numbers_in(world, part, make, 1) for part, make in zip(parts, makers)]
    begins, ends, axes, steps = found
    if steps is not None and len(steps) == 1 and type(steps[0]) is not int:
        return Tensor((world.facts.size("taken", 0),), x.dtype, unreadable)
    if any(part is not None and numbers is None for part, numbers in zip(parts, found)) or not all(
        len(numbers) == 1 and type(numbers[0]) is int for numbers in found if numbers is not None
    ):
        raise NotProved("the bounds of a shape slice are unknown")
    assert begins is not None and ends is not None
    if axes is not None:
        plain_axis(world, axes[0], 1)
    return vector(items[begins[0] : ends[0] : 1 if steps is None else steps[0]], x.dtype)  # type: ignore[misc]


def _settle_lengths(world: World, parts: Sequence[Tensor | None], rank: int) -> bool:
    """True if the rule reads numbers of a slice: how many there are is a case then, one for each of some
    axes.
    """
    open_ = [part for part in parts if part is not None and part.items is None]
    leaves = [part.leaf for part in open_ if part.leaf is not None and len(part.shape) == 1]
    if len(leaves) < len(open_):
        return False
    if leaves and all(leaf.numbers is not None for leaf in leaves):
        return True
    if not any(leaf.is_read for leaf in leaves):
        return False
    if world.reading and any(type(world.facts.normal(part.shape[0])) is not int for part in open_):
        count = world.facts.choices.choose(rank + 1)
        for part in open_:
            world.need_equal(part.shape[0], count, "number of slice bounds")
    return True


def _open_slice(world: World, x: Tensor, parts: Sequence[Tensor | None], with_lengths: bool) -> Tensor:
    key = (with_lengths, *(id(getattr(part, "leaf", None) or part) for part in parts))
    if key not in world.slices:
        if not world.reading:
            raise NotProved("the target takes a slice that the source does not")
        world.slices[key] = OpenSlice(world, x.shape)
        world.kept += parts
        if parts[3] is None or with_lengths:
            for step in world.slices[key].steps():
                world.facts.learn_equal(step, 1)
        elif parts[3].leaf is not None:
            parts[3].leaf.spelled = lambda: _named_steps(world, world.slices[key])
    for axis, part in enumerate(world.slices[key].of(x.shape)):
        x = taken(world, x, axis, part)
    return x


def _named_steps(world: World, found: OpenSlice) -> tuple[Number, ...]:
    """The steps of the axes that are named; the others stay as they are."""
    subsets = [s for k in range(found.rank + 1) for s in combinations(range(found.rank), k)]
    named = subsets[world.facts.choices.choose(len(subsets))]
    world.notes.add("slice axes are listed in order")
    for axis, size, part in found.ranges:
        if axis not in named:
            world.facts.learn_equal(part.step, 1)
            world.facts.learn_equal(part.count, size)
    return tuple(found.steps()[axis] for axis in named)


def _pad(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    widths, fill, axes = operands[1], operand(operands, 2), operand(operands, 3)
    if attrs["mode"] != "constant":
        raise NotProved(f"padding in the mode `{attrs['mode']}` is not supported")
    rank = len(x.shape)
    named = tuple(range(rank))
    if axes is not None:
        found_axes = numbers_in(
            world, axes, lambda: world.facts.choices.choose(2 * rank) - rank if rank else 0
        )
        if found_axes is None:
            found_axes = axes_operand(world, operands, 3, rank, ordered=True)
        if found_axes is None:
            raise NotProved("the axes are unknown")
        named = tuple(plain_axis(world, a, rank) for a in found_axes)
        world.need_true(len(set(named)) == len(named), "a repeated axis")
    found = numbers_in(world, widths, lambda: world.facts.size("width", None), 2 * len(named))
    if found is None:
        raise NotProved("the padding widths are unknown")
    world.need_true(len(found) == 2 * len(named), "the number of padding widths")
    both: list[tuple[Number, Number]] = [(0, 0)] * rank
    for k, axis in enumerate(named):
        both[axis] = (found[k], found[len(named) + k])
    if fill is not None:
        world.need_same_dtype(fill.dtype, x.dtype)
        world.need_true(len(fill.shape) <= 1, "a padding value of several axes")  # as runtimes demand
        for size in fill.shape:
            world.need_equal(size, 1, "number of padding values")
    y = padded(world, x, both, ZERO if fill is None else fill)
    for size in y.shape:
        world.need(size, "size of a padded tensor")
    return y


SLICES: dict[str, Meaning] = {"Slice": _slice, "Pad": _pad}
