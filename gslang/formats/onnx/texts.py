"""Checks that the strings of a model are valid UTF-8: protobuf hands out bytes if a file has something else.

Names must be texts; documentation need not, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto


def refuse_bytes(model: ModelProto, path: str) -> None:
    """Raise `InputError` for a name in a model that is not UTF-8 text.

    Its nodes are left to who reads these.
    """
    for entry in model.opset_import:
        _check(entry.domain, "a domain", path)
    refuse_bytes_in_functions(model.functions, path)
    _check(model.graph.name, "the name of the graph", path)
    _values(model.graph, path)


def refuse_bytes_in_functions(functions: Iterable[FunctionProto], path: str) -> None:
    """The same for local functions, nodes included."""
    for function in functions:
        _check(function.name, "the name of a function", path)
        _check(function.domain, "a domain", path)
        for name in (*function.input, *function.output):
            _check(name, "a value of a function", path)
        _nodes(function.node, path)


def refuse_bytes_among(texts: tuple[object, ...], path: str) -> None:
    """The same for some names."""
    if bytes in map(type, texts):
        _check(next(text for text in texts if type(text) is bytes), "a name in a node", path)


def _check(text: object, what: str, path: str) -> None:
    if type(text) is not str:
        raise InputError(f"{what} is not UTF-8 text: {text!r}", path=path, help="the file is damaged")


def _graph(graph: GraphProto, path: str) -> None:
    _values(graph, path)
    _nodes(graph.node, path)


def _values(graph: GraphProto, path: str) -> None:
    for value in (*graph.input, *graph.output, *graph.value_info):
        _check(value.name, "the name of a value", path)
        for dimension in value.type.tensor_type.shape.dim:
            _check(dimension.dim_param, "the name of a dimension", path)
    for tensor in _tensors(graph):
        if type(tensor.name) is not str:
            _check(tensor.name, "the name of a tensor", path)
        for entry in tensor.external_data if tensor.data_location else ():
            _check(entry.key, "the location of external data", path)
            _check(entry.value, "the location of external data", path)
    for annotation in graph.quantization_annotation:
        _check(annotation.tensor_name, "the name of a tensor", path)


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)


def _nodes(nodes: Iterable[NodeProto], path: str) -> None:
    for node in nodes:
        refuse_bytes_among(
            (node.op_type, node.domain, node.name, node.overload, *node.input, *node.output), path
        )
        refuse_bytes_in_attributes(node, path)


def refuse_bytes_in_attributes(node: NodeProto, path: str) -> None:
    """The same for the attributes of a node, however deep."""
    for attribute in node.attribute:
        if type(attribute.name) is not str or type(attribute.ref_attr_name) is not str:
            raise InputError(
                "the name of an attribute is not UTF-8 text", path=path, help="the file is damaged"
            )
        if attribute.HasField("t"):
            _check(attribute.t.name, "the name of a tensor", path)
        if attribute.HasField("g"):
            _graph(attribute.g, path)
        for inner in attribute.graphs:
            _graph(inner, path)


def encoded_text(field: int, text: bytes) -> bytes:
    """A message with nothing but a text, in protobuf's encoding, in field number `field`."""
    return _varint(field << 3 | 2) + _varint(len(text)) + text


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])
