"""Types of Relay operators that join, cut and pick: `concatenate`, `split`, slices, `take`, `gather`."""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dimensions import (
    add,
    axes_of,
    axis_of,
    common_dtype,
    multiply,
    product,
    same,
    tensor,
)  # fmt: skip
from gslang.dialect.signature import Infer, TypeInferenceError, Types, ValueOf
from gslang.dialect.tensor_type import MOST_FIELDS, UNKNOWN, Dimension, Shape, TensorType, TupleType, Type


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
    step = strides[k] if k < len(strides) else 1
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
    for k in axes:
        size, end = data.shape[k], like.shape[k]
        if isinstance(size, int) and isinstance(end, int) and end > size:
            raise TypeInferenceError(f"a slice up to {end} of an axis of {size}")
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
    if batch:
        batch = axis_of(batch, len(indices.shape), 1)
        if axis < batch:
            raise TypeInferenceError(f"axis {axis} is one of {batch} axes of batches")
        _same_batches(data.shape[:batch], indices.shape[:batch])
    return TensorType((*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]), data.dtype)


def _same_batches(data: Shape, indices: Shape) -> None:
    if len(data) != len(indices):
        raise TypeInferenceError("fewer axes than `batch_dims` says")
    for size, other in zip(data, indices):
        same(size, other, "batches of the data and of the indices differ")


def gather(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(tensor(types[1]).shape, tensor(types[0]).dtype)


def gather_nd(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, indices = tensor(types[0]), tensor(types[1])
    if data.shape is None or indices.shape is None or not isinstance(indices.shape[0], int):
        return TensorType(None, data.dtype)
    _same_batches(data.shape[: attrs["batch_dims"]], indices.shape[1 : 1 + attrs["batch_dims"]])
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


def meshgrid(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    fields = _fields(types[0])
    if fields is None or any(f.shape is None for f in fields):
        return None
    for field in fields:
        if len(field.shape or ()) > 1:
            raise TypeInferenceError(f"a vector is expected, got {len(field.shape or ())} dimensions")
    sizes = tuple([f.shape[0] if f.shape else 1 for f in fields])
    if attrs["indexing"] == "xy" and len(sizes) > 1:
        sizes = (sizes[1], sizes[0], *sizes[2:])
    return TupleType(tuple([TensorType(sizes, f.dtype) for f in fields]))


INFER: dict[str, Infer] = {
    "concatenate": concatenate,
    "qnn.concatenate": concatenate,
    "stack": stack,
    "split": split,
    "strided_slice": strided_slice,
    "slice_like": slice_like,
    "take": take,
    "gather": gather,
    "gather_nd": gather_nd,
    "tile": tile,
    "repeat": repeat,
    "meshgrid": meshgrid,
}
