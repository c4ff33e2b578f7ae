"""Dense layers and matrix products."""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dimensions import rank_is, same, tensor
from gslang.dialect.signature import Infer, TypeInferenceError, Types, ValueOf
from gslang.dialect.tensor_type import TensorType, Type


def dense(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, weight = tensor(types[0]), tensor(types[1])
    dtype = attrs["out_dtype"] or data.dtype
    shape = rank_is(weight, 2, "the weight")
    if data.shape is None:
        return TensorType(None, dtype)
    if not data.shape:
        raise TypeInferenceError("the data is a scalar")
    if shape is not None:
        same(data.shape[-1], shape[1], "the data's last axis and the weight's second differ")
        units = shape[0]
        if attrs["units"] is not None:
            units = same(units, attrs["units"], "`units` and the weight differ")
        return TensorType((*data.shape[:-1], units), dtype)
    return TensorType((*data.shape[:-1], attrs["units"]), dtype) if attrs["units"] is not None else None


def matmul(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    a, b = tensor(types[0]), tensor(types[1])
    dtype = attrs["out_dtype"] or a.dtype
    if a.shape is None or b.shape is None:
        return TensorType(None, dtype)
    if len(a.shape) < 2 or len(b.shape) != 2:
        raise TypeInferenceError("matrices are expected")
    rows, inner = (a.shape[-1], a.shape[-2]) if attrs["transpose_a"] else (a.shape[-2], a.shape[-1])
    other, columns = (b.shape[1], b.shape[0]) if attrs["transpose_b"] else (b.shape[0], b.shape[1])
    same(inner, other, "the inner sizes differ")
    if attrs["units"] is not None:
        columns = same(columns, attrs["units"], "`units` and the columns of the second matrix differ")
    return TensorType((*a.shape[:-2], rows, columns), dtype)


def batch_matmul(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    a, b = tensor(types[0]), tensor(types[1])
    dtype = attrs["out_dtype"] or a.dtype
    x, y = rank_is(a, 3, "the first operand"), rank_is(b, 3, "the second operand")
    if x is None or y is None:
        return TensorType(None, dtype)
    rows, inner = (x[2], x[1]) if attrs["transpose_a"] else (x[1], x[2])
    other, columns = (y[2], y[1]) if attrs["transpose_b"] else (y[1], y[2])
    same(inner, other, "the inner sizes differ")
    if type(x[0]) is int and x[0] == 1:
        batch = y[0]
    elif type(y[0]) is int and y[0] == 1:
        batch = x[0]
    else:
        batch = same(x[0], y[0], "the batches differ")
    return TensorType((batch, rows, columns), dtype)


INFER: dict[str, Infer] = {
    "nn.dense": dense, "qnn.dense": dense, "nn.matmul": matmul, "nn.batch_matmul": batch_matmul,
}  # fmt: skip
