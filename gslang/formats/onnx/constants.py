"""The values of constants: as a model states them, as the graph keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from struct import calcsize, pack, unpack
from typing import TYPE_CHECKING, Any, Final

from gslang.dialect.onnx.dtypes import element_type
from gslang.dialect.onnx.infer import fitting_dtype
from gslang.dialect.onnx.messages import messages
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.dialect.tensor_type import TensorType
from gslang.formats.onnx.records import node_record
from gslang.graph.graph import Graph
from gslang.graph.scalar import Row, Scalar

if TYPE_CHECKING:
    from onnx import NodeProto

_FORMS: Final = {"float32": "<f", "float64": "<d", "int32": "<i", "int64": "<q"}  # of `struct`


def stated_tensor(node: NodeProto, folder: str, path: str) -> OnnxTensor | None:
    """The tensor that a `Constant` node states; None where it states something else.

    `folder` and `path` of the model."""
    if len(node.attribute) != 1:
        return None
    attribute = node.attribute[0]
    match attribute.name:
        case "value" if attribute.HasField("t"):
            return OnnxTensor(attribute.t, folder, path)
        case "value_float":
            return _of_numbers("float32", (), float_data=[attribute.f])
        case "value_floats":
            return _of_numbers("float32", (len(attribute.floats),), float_data=attribute.floats)
        case "value_int":
            return _of_numbers("int64", (), int64_data=[attribute.i])
        case "value_ints":
            return _of_numbers("int64", (len(attribute.ints),), int64_data=attribute.ints)
    return None


def _of_numbers(dtype: str, shape: tuple[int, ...], **data: Sequence[float]) -> OnnxTensor:
    """A tensor of numbers that stand in an attribute; `data`: the field of the message that they go to."""
    return OnnxTensor(messages().TensorProto(dims=shape, data_type=element_type(dtype), **data))


def held_value(tensor: OnnxTensor) -> OnnxTensor | None:
    """The value that the graph keeps: None for types for which NumPy has no numbers."""
    return tensor if tensor.is_held else None


def number_of(tensor: OnnxTensor) -> Scalar | None:
    """The element of a tensor of shape (), for which NumPy need not be loaded; None for what is not stored as
    it is, or as one of these.
    """
    form = None if tensor.shape or tensor.external else _FORMS.get(tensor.element or "")
    data = tensor.message.raw_data if form is not None else b""
    return (
        Scalar(unpack(form, data)[0], tensor.element or "")
        if form is not None and len(data) == calcsize(form)
        else None
    )


def row_message(row: Row, name: str) -> Any:
    """The tensor of whole numbers in a row, for which NumPy need not be loaded."""
    data = pack(f"<{row.size}q", *row.numbers)
    return messages().TensorProto(dims=row.shape, data_type=element_type("int64"), name=name, raw_data=data)


def dtype_of_new(graph: Graph, node: int, value: Any) -> str | None:
    """The type of a new constant: that of the graph, or what its users' operators want (see
    `fitting_dtype`).
    """
    type_ = graph.types[node]
    dtype = type_.dtype if isinstance(type_, TensorType) else None
    if (
        node_record(graph, node) is None and dtype is not None
        and (type(value) is Row or value.dtype.kind != "f" or bool((value == value.round()).all()))
    ):
        for user in graph.users[node]:
            for k, operand in enumerate(graph.operands[user]):
                if operand == node and (wanted := fitting_dtype(graph.op[user], k, dtype)) != dtype:
                    return wanted
    return dtype
