"""Sizes below zero, as some exporters write what they do not know: the `onnx` package computes with them, and
ends the process where a slice is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gslang.dialect.onnx.function_size import bodies_of

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, TensorProto, TypeProto


def forget_negative_sizes(part: GraphProto | FunctionProto) -> None:
    """Make sizes below zero of the values of a graph or function, its bodies included, unknown ones."""
    for graph in _parts_of(part):
        values = [*graph.value_info]
        if hasattr(graph, "initializer"):  # of functions, inputs and outputs are names
            values += [*graph.input, *graph.output]
        for value in values:
            _forget(value.type)


def negative_tensor(part: GraphProto | FunctionProto) -> str | None:
    """The name of a constant with a size below zero, of the operator that has it where it is an attribute."""
    for graph in _parts_of(part):
        for tensor in getattr(graph, "initializer", ()):
            if _is_negative(tensor):
                return str(tensor.name)
        for node in graph.node:
            for attribute in node.attribute:
                if any(map(_is_negative, (attribute.t, *attribute.tensors))):
                    return str(node.op_type)
    return None


def _parts_of(part: GraphProto | FunctionProto) -> Iterator[Any]:
    waiting: list[Any] = [part]
    while waiting:
        graph = waiting.pop()
        yield graph
        for node in graph.node:
            waiting += bodies_of(node)


def _forget(type: TypeProto) -> None:
    kind = type.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        for dimension in getattr(type, kind).shape.dim:
            if dimension.dim_value < 0:
                dimension.Clear()
    elif kind in ("sequence_type", "optional_type"):
        _forget(getattr(type, kind).elem_type)


def _is_negative(tensor: TensorProto) -> bool:
    return any(size < 0 for size in tensor.dims)
