"""Element-wise operators, constants and casts."""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dimensions import axis_of, broadcast, common_dtype, rank_is, same, tensor
from gslang.dialect.signature import Infer, TypeInferenceError, Types, ValueOf
from gslang.dialect.tensor_type import UNKNOWN, TensorType, Type

UNARY = (
    "exp log log2 log10 sqrt rsqrt tanh sigmoid erf sin cos tan sinh cosh asin acos atan asinh acosh atanh "
    "abs negative"
    " floor ceil round trunc sign logical_not bitwise_not copy nn.relu nn.leaky_relu clip fast_exp fast_erf "
    "fast_tanh"
    " zeros_like ones_like nn.softmax nn.log_softmax nn.fast_softmax fixed_point_multiply device_copy"
    " annotation.stop_fusion annotation.checkpoint annotation.cast_hint nn.lrn nn.l2_normalize sort reverse"
).split()
BINARY = (
    "add subtract multiply divide floor_divide trunc_divide mod floor_mod trunc_mod power maximum minimum "
    "bitwise_and"
    " bitwise_or bitwise_xor left_shift right_shift atan2"
).split()
COMPARISON = (
    "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor".split()
)


def like_first(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    if types[0] is not None:
        tensor(types[0])
    return types[0]


def to_bool(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(tensor(types[0]).shape, "bool")


def binary(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    a, b = types[0], types[1]
    if a is b and isinstance(a, TensorType) and a.shape is not None and all(type(d) is int for d in a.shape):
        return a
    x, y = tensor(a), tensor(b)
    return TensorType(broadcast(x.shape, y.shape), common_dtype((x, y)))


def comparison(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    x, y = tensor(types[0]), tensor(types[1])
    common_dtype((x, y))
    return TensorType(broadcast(x.shape, y.shape), "bool")


def where(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    condition, x, y = map(tensor, types)
    shape = broadcast(broadcast(x.shape, y.shape), condition.shape)
    return TensorType(shape, common_dtype((x, y)))


def cast(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(tensor(types[0]).shape, attrs["dtype"])


def cast_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(tensor(types[0]).shape, tensor(types[1]).dtype)


def per_channel(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    """`nn.bias_add`, `nn.prelu`: a vector as long as the data's channel axis."""
    data, vector = tensor(types[0]), tensor(types[1])
    if data.shape is not None:
        axis = axis_of(attrs["axis"], len(data.shape))
        if vector.shape is not None:
            if len(vector.shape) != 1:
                raise TypeInferenceError(f"operand 2 has {len(vector.shape)} dimensions, 1 is expected")
            same(data.shape[axis], vector.shape[0], f"axis {axis} and the vector differ")
    common_dtype((data, vector))
    return types[0]


def filled(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    """`zeros`, `ones`, `full`."""
    shape = attrs.get("shape")
    dtype = attrs.get("dtype") or (tensor(types[0]).dtype if types else None)
    return TensorType(None if shape is None else tuple(shape), dtype)


def full_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return types[0]


def arange(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    bounds = [value_of(k) for k in range(len(types))]
    if any(b is None for b in bounds) or len(bounds) < 3:
        return TensorType((UNKNOWN,), attrs["dtype"])
    import math

    start, stop, step = (float(b) for b in bounds)
    if step == 0:
        raise TypeInferenceError("the step is 0")
    return TensorType((max(0, math.ceil((stop - start) / step)),), attrs["dtype"])


def one_hot(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    indices = tensor(types[0])
    rank_is(tensor(types[1]), 0, "the value of what is chosen")
    rank_is(tensor(types[2]), 0, "the value of all others")
    if indices.shape is None:
        return TensorType(None, attrs["dtype"])
    axis = axis_of(attrs["axis"], len(indices.shape), 1)
    return TensorType((*indices.shape[:axis], attrs["depth"], *indices.shape[axis:]), attrs["dtype"])


def shape_of(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    return TensorType((UNKNOWN if data.shape is None else len(data.shape),), attrs["dtype"])


def scalar(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType((), attrs["dtype"])


def quantised(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    return TensorType(tensor(types[0]).shape, attrs["out_dtype"] or None)


def quantised_binary(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    x, y = tensor(types[0]), tensor(types[1])
    return TensorType(broadcast(x.shape, y.shape), common_dtype((x, y)))


INFER: dict[str, Infer] = {
    **dict.fromkeys(UNARY, like_first), **dict.fromkeys(("isnan", "isinf", "isfinite"), to_bool),
    **dict.fromkeys(BINARY, binary), **dict.fromkeys(COMPARISON, comparison),
    **dict.fromkeys(("zeros", "ones", "full"), filled),
    **dict.fromkeys(("qnn.quantize", "qnn.dequantize", "qnn.requantize"), quantised),
    **dict.fromkeys(("qnn.add", "qnn.multiply", "qnn.subtract"), quantised_binary),
    "where": where,
    "cast": cast,
    "cast_like": cast_like,
    "nn.bias_add": per_channel,
    "nn.prelu": per_channel,
    "full_like": full_like,
    "arange": arange,
    "one_hot": one_hot,
    "shape_of": shape_of,
    "vm.shape_of": shape_of,
    "ndarray_size": scalar,
    "matrix_set_diag": like_first,
    "sequence_mask": like_first,
}
