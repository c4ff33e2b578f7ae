"""Relay operators that move elements, as functions of positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.dialect.relay.movement import parse_layout, reshaped_like
from gslang.verify.prove.operators.slices import OpenSlice, Range, range_of, taken
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World, constant
from gslang.verify.prove.terms.dtypes import Dtype
from gslang.verify.prove.terms.opaque import Opaque, unanswered
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number, Size, product
from gslang.verify.prove.terms.terms import ONE, ZERO, Term


def plain_axis(world: World, axis: Any, rank: int) -> int:
    """An axis counted from the front."""
    if isinstance(axis, Size):
        raise NotProved("an axis is unknown")
    world.need_true(type(axis) is int and -rank <= axis < rank, f"axis {axis} of a tensor of rank {rank}")
    return int(axis) % rank


def transposed(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Dimension k of the result is dimension `axes[k]` of the operand."""
    def at(index: Index) -> Term:
        places: list[Number] = [0] * len(axes)
        for k, axis in enumerate(axes):
            places[axis] = index[k]
        return x.at(tuple(places))

    return Tensor(tuple(x.shape[a] for a in axes), x.dtype, at, None, x.splat)


def permuted(world: World, x: Tensor, axes: Sequence[int] | None) -> Tensor:
    """A transpose by axes as they are written: reversed without any."""
    rank = len(x.shape)
    order = tuple(range(rank))[::-1] if axes is None else tuple(plain_axis(world, a, rank) for a in axes)
    world.need_true(sorted(order) == list(range(rank)), "the axes of a transpose")
    return transposed(x, order)


def reshaped(world: World, x: Tensor, shape: Sequence[Number]) -> Tensor:
    """The same elements in row-major order."""
    world.need_equal(product(x.shape), product(shape), "number of elements of a reshape")
    return Tensor(
        tuple(shape), x.dtype, lambda index: world.flat_at(x, world.ravelled(index, shape)),
        lambda place: world.flat_at(x, place), x.splat,
    )


def new_shape(
    world: World, shape: Sequence[Number], wanted: Iterable[Number], allowzero: object = False
) -> tuple[Number, ...]:
    """The sizes that the numbers of `newshape` stand for: 0 copies, -1 is the rest."""
    result: list[Number] = []
    open_at: int | None = None
    for k, size in enumerate(wanted):
        if isinstance(size, Size):
            world.need(size - 1, "size in a reshape")
            result.append(size)
        elif size == 0 and not allowzero:
            world.need_true(k < len(shape), "a reshape that copies a missing dimension")
            result.append(shape[k])
        elif size == -1:
            world.need_true(open_at is None, "more than one -1 in a reshape")
            open_at = len(result)
            result.append(1)
        elif size > 0:
            result.append(size)
        elif size == 0:
            world.need_true(False, "a size of 0 in a reshape")  # dimensions are not empty
        else:
            raise NotProved(f"a size of {size} in a reshape is not supported")
    if open_at is not None:
        total, rest = world.facts.normal(product(shape)), world.facts.normal(product(result))
        quotient = total // rest
        world.need_equal(quotient * rest, total, "inferred size of a reshape")
        result[open_at] = world.facts.normal(quotient)
    return tuple(result)


def _reshape(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, wanted = operands[0], attrs["newshape"]
    if isinstance(wanted, AnyShape):
        return reshaped(world, x, wanted.for_input(world, x.shape, ("left", attrs["allowzero"])))
    return reshaped(world, x, new_shape(world, x.shape, wanted, attrs["allowzero"]))


class AnyShape(Opaque):
    """`newshape` of a reshape in the source about which nothing is said: the result's shape is what is known
    of it.
    """

    def __init__(self, shape: tuple[Number, ...]) -> None:
        self.shape = shape
        self.input: tuple[Number, ...] | None = None
        self.way: tuple[str, object] | None = None

    def for_input(
        self, world: World, shape: tuple[Number, ...], way: tuple[str, object]
    ) -> tuple[Number, ...]:
        """The result's shape; for another input the same numbers may mean another one, and where they are
        read in another way: from which end, and whether 0 copies.
        """
        if self.input is None and world.reading:
            self.input, self.way = shape, way
        if self.way is not None and (way[0] != self.way[0] or way[1] and not self.way[1]):
            raise NotProved("`newshape` is copied to a reshape that interprets it differently")
        if self.input is None or not world.same_shape(self.input, shape):
            raise NotProved("`newshape` is copied to a reshape of a different input shape")
        return self.shape

    __hash__ = __eq__ = unanswered  # type: ignore[assignment]


def _reverse_reshape(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, wanted = operands[0], attrs["newshape"]
    if isinstance(wanted, AnyShape):
        return reshaped(world, x, wanted.for_input(world, x.shape, ("right", attrs["allowzero"])))
    return reshaped(world, x, new_shape(world, x.shape[::-1], wanted[::-1], attrs["allowzero"])[::-1])


def _reshape_like(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, like = operands
    return reshaped(world, x, reshaped_like(x.shape, like.shape, attrs))


def _expand_dims(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, axis, count = operands[0], attrs["axis"], attrs["num_newaxis"]
    rank = len(x.shape)
    world.need_true(-rank - 1 <= axis <= rank and count >= 0, "the axis of `expand_dims`")
    start = axis if axis >= 0 else rank + 1 + axis
    return inserted(x, start, count)


def inserted(x: Tensor, start: int, count: int) -> Tensor:
    """With `count` axes of size 1 in front of axis `start`."""
    return Tensor(
        x.shape[:start] + (1,) * count + x.shape[start:], x.dtype,
        lambda index: x.at(index[:start] + index[start + count :]), x.flat, x.splat,
    )  # fmt: skip


def without_axes(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Without axes of size 1."""

    def at(index: Index) -> Term:
        places = list(index)
        for axis in sorted(axes):
            places.insert(axis, 0)
        return x.at(tuple(places))

    return Tensor(tuple(d for k, d in enumerate(x.shape) if k not in axes), x.dtype, at, x.flat, x.splat)


def _squeeze(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, axis = operands[0], attrs["axis"]
    if axis is None:
        axes = [k for k, d in enumerate(x.shape) if world.facts.equal(d, 1)]
    else:
        axes = [plain_axis(world, a, len(x.shape)) for a in ((axis,) if type(axis) is int else axis)]
        for a in axes:
            world.need_equal(x.shape[a], 1, "size of a squeezed axis")
    return without_axes(x, axes)


def concatenated(world: World, parts: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors joined along an axis, read by where a position lies."""
    first = parts[0]
    rank = len(first.shape)
    place = plain_axis(world, axis, rank)
    for part in parts[1:]:
        world.need_true(len(part.shape) == rank, "concatenated tensors of different ranks")
        world.need_same_dtype(first.dtype, part.dtype)
        for k in range(rank):
            if k != place:
                world.need_equal(first.shape[k], part.shape[k], "shapes of concatenated tensors")
    ends: list[Number] = []
    total: Number = 0
    for part in parts:
        total = total + part.shape[place]
        ends.append(total)

    def at(index: Index, k: int = 0) -> Term:
        def own() -> Term:
            begin = ends[k - 1] if k else 0
            return parts[k].at(
                (*index[:place], world.facts.normal(index[place] - begin), *index[place + 1 :])
            )

        if k == len(parts) - 1:
            return own()
        return world.select(ends[k] - 1 - index[place], own, lambda: at(index, k + 1))

    return Tensor((*first.shape[:place], total, *first.shape[place + 1 :]), first.dtype, at)


def _concatenate(world: World, operands: Operands, attrs: Attrs) -> Value:
    world.need_true(isinstance(operands[0], tuple) and len(operands[0]) > 0, "a concatenation of no tensors")
    return concatenated(world, operands[0], attrs["axis"])


def _stack(world: World, operands: Operands, attrs: Attrs) -> Value:
    parts = operands[0]
    rank = len(parts[0].shape)
    axis = plain_axis(world, attrs["axis"], rank + 1)
    for part in parts[1:]:
        world.need_true(len(part.shape) == rank, "stacked tensors of different ranks")
        for a, b in zip(parts[0].shape, part.shape):
            world.need_equal(a, b, "shapes of stacked tensors")
    return concatenated(world, [inserted(part, axis, 1) for part in parts], axis)


def cut(x: Tensor, axis: int, begin: Number, size: Number) -> Tensor:
    """`size` elements along an axis, from `begin`."""
    return Tensor(
        (*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype,
        lambda index: x.at((*index[:axis], index[axis] + begin, *index[axis + 1 :])), None, x.splat,
    )  # fmt: skip


def _split(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, sections = operands[0], attrs["indices_or_sections"]
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    size = world.facts.normal(x.shape[axis])
    if type(sections) is int:
        world.need_true(sections >= 1, "the number of parts")
        part = size // sections
        world.need_equal(part * sections, size, "split into equal parts")
        part = world.facts.normal(part)
        return tuple(cut(x, axis, part * k, part) for k in range(sections))
    if not isinstance(sections, tuple):
        raise NotProved("the number of parts of a split is unknown")
    bounds = [0, *sections, size]
    for a, b in zip(bounds, bounds[1:]):
        world.need(b - a, "distance of split indices")
    return tuple(cut(x, axis, a, b - a) for a, b in zip(bounds, bounds[1:]))


def _strided_slice(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, begin, end = operands[0], attrs["begin"], attrs["end"]
    if isinstance(begin, OpenSlice):
        if end is not begin or attrs["strides"] is not begin:
            raise NotProved("only some bounds of a slice are known")
        begin.read_by(attrs["axes"], attrs["slice_mode"])
        for axis, part in enumerate(begin.of(x.shape)):
            x = taken(world, x, axis, part)
        return x
    axes = (
        range(len(begin)) if attrs["axes"] is None
        else [plain_axis(world, a, len(x.shape)) for a in attrs["axes"]]
    )
    strides = attrs["strides"] or (1,)
    for k, axis in enumerate(axes):
        world.need_true(axis < len(x.shape), "the axes of a slice")
        step = strides[k] if k < len(strides) else 1
        low, high = (bounds[k] if k < len(bounds) else None for bounds in (begin, end))
        if attrs["slice_mode"] == "size":
            low, high, step = by_length(world, low, high, x.shape[axis])
        x = taken(world, x, axis, range_of(world, low, high, step, x.shape[axis]))
    return x


def by_length(
    world: World, begin: Number | None, length: Number | None, size: Number
) -> tuple[Number, Number, Number]:
    """begin, end and step of a slice that says how long it is: to the end where that is negative."""
    start = 0 if begin is None else begin if world.facts.at_least(begin, 0) else begin + size
    return start, size if length is None or not world.facts.at_least(length, 0) else start + length, 1


def _reverse(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    return taken(world, x, axis, Range(x.shape[axis] - 1, x.shape[axis], -1))


def _pad(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, widths = operands[0], attrs["pad_width"]
    world.need_true(len(widths) == len(x.shape), "the number of padding widths")
    if attrs["pad_mode"] != "constant":
        raise NotProved(f"padding in the mode `{attrs['pad_mode']}` is not supported")
    fill = operands[1] if len(operands) > 1 else None
    if fill is not None and world.reading:
        if fill.leaf is not None and fill.splat is None:
            world.notes.add("the padding value is a scalar")
        world.mostly_alike.append(
            (fill.dtype, x.dtype, "the padding value has the element type of the data")
        )
    for before, after in widths:
        for width in (before, after):
            world.need(width, "padding")
    return padded(world, x, widths, ZERO if fill is None else fill)


def padded(world: World, x: Tensor, widths: Sequence[Any], fill: Any) -> Tensor:
    """`fill`: a term, or a tensor with one element."""

    def outside() -> Term:
        if isinstance(fill, Tensor):
            return fill.splat if fill.splat is not None else fill.at((0,) * len(fill.shape))
        assert isinstance(fill, Term)
        return fill

    def at(index: Index) -> Term:
        conditions: list[Number] = []
        places = []
        for place, size, sides in zip(index, x.shape, widths):
            before, after = (world.facts.normal(width) for width in sides)
            inner = world.facts.normal(place - before)
            if not (type(before) is int and before == 0):
                conditions.append(inner)
            if not (type(after) is int and after == 0):
                conditions.append(size - 1 - inner)
            places.append(inner)
        return world.inside(conditions, lambda: x.at(tuple(places)), outside)

    return Tensor(tuple(d + b + a for d, (b, a) in zip(x.shape, widths)), x.dtype, at)


def broadcast_to_shape(world: World, x: Tensor, shape: Sequence[Number]) -> Tensor:
    """A tensor broadcast to a shape that it must fit."""
    world.need_true(len(x.shape) <= len(shape), "a broadcast to fewer dimensions")
    if world.reading:
        for a, b in zip(x.shape[::-1], shape[::-1]):
            world.facts.learn_fit(a, b)
    else:
        for a, b in zip(world.broadcast(x.shape, shape), shape):
            world.need_equal(a, b, "broadcast to a smaller shape")
    return Tensor(tuple(shape), x.dtype, lambda index: world.element(x, shape, index), None, x.splat)


def _layout_transform(world: World, operands: Operands, attrs: Attrs) -> Value:
    source, target = parse_layout(attrs["src_layout"]), parse_layout(attrs["dst_layout"])
    letters, wanted = [a for a, _ in source], [a for a, _ in target]
    if (
        sorted(letters) != sorted(wanted) or len(set(letters)) != len(letters)
        or any(b for _, b in (*source, *target))
    ):
        raise NotProved("blocked layouts are not supported")
    world.need_true(len(letters) == len(operands[0].shape), "a layout of the wrong rank")
    return transposed(operands[0], [letters.index(a) for a in wanted])


def _matrix_set_diag(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, diagonal = operands[:2]
    if attrs["k1"] != 0 or attrs["k2"] != 0 or len(x.shape) != 2 or len(diagonal.shape) != 1:
        raise NotProved("only the main diagonal of a matrix is supported")

    def at(index: Index) -> Term:
        i, j = index
        return world.inside([i - j, j - i], lambda: diagonal.at((i,)), lambda: x.at(index))

    return Tensor(x.shape, x.dtype, at)


def _filled(world: World, shape: Sequence[Number], value: Term, dtype: str | Dtype) -> Tensor:
    for size in shape:
        world.need(size, "size of a new tensor")
    return constant(value, shape, dtype)


MOVEMENT: dict[str, Meaning] = {
    "transpose": lambda w, o, a: permuted(w, o[0], a["axes"]),
    "reshape": _reshape,
    "contrib_reverse_reshape": _reverse_reshape,
    "reshape_like": _reshape_like,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "concatenate": _concatenate,
    "stack": _stack,
    "split": _split,
    "strided_slice": _strided_slice,
    "reverse": _reverse,
    "nn.pad": _pad,
    "layout_transform": _layout_transform,
    "matrix_set_diag": _matrix_set_diag,
    "broadcast_to": lambda w, o, a: broadcast_to_shape(w, o[0], a["shape"]),
    "broadcast_to_like": lambda w, o, a: broadcast_to_shape(w, o[0], o[1].shape),
    "nn.batch_flatten": lambda w, o, a: reshaped(w, o[0], (o[0].shape[0], product(o[0].shape[1:]))),
    "zeros": lambda w, o, a: _filled(w, a["shape"], ZERO, a["dtype"]),
    "ones": lambda w, o, a: _filled(w, a["shape"], ONE, a["dtype"]),
    "zeros_like": lambda w, o, a: _filled(w, o[0].shape, ZERO, o[0].dtype),
    "ones_like": lambda w, o, a: _filled(w, o[0].shape, ONE, o[0].dtype),
}
