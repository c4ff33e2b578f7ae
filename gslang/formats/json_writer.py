"""Graphs → JSON: one object, a node per line, stable order (docs/graph-json.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from gslang.dialect.tensor_type import (
    Dimension,
    Symbol,
    TensorType,
    TupleType,
    Type,
    UnknownDimension,
)
from gslang.formats.json_values import plain_value, value_entry
from gslang.graph.annotations import KEY as ANNOTATIONS
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.graph.known_calls import name_elsewhere
from gslang.graph.scalar import Scalar

FORMAT: Final = "gsl-graph"
VERSION: Final = 1
LEAF_OPS: Final = {"input": INPUT, "param": PARAM, "const": CONST}


def write_json(graph: Graph) -> str:
    """The graph's text: inputs first, then the reverse post-order; unnamed nodes get fresh ids `n0`, `n1`, …
    """
    ids = ids_of_nodes(graph)
    lines = ["    " + _line(_entry(graph, node, ids)) for node in ids]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "dialect": graph.dialect,
        "name": graph.name, **own_keys(graph.meta),
    }
    outputs = _line([ids[node] for node in graph.outputs])
    nodes = ",\n".join(lines)
    return f'{{\n  {_line(head)[1:-1]},\n  "nodes": [\n{nodes}\n  ],\n  "outputs": {outputs}\n}}\n'


def ids_of_nodes(graph: Graph) -> dict[int, str]:
    """The id under which each node is written, in the order in which they are."""
    order = [node for node in graph.nodes() if graph.op[node] is INPUT]
    order += [node for node in graph.reverse_post_order() if graph.op[node] is not INPUT]
    ids = fresh_names(graph, order)
    return {node: ids[node] for node in order}


def fresh_names(graph: Graph, order: list[int]) -> dict[int, str]:
    """A unique id for each node: its own where that is free, else `n0`, `n1`, … in order."""
    ids: dict[int, str] = {}
    taken: set[str] = set()
    for node in order:
        name = graph.names[node]
        if name and name not in taken:
            ids[node] = name
            taken.add(name)
    count = 0
    for node in order:
        if node not in ids:
            while f"n{count}" in taken:
                count += 1
            ids[node] = f"n{count}"
            taken.add(ids[node])
    return ids


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def members(value: dict[str, object] | list[object]) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else value


def own_keys(data: Mapping[str, object]) -> dict[str, object]:
    """Of what formats keep with a graph or node, the user's own keys."""
    return {key: value for key, value in data.items() if key.startswith("x-")}


def _entry(graph: Graph, node: int, ids: Mapping[int, str]) -> dict[str, object]:
    kind, type = graph.kind(node), graph.types[node]
    entry: dict[str, object] = {"id": ids[node], "kind": kind}
    if kind == "call":
        entry["op"] = name_elsewhere(graph.op[node])
    if kind in ("call", "tuple", "proj"):
        entry["inputs"] = [ids[operand] if operand >= 0 else None for operand in graph.operands[node]]
    if kind == "call" and graph.attrs[node]:
        entry["attrs"] = {name: _attribute_entry(value) for name, value in graph.attrs[node].items()}
    if kind == "proj":
        entry["index"] = graph.attrs[node]["index"]
    if kind != "tuple":
        entry.update(_type_entry(type, required=kind in LEAF_OPS))
    if node in graph.values:
        value = graph.values[node]
        entry["value"] = value_entry(
            value if isinstance(value, Scalar) else graph.value(node),
            type.dtype if isinstance(type, TensorType) else None,
        )
    elif kind == "const":
        entry["value"] = None
    extra = graph.extras.get(node)
    if extra is not None:
        entry.update(own_keys(extra))
        if "origin" in extra:
            entry["origin"] = extra["origin"]
        if ANNOTATIONS in extra:
            entry["annotations"] = extra[ANNOTATIONS]
    return entry


def _type_entry(type: Type | None, required: bool) -> dict[str, object]:
    if isinstance(type, TupleType):
        return {"type": [None if field is None else _type_entry(field, True) for field in type.fields]}
    if type is None or (type.shape is None and type.dtype is None):
        return {"shape": None, "dtype": None} if required else {}
    return {
        "shape": None if type.shape is None else [_dimension_entry(d) for d in type.shape],
        "dtype": type.dtype,
    }


def _dimension_entry(dim: Dimension) -> int | str | None:
    return dim.name if isinstance(dim, Symbol) else None if isinstance(dim, UnknownDimension) else dim


def _attribute_entry(value: Any) -> object:
    if isinstance(value, (tuple, list)):
        return [_attribute_entry(item) for item in value]
    if isinstance(value, (Symbol, UnknownDimension)):
        return _dimension_entry(value)
    if hasattr(value, "load"):
        value = value.load()
    if hasattr(value, "dtype"):
        return {
            "tensor": {"shape": list(value.shape), "dtype": value.dtype.name, "value": value_entry(value)}
        }
    return plain_value(value)
