"""Reductions, normalisations, and results that are tuples of tensors."""

from __future__ import annotations

from typing import Any

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dimensions import axes_of, axis_of, broadcast, rank_is, same, tensor
from gslang.dialect.signature import Infer, TypeInferenceError, Types, ValueOf
from gslang.dialect.tensor_type import UNKNOWN, TensorType, TupleType, Type


def reduced_axes(attrs: Attrs, rank: int) -> tuple[int, ...]:
    """The axes a reduction goes over, `exclude` considered: all of them where none is given, in either case.
    """
    if attrs["axis"] in (None, ()):
        return tuple(range(rank))
    axes = axes_of(attrs["axis"], rank)
    return tuple([k for k in range(rank) if k not in axes]) if attrs["exclude"] else axes


def _reduce(types: Types, attrs: Attrs, dtype: str | None) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, dtype)
    axes = reduced_axes(attrs, len(data.shape))
    if attrs["keepdims"]:
        return TensorType(tuple([1 if k in axes else d for k, d in enumerate(data.shape)]), dtype)
    return TensorType(tuple([d for k, d in enumerate(data.shape) if k not in axes]), dtype)


def reduce(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return _reduce(types, attrs, tensor(types[0]).dtype)


def variance(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    """Of data and its mean, which is subtracted from it: it has the axes that it was taken over."""
    data, mean = tensor(types[0]), tensor(types[1], "the mean")
    if data.shape is not None and mean.shape is not None:
        if broadcast(data.shape, rank_is(mean, len(data.shape), "the mean")) != data.shape:
            raise TypeInferenceError(f"a mean of {mean} for {data}")
    return _reduce(types, attrs, data.dtype)


def arg_reduce(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return _reduce(types, attrs, "int32")


def batch_norm(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is not None:
        axis = axis_of(attrs["axis"], len(data.shape))
        for k in range(1, 5):
            _vector(tensor(types[k]), data.shape[axis])
        vector = TensorType((data.shape[axis],), data.dtype)
    else:
        vector = TensorType((UNKNOWN,), data.dtype)
    return TupleType((types[0], vector, vector))


def _vector(type: TensorType, size: Any) -> None:
    if type.shape is not None:
        if len(type.shape) != 1:
            raise TypeInferenceError(f"a vector is expected, got {len(type.shape)} dimensions")
        same(type.shape[0], size, "the vector and the axis differ")


def normalise(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    """`nn.layer_norm`, `nn.instance_norm`, `nn.group_norm`: gamma and beta along `axis`."""
    data = tensor(types[0])
    if data.shape is not None:
        axis = axis_of(attrs["axis"], len(data.shape))
        for k in (1, 2):
            _vector(tensor(types[k]), data.shape[axis])
        groups = attrs.get("num_groups", 1)
        size = data.shape[axis]
        if type(size) is int and (groups <= 0 or size % groups):
            raise TypeInferenceError(f"{groups} groups do not divide {size} channels")
    return types[0]


def dropout(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TupleType((types[0], types[0]))


def topk(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    shape = data.shape
    if shape is not None:
        axis = axis_of(attrs["axis"], len(shape))
        count = attrs["k"] if attrs["k"] is not None and attrs["k"] >= 1 else shape[axis]
        shape = (*shape[:axis], count, *shape[axis + 1 :])
    values, indices = TensorType(shape, data.dtype), TensorType(shape, attrs["dtype"])
    results: dict[str, Type] = {"both": TupleType((values, indices)), "values": values, "indices": indices}
    return results.get(attrs["ret_type"])


def argsort(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(tensor(types[0]).shape, attrs["dtype"])


def cumsum(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    dtype = attrs["dtype"] or data.dtype
    if attrs["axis"] is None and data.shape is not None:
        from gslang.dialect.relay.dimensions import product

        return TensorType((product(data.shape),), dtype)
    return TensorType(data.shape, dtype)


INFER: dict[str, Infer] = {
    **dict.fromkeys(("sum", "mean", "max", "min", "prod", "all", "any"), reduce),
    "variance": variance,
    **dict.fromkeys(("argmax", "argmin"), arg_reduce),
    **dict.fromkeys(("nn.layer_norm", "nn.instance_norm", "nn.group_norm"), normalise),
    "nn.batch_norm": batch_norm, "nn.dropout": dropout, "topk": topk, "argsort": argsort, "cumsum": cumsum,
}  # fmt: skip
