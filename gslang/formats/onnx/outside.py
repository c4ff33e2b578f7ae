"""The surroundings of a node's bodies: the values that they read, and each body as a graph that says which of
its inputs and constants these are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.attributes import Body, captures_of, free_names
from gslang.dialect.onnx.dtypes import type_message
from gslang.dialect.onnx.tensors import OnnxTensor, tensor_message
from gslang.dialect.tensor_type import TensorType, UnknownValue
from gslang.formats.onnx.records import KEY, ModelRecord, NodeRecord, model_record
from gslang.graph.graph import CONST, LEAVES, Graph
from gslang.graph.inner_graph import InnerGraph
from gslang.graph.scalar import Scalar

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_SMALL: Final = 1024  # elements of a constant that inference may look at
# Functions that types in bodies and functions are inferred with, besides those that they call themselves: in
# all functions of a model, and in one if these are many.
_MOST_SHOWN: Final = 10_000
_SHOWN: Final = 8


class Outside:
    """The surroundings of a node's bodies. `values`: name of what they read → its node in the outer graph.

    `read_message`: of `model_graph`.
    """

    def __init__(
        self,
        read_message: Callable[..., Graph],
        graph: Graph,
        node: int,
        record: ModelRecord,
        dialect: Dialect,
    ) -> None:
        self.read_message, self.graph, self.record, self.dialect = read_message, graph, record, dialect
        captures = captures_of(graph.attrs[node].values())
        operands = graph.operands[node]
        self.values = dict(zip(captures, operands[len(operands) - len(captures) :]))

    def read(self, body: Body, shown: set[str], taken: frozenset[str] | None = None) -> Graph:
        """A body as a graph; `shown` receives the names of the outer values among its inputs and constants.

        `taken`: names that new values must not have; those of the model if not given.
        """
        model = model_around(self.record)
        model.graph.ParseFromString(body.data)
        add_functions(model, self.record)
        large: list[str] = []
        for name in free_names(model.graph):
            self._show(model.graph, name, self.values[name], large, shown)
        whole_ir = self.record.message.ir_version  # before 4, a body has as few initializers as it has inputs
        taken = self.record.taken if taken is None else taken
        inner = self.read_message(
            model, self.record.path, self.record.folder, self.dialect, taken, 0 < whole_ir < 4
        )
        for name in large:
            _make_constant(inner, name, self.graph, self.values[name])
        return inner

    def _show(self, message: NodeProto, name: str, node: int, large: list[str], shown: set[str]) -> None:
        """State an outer value as an input of the body, or as an initializer."""
        graph = self.graph
        value = graph.values.get(node) if graph.op[node] is CONST else None
        shown.add(name)
        if isinstance(value, Scalar):
            value = OnnxTensor(tensor_message(value.load(), value.dtype_name, name))
        if isinstance(value, OnnxTensor) and math.prod(value.shape) <= _SMALL and not value.external:
            message.initializer.add().CopyFrom(value.message)
            message.initializer[-1].name = name
            return
        type = graph.types[node]
        stated = message.input.add(name=name)
        if isinstance(type, TensorType):
            stated.type.CopyFrom(type_message(type))
        if value is not None:
            large.append(name)


def model_around(record: ModelRecord) -> Any:
    """A model with the operator sets of another one, and no graph and functions yet."""
    model = type(record.message)(ir_version=record.message.ir_version)
    model.opset_import.extend(record.message.opset_import)
    return model


def add_functions(model: ModelProto, record: ModelRecord) -> None:
    """Add the functions of another model that the nodes of this one call."""
    functions = record.functions
    most = max(_SHOWN, _MOST_SHOWN // max(len(functions.messages), 1))
    model.functions.extend(functions.called_by(model.graph.node, most))


def _make_constant(inner: Graph, name: str, outer: Graph, node: int) -> None:
    """An input of a body that is a constant outside."""
    place = next((n for n in inner.nodes() if inner.names[n] == name), None)
    if place is not None:
        value = outer.values[node]
        inner.set_value(place, CONST, value, outer.types[node])
        inner.extras[place] = {KEY: NodeRecord(-1, None, None, value)}


def inner_graph(
    read_message: Callable[..., Graph], dialect: Dialect, graph: Graph, node: int, attribute: str
) -> InnerGraph:
    """The body that an attribute of a call holds. Raises `UnknownValue` where that is none."""
    body, record = graph.attrs[node].get(attribute), model_record(graph)
    if not isinstance(body, Body) or record is None:
        raise UnknownValue(f"{graph.label(node)} has no body `{attribute}`")
    outside = Outside(read_message, graph, node, record, dialect)
    shown: set[str] = set()
    inner = outside.read(body, shown)
    leaves = {str(inner.names[k]): k for k in inner.nodes() if inner.op[k] in LEAVES}
    own = [leaves[value.name] for value in body.message().input]
    return InnerGraph(inner, tuple(own), {leaves[name]: outside.values[name] for name in shown & {*leaves}})
