"""Operators that move elements: shapes, layouts, slices, joins."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dimensions import (
    add,
    axes_of,
    axis_of,
    broadcast,
    common_dtype,
    known,
    multiply,
    product,
    same,
    show,
    tensor,
)  # fmt: skip
from gslang.dialect.signature import Infer, TypeInferenceError
from gslang.dialect.tensor_type import MOST_FIELDS, UNKNOWN, Dimension, Shape, TensorType, TupleType, Type

Types = tuple["Type | None", ...]
ValueOf = Callable[[int], Any]


def reshaped(shape: Shape, newshape: tuple[int, ...], allowzero: bool = False) -> Shape:
    """Relay's `reshape`: 0 copies, -1 infers, -2 copies the rest, -3 merges two, -4 splits one into the next
    two.
    """
    result: list[Dimension] = []
    source = list(shape)
    at = 0
    infer: int | None = None
    k = 0
    while k < len(newshape):
        dim = newshape[k]
        if dim > 0 or dim == 0 and allowzero:
            result.append(dim)
            at += 1
        elif dim == 0:
            if at >= len(source):
                raise TypeInferenceError(f"`newshape` copies dimension {at} of {show(shape)}")
            result.append(source[at])
            at += 1
        elif dim == -1:
            if infer is not None:
                raise TypeInferenceError("`newshape` has two -1")
            infer = len(result)
            result.append(1)
            at += 1
        elif dim == -2:
            result += source[at:]
            at = len(source)
        elif dim == -3:
            if at + 1 >= len(source):
                raise TypeInferenceError("`newshape` merges dimensions that are not there")
            result.append(multiply(source[at], source[at + 1]))
            at += 2
        elif dim == -4:
            if k + 2 >= len(newshape) or at >= len(source):
                raise TypeInferenceError("`newshape` splits a dimension that is not there")
            a, b = newshape[k + 1], newshape[k + 2]
            size = source[at]
            result += _split(size, a, b)
            at += 1
            k += 2
        else:
            raise TypeInferenceError(f"`newshape` has {dim}")
        k += 1
    total = product(shape)
    rest = product([d for j, d in enumerate(result) if j != infer])
    if infer is not None:
        if known(total, rest) and isinstance(total, int) and isinstance(rest, int):
            if rest == 0 or total % rest:
                raise TypeInferenceError(f"{show(shape)} cannot be reshaped to {newshape}")
            result[infer] = total // rest
        else:
            result[infer] = _cancel(list(shape), [d for j, d in enumerate(result) if j != infer])
    elif known(total, rest) and total != rest:
        raise TypeInferenceError(f"{show(shape)} cannot be reshaped to {newshape}")
    return tuple(result)


def _split(size: Dimension, a: int, b: int) -> list[Dimension]:
    if a == -1 and b == -1:
        raise TypeInferenceError("`newshape` has two -1")
    if a == -1 or b == -1:
        given = b if a == -1 else a
        if isinstance(size, int):
            if given <= 0 or size % given:
                raise TypeInferenceError(f"{given} does not divide {size}")
            other: Dimension = size // given
        else:
            other = UNKNOWN
        return [other, given] if a == -1 else [given, other]
    return [a, b]


def _cancel(total: list[Dimension], rest: list[Dimension]) -> Dimension:
    """total / rest where sizes are unknown: equal symbols cancel."""
    for dim in list(rest):
        if not isinstance(dim, int) and dim is not UNKNOWN and dim in total:
            total.remove(dim)
            rest.remove(dim)
    a, b = product(total), product(rest)
    if isinstance(a, int) and isinstance(b, int) and b and a % b == 0:
        return a // b
    return a if isinstance(b, int) and b == 1 else UNKNOWN


def reshape(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        new = attrs["newshape"]
        return TensorType(tuple(new) if all(d > 0 for d in new) else None, data.dtype)
    return TensorType(reshaped(data.shape, attrs["newshape"], attrs["allowzero"]), data.dtype)


def reverse_reshape(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    return TensorType(
        reshaped(data.shape[::-1], attrs["newshape"][::-1], attrs["allowzero"])[::-1], data.dtype
    )


def reshape_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, like = tensor(types[0]), tensor(types[1])
    if data.shape is None or like.shape is None:
        return TensorType(None, data.dtype)

    def bound(value: int | None, rank: int) -> int:
        return rank if value is None else value + rank if value < 0 else value

    a, b = bound(attrs["lhs_begin"], len(data.shape)), bound(attrs["lhs_end"], len(data.shape))
    c, e = bound(attrs["rhs_begin"], len(like.shape)), bound(attrs["rhs_end"], len(like.shape))
    result = data.shape[:a] + like.shape[c:e] + data.shape[b:]
    total, wanted = product(data.shape), product(result)
    if known(total, wanted) and total != wanted:
        raise TypeInferenceError(f"{show(data.shape)} cannot be reshaped to {show(result)}")
    return TensorType(result, data.dtype)


def transpose(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    axes = attrs["axes"]
    if data.shape is None:
        return TensorType(None if axes is None else (UNKNOWN,) * len(axes), data.dtype)
    axes = tuple(range(len(data.shape)))[::-1] if axes is None else axes_of(axes, len(data.shape))
    if len(axes) != len(data.shape):
        raise TypeInferenceError(f"`axes` has {len(axes)} numbers for {len(data.shape)} dimensions")
    return TensorType(tuple([data.shape[a] for a in axes]), data.dtype)


def squeeze(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    if attrs["axis"] is None:
        if not known(*data.shape):
            return TensorType(None, data.dtype)
        return TensorType(tuple([d for d in data.shape if d != 1]), data.dtype)
    axes = axes_of(attrs["axis"], len(data.shape))
    for axis in axes:
        same(data.shape[axis], 1, f"axis {axis} cannot be squeezed")
    return TensorType(tuple([d for k, d in enumerate(data.shape) if k not in axes]), data.dtype)


def expand_dims(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    axis = attrs["axis"]
    rank = len(data.shape)
    if not -rank - 1 <= axis <= rank:
        raise TypeInferenceError(f"axis {axis} of a tensor with {rank} dimensions")
    at = axis if axis >= 0 else rank + 1 + axis
    if attrs["num_newaxis"] > MOST_FIELDS:
        raise TypeInferenceError(f"more than {MOST_FIELDS:,} new axes")
    return TensorType(data.shape[:at] + (1,) * attrs["num_newaxis"] + data.shape[at:], data.dtype)


def flatten(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType((UNKNOWN, UNKNOWN), data.dtype)
    return TensorType((data.shape[0], product(data.shape[1:])), data.dtype)


@lru_cache(maxsize=256)
def parse_layout(layout: str) -> tuple[tuple[str, int], ...]:
    """(letter, block size or 0) for each axis."""
    parts = re.findall(r"(\d*)([A-Za-z])", layout)
    if "".join(n + a for n, a in parts) != layout:
        raise TypeInferenceError(f"`{layout}` is not a layout")
    return tuple([(letter, int(size or 0)) for size, letter in parts])


def layout_transform(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    source, target = parse_layout(attrs["src_layout"]), parse_layout(attrs["dst_layout"])
    if data.shape is None:
        return TensorType((UNKNOWN,) * len(target), data.dtype)
    if len(source) != len(data.shape):
        raise TypeInferenceError(f"`{attrs['src_layout']}` for {len(data.shape)} dimensions")
    sizes: dict[str, Dimension] = {}
    for (letter, _), size in zip(source, data.shape):
        sizes[letter.upper()] = multiply(sizes.get(letter.upper(), 1), size)
    blocks = {letter.upper(): size for letter, size in target if size}
    result: list[Dimension] = []
    for letter, block in target:
        if letter.upper() not in sizes:
            raise TypeInferenceError(f"`{letter}` is not in `{attrs['src_layout']}`")
        size = sizes[letter.upper()]
        if block:
            result.append(block)
        elif letter in blocks:
            divisor = blocks[letter]
            result.append((size + divisor - 1) // divisor if isinstance(size, int) else UNKNOWN)
        else:
            result.append(size)
    return TensorType(tuple(result), data.dtype)


def _fields(type: Type | None) -> tuple[TensorType, ...] | None:
    if type is None:
        return None
    if not isinstance(type, TupleType):
        raise TypeInferenceError("a tuple of tensors is expected, this is a tensor")
    return tuple(tensor(field, "a field") for field in type.fields)


def concatenate(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    fields = _fields(types[0])
    if fields is None:
        return None
    if not fields:
        raise TypeInferenceError("nothing to join")
    dtype = common_dtype(fields)
    if any(f.shape is None for f in fields):
        return TensorType(None, dtype)
    shapes = [f.shape for f in fields if f.shape is not None]
    rank = len(shapes[0])
    axis = axis_of(attrs["axis"], rank)
    result = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) != rank:
            raise TypeInferenceError(f"{rank} dimensions against {len(shape)}")
        for k in range(rank):
            result[k] = (
                add(result[k], shape[k]) if k == axis else same(result[k], shape[k], f"axis {k} differs")
            )
    return TensorType(tuple(result), dtype)


def stack(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    fields = _fields(types[0])
    if not fields:
        return None
    dtype = common_dtype(fields)
    shape = fields[0].shape
    if shape is None:
        return TensorType(None, dtype)
    axis = axis_of(attrs["axis"], len(shape), 1)
    return TensorType((*shape[:axis], len(fields), *shape[axis:]), dtype)


def split(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    sections = attrs["indices_or_sections"]
    count = sections if type(sections) is int else len(sections) + 1
    if count > MOST_FIELDS:
        raise TypeInferenceError(
            f"{count:,} parts are more than the {MOST_FIELDS:,} fields that a tuple may have"
        )
    if data.shape is None:
        return TupleType((TensorType(None, data.dtype),) * max(count, 0))
    axis = axis_of(attrs["axis"], len(data.shape))
    size = data.shape[axis]
    sizes: list[Dimension]
    if type(sections) is int:
        if sections < 1 or isinstance(size, int) and size % sections:
            raise TypeInferenceError(f"{size} cannot be split into {sections} equal parts")
        sizes = [size // sections if isinstance(size, int) else size if sections == 1 else UNKNOWN] * sections
    else:
        bounds = [0, *sections]
        if any(b < a for a, b in zip(bounds, bounds[1:])) or isinstance(size, int) and bounds[-1] > size:
            raise TypeInferenceError(f"the indices {tuple(sections)} do not split {size}")
        sizes = [b - a for a, b in zip(bounds, bounds[1:])]
        sizes.append(size - bounds[-1] if isinstance(size, int) else UNKNOWN)
    shape = data.shape
    return TupleType(tuple([TensorType((*shape[:axis], s, *shape[axis + 1 :]), data.dtype) for s in sizes]))


def strided_slice(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    axes = attrs["axes"]
    axes = tuple(range(len(attrs["begin"]))) if axes is None else axes_of(axes, len(data.shape))
    result: list[Dimension] = list(data.shape)
    for k, axis in enumerate(axes):
        if axis >= len(result):
            raise TypeInferenceError(f"axis {axis} of a tensor with {len(result)} dimensions")
        size = data.shape[axis]
        if not isinstance(size, int):
            result[axis] = UNKNOWN
            continue
        result[axis] = len(range(*slice_bounds(attrs, k, size)))
    return TensorType(tuple(result), data.dtype)


def slice_bounds(attrs: Attrs, k: int, size: int) -> tuple[int, int, int]:
    """start, stop, step of `strided_slice` along its k-th axis, clipped to `size`."""
    strides = attrs["strides"] or (1,)
    step = strides[k] if k < len(strides) else strides[-1] if len(strides) == 1 else 1
    begin = attrs["begin"][k] if k < len(attrs["begin"]) else None
    end = attrs["end"][k] if k < len(attrs["end"]) else None
    if attrs["slice_mode"] == "size":
        start = 0 if begin is None else begin + size if begin < 0 else begin
        stop = size if end is None or end < 0 else start + end
        return slice(start, stop, 1).indices(size)
    if step == 0:
        raise TypeInferenceError("a stride is 0")
    return slice(begin, end, step).indices(size)


def slice_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, like = tensor(types[0]), tensor(types[1])
    if data.shape is None or like.shape is None:
        return TensorType(None, data.dtype)
    rank = min(len(data.shape), len(like.shape))
    axes = tuple(range(rank)) if not attrs["axes"] else axes_of(attrs["axes"], len(data.shape))
    return TensorType(
        tuple([like.shape[k] if k in axes else d for k, d in enumerate(data.shape)]), data.dtype
    )


def take(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, indices = tensor(types[0]), tensor(types[1])
    if data.shape is None or indices.shape is None:
        return TensorType(None, data.dtype)
    if attrs["axis"] is None:
        return TensorType(indices.shape, data.dtype)
    axis = axis_of(attrs["axis"], len(data.shape))
    batch = attrs["batch_dims"]
    return TensorType((*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]), data.dtype)


def gather(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(tensor(types[1]).shape, tensor(types[0]).dtype)


def gather_nd(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, indices = tensor(types[0]), tensor(types[1])
    if data.shape is None or indices.shape is None or not isinstance(indices.shape[0], int):
        return TensorType(None, data.dtype)
    return TensorType(indices.shape[1:] + data.shape[indices.shape[0] + attrs["batch_dims"] :], data.dtype)


def tile(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    reps = tuple(attrs["reps"])
    rank = max(len(reps), len(data.shape))
    shape, reps = (1,) * (rank - len(data.shape)) + data.shape, (1,) * (rank - len(reps)) + reps
    return TensorType(tuple([multiply(d, r) for d, r in zip(shape, reps)]), data.dtype)


def repeat(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    if attrs["axis"] is None:
        return TensorType((multiply(product(data.shape), attrs["repeats"]),), data.dtype)
    axis = axis_of(attrs["axis"], len(data.shape))
    return TensorType(
        tuple([multiply(d, attrs["repeats"]) if k == axis else d for k, d in enumerate(data.shape)]),
        data.dtype,
    )


def broadcast_to(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    shape = attrs["shape"]
    if shape is None:
        return TensorType(None, data.dtype)
    _broadcasts(data.shape, tuple(shape))
    return TensorType(tuple(shape), data.dtype)


def _broadcasts(shape: Shape | None, wanted: Shape | None) -> None:
    if shape is None or wanted is None:
        return
    if len(shape) > len(wanted):
        raise TypeInferenceError(f"{show(shape)} does not broadcast to {show(wanted)}")
    result = broadcast(shape, wanted)
    if result is not None and any(known(a, b) and a != b for a, b in zip(result, wanted)):
        raise TypeInferenceError(f"{show(shape)} does not broadcast to {show(wanted)}")


def broadcast_to_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, like = tensor(types[0]), tensor(types[1])
    _broadcasts(data.shape, like.shape)
    return TensorType(like.shape, data.dtype)


def collapse_sum_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, like = tensor(types[0]), tensor(types[1])
    _broadcasts(like.shape, data.shape)
    return TensorType(like.shape, data.dtype)


def shaped_by(operand: int) -> Infer:
    """The result's shape is the value of an operand (`collapse_sum_to`, `dyn.reshape`, …)."""

    def infer(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        dtype = tensor(types[0]).dtype if operand else attrs.get("dtype")
        value = value_of(operand)
        if value is not None:
            return TensorType(tuple(int(d) for d in value.reshape(-1)), dtype)
        wanted = tensor(types[operand])
        if wanted.shape is not None and len(wanted.shape) == 1 and isinstance(wanted.shape[0], int):
            return TensorType((UNKNOWN,) * wanted.shape[0], dtype)
        return TensorType(None, dtype)

    return infer


def dyn_reshape(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    value = value_of(1)
    data = tensor(types[0])
    if value is not None and data.shape is not None:
        return TensorType(
            reshaped(data.shape, tuple(int(d) for d in value.reshape(-1)), attrs["allowzero"]), data.dtype
        )
    return shaped_by(1)(types, attrs, lambda k: None)


def unknown_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(None, tensor(types[0]).dtype)


def meshgrid(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    fields = _fields(types[0])
    if fields is None or any(f.shape is None for f in fields):
        return None
    sizes = tuple([f.shape[0] if f.shape else 1 for f in fields])
    if attrs["indexing"] == "xy" and len(sizes) > 1:
        sizes = (sizes[1], sizes[0], *sizes[2:])
    return TupleType(tuple([TensorType(sizes, f.dtype) for f in fields]))


INFER: dict[str, Infer] = {
    "reshape": reshape,
    "contrib_reverse_reshape": reverse_reshape,
    "reshape_like": reshape_like,
    "transpose": transpose,
    "squeeze": squeeze,
    "expand_dims": expand_dims,
    "nn.batch_flatten": flatten,
    "layout_transform": layout_transform,
    "concatenate": concatenate,
    "qnn.concatenate": concatenate,
    "stack": stack,
    "split": split,
    "strided_slice": strided_slice,
    "slice_like": slice_like,
    "take": take,
    "gather": gather,
    "gather_nd": gather_nd,
    "scatter": lambda t, a, v: t[0],
    "scatter_elements": lambda t, a, v: t[0],
    "tile": tile,
    "repeat": repeat,
    "broadcast_to": broadcast_to,
    "broadcast_to_like": broadcast_to_like,
    "collapse_sum_like": collapse_sum_like,
    "collapse_sum_to": shaped_by(1),
    "dyn.reshape": dyn_reshape,
    "dyn.broadcast_to": shaped_by(1),
    "dyn.zeros": shaped_by(0),
    "dyn.ones": shaped_by(0),
    "dyn.full": shaped_by(1),
    "dyn.tile": unknown_like,
    "dyn.strided_slice": unknown_like,
    "dyn.expand_dims": unknown_like,
    "dyn.squeeze": unknown_like,
    "meshgrid": meshgrid,
}
