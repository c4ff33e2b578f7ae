"""The meaning of a body: bytes that two bodies share if they differ only in names and in comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from gslang.dialect.onnx.messages import messages


@lru_cache(maxsize=1024)
def body_meaning(data: bytes, captures: Sequence[str]) -> bytes:
    """The bytes of a graph whose values are named by where they are defined, and those from outside by their
    place among `captures`."""
    graph = messages().GraphProto.FromString(data)
    _rename(graph, {name: f"outside {k}" for k, name in enumerate(captures)}, "")
    meaning: bytes = graph.SerializeToString(deterministic=True)
    return meaning


def _rename(graph: Any, outside: Mapping[str, str], prefix: str) -> None:
    """Name the values of a graph, in place; `outside`: the new names of those that it may read from
    around it."""
    new = dict(outside)

    def define(name: str, kind: str) -> str:
        if name:
            new[name] = f"{prefix}{kind} {len(new)}"
        return new.get(name, name)

    for field in ("name", "doc_string", "value_info", "quantization_annotation"):
        graph.ClearField(field)
    for value in graph.input:
        value.name = define(value.name, "input")
        value.ClearField("doc_string")
    for tensor in (*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)):
        tensor.name = define(tensor.name, "initializer")
        tensor.ClearField("doc_string")
    for k, node in enumerate(graph.node):
        node.ClearField("name")
        node.ClearField("doc_string")
        node.input[:] = [new.get(name, name) for name in node.input]
        attributes = sorted(node.attribute, key=lambda attribute: str(attribute.name))
        for attribute in attributes:
            attribute.ClearField("doc_string")
            inner = [attribute.g] if attribute.HasField("g") else []
            for body in (*inner, *attribute.graphs):
                _rename(body, new, f"{prefix}{k} ")
        copies = [type(attribute).FromString(attribute.SerializeToString()) for attribute in attributes]
        node.ClearField("attribute")
        node.attribute.extend(copies)
        node.output[:] = [define(name, "result") for name in node.output]
    for value in graph.output:
        value.name = new.get(value.name, value.name)
        value.ClearField("doc_string")
