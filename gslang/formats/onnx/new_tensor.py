"""Constants of a graph that the model did not have → messages; large ones may wait until it is written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from gslang.base.diagnostics import InputError
from gslang.dialect.dtypes import PLAIN
from gslang.dialect.onnx.dtypes import element_type
from gslang.dialect.onnx.messages import messages
from gslang.dialect.onnx.tensors import OnnxTensor, stored_type, tensor_message
from gslang.dialect.tensor_type import TensorType
from gslang.formats.onnx.constants import dtype_of_new, row_message
from gslang.formats.onnx.external import Pending
from gslang.formats.onnx.provenance import state_origin
from gslang.formats.onnx.records import node_record
from gslang.graph.graph import Graph
from gslang.graph.scalar import Row

if TYPE_CHECKING:
    from onnx import TensorProto

_LARGE: Final = 1 << 20  # bytes of a tensor that may wait


def new_tensor(graph: Graph, node: int, name: str, pending: dict[str, Pending] | None) -> TensorProto:
    """The message of a constant or parameter, with its name.

    `pending`: takes the data of a large one, whose message has none then; None if no data may wait.
    Raises `InputError` where the graph does not have the value.
    """
    value = graph.values.get(node)
    tensor: Any
    if isinstance(value, OnnxTensor):
        tensor = type(value.message)()
        tensor.CopyFrom(value.message)
        tensor.name = name
    elif type(value) is Row and dtype_of_new(graph, node, value) == value.dtype_name:
        tensor = row_message(value, name)
    elif value is None:
        raise InputError(
            f"the constant `{graph.label(node)}` has no value",
            help="only its type is known; attach its value",
        )
    elif pending is not None and value.nbytes > _LARGE and (
        without := _without_data(graph, node, name)
    ) is not None:
        tensor = without
        pending[name] = Pending(int(value.nbytes), partial(graph.value, node))
    else:
        value = graph.value(node)
        tensor = tensor_message(value, dtype_of_new(graph, node, value), name)
    if node in graph.extras and node_record(graph, node) is None:
        state_origin(tensor, graph, node)
    return tensor  # type: ignore[no-any-return]


def _without_data(graph: Graph, node: int, name: str) -> Any:
    """A message without data; None where the elements are not stored as they are."""
    value, type_ = graph.values[node], graph.types[node]
    dtype = type_.dtype if isinstance(type_, TensorType) and type_.dtype else value.dtype.name
    if dtype not in PLAIN or stored_type(dtype, name) != value.dtype:
        return None
    return messages().TensorProto(name=name, data_type=element_type(dtype), dims=value.shape)
