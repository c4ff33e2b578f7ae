"""The JSON graph format, version 1: one object, a node per line, stable order (docs/graph-json.md).

Errors name the JSON pointer of the place and what was expected there.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from gslang.base.diagnostics import InputError
from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Symbol, TensorType, TupleType, Type
from gslang.formats.weights import LazyArray
from gslang.graph.graph import ABSENT, CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.graph.inference import infer_types

FORMAT, VERSION = "gsl-graph", 1
_TOP = ("format", "version", "dialect", "name", "nodes", "outputs")
_KEYS = {
    "input": ("id", "kind", "shape", "dtype"),
    "param": ("id", "kind", "shape", "dtype", "value"),
    "const": ("id", "kind", "shape", "dtype", "value"),
    "call": ("id", "kind", "op", "inputs", "attrs", "shape", "dtype", "type"),
    "tuple": ("id", "kind", "inputs", "type"),
    "proj": ("id", "kind", "inputs", "index", "shape", "dtype", "type"),
}
_INLINE = 64  # values with at most so many elements are written as lists, larger ones as base64


class _Reader:
    """The file's path, for messages, and the folder that values may come from."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.folder = Path(path).resolve().parent if path not in ("", "-", "<stdin>") else Path.cwd()

    def fail(self, pointer: str, message: str, help: str = "") -> NoReturn:
        raise InputError(message, path=self.path, place=pointer or "/", help=help)

    def keys(self, pointer: str, found: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for key in found:
            if key not in known and not key.startswith("x-"):
                guess = did_you_mean(key, known)
                help = f"did you mean `{guess}`?" if guess else f"known: {', '.join(known)}; your own keys begin with `x-`"
                self.fail(f"{pointer}/{_escape(key)}", f"unknown key `{key}`", help)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def read_json(data: str | bytes, path: str = "<json>", dialect: Dialect | None = None) -> Graph:
    """Read a graph. With a dialect, types of calls are inferred and declared ones checked against it.

    Raises `InputError`.
    """
    reader = _Reader(path)
    top = _parse(reader, data)
    if not isinstance(top, dict):
        reader.fail("", "a graph is one JSON object")
    if top.get("format") != FORMAT:
        reader.fail("/format", f"expected `{FORMAT}`, got {json.dumps(top.get('format'))}", "is this a graph file?")
    if top.get("version") != VERSION:
        reader.fail("/version", f"expected {VERSION}, got {json.dumps(top.get('version'))}")
    reader.keys("", top, _TOP)
    name, dialect_name = top.get("name", "main"), top.get("dialect", "relay")
    for key, value in (("name", name), ("dialect", dialect_name)):
        if not isinstance(value, str):
            reader.fail(f"/{key}", "expected a string")
    graph = Graph(dialect_name, name)
    graph.meta = {key: value for key, value in top.items() if key.startswith("x-")}
    ids: dict[str, int] = {}
    pointers: dict[int, str] = {}
    entries = top.get("nodes")
    if not isinstance(entries, list):
        reader.fail("/nodes", "expected a list of nodes")
    all_ids = {e["id"] for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)}
    for k, entry in enumerate(entries):
        node = _read_node(reader, graph, f"/nodes/{k}", entry, ids, all_ids)
        pointers[node] = f"/nodes/{k}"
    outputs = top.get("outputs")
    if not isinstance(outputs, list) or not outputs:
        reader.fail("/outputs", "expected a list of node ids, at least one")
    graph.set_outputs(_reference(reader, f"/outputs/{k}", out, ids, all_ids) for k, out in enumerate(outputs))
    if dialect is not None:
        for node, why in infer_types(graph, dialect):
            reader.fail(pointers[node], f"`{graph.op[node]}` of `{graph.names[node]}`: {why}")
    return graph


def _parse(reader: _Reader, data: str | bytes) -> Any:
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            reader.fail(f"byte {error.start}", "this is not UTF-8", "save the file as UTF-8")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            seen: set[str] = set()
            twice = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            reader.fail("", f"the key `{twice}` stands twice in one object")
        return result

    try:
        return json.loads(data, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        reader.fail(f"{error.lineno}:{error.colno}", f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", "is the file cut off?" if error.pos >= len(data.rstrip()) - 1 else "")
    except RecursionError:
        reader.fail("", "nested too deeply for a graph")
    except ValueError as error:
        reader.fail("", f"not JSON: {error}")


def _read_node(
    reader: _Reader, graph: Graph, at: str, entry: Any, ids: dict[str, int], all_ids: set[str]
) -> int:
    if not isinstance(entry, dict):
        reader.fail(at, "a node is an object")
    kind = entry.get("kind")
    if kind not in _KEYS:
        guess = did_you_mean(kind, _KEYS) if isinstance(kind, str) else None
        reader.fail(f"{at}/kind", f"expected one of {', '.join(_KEYS)}, got {json.dumps(kind)}", f"did you mean `{guess}`?" if guess else "")
    reader.keys(at, entry, _KEYS[kind])
    name = entry.get("id")
    if not isinstance(name, str) or not name:
        reader.fail(f"{at}/id", "expected a non-empty string")
    if name in ids:
        reader.fail(f"{at}/id", f"the id `{name}` is taken by another node", "ids are unique")
    if kind in ("input", "param", "const"):
        type_ = _tensor_type(reader, at, entry)
        node = graph.add({"input": INPUT, "param": PARAM, "const": CONST}[kind], (), {}, type_, name)
        if "value" in entry:
            graph.values[node] = _value(reader, f"{at}/value", entry["value"], type_)
        elif kind == "const":
            reader.fail(at, f"the constant `{name}` has no value")
    else:
        inputs = entry.get("inputs")
        if not isinstance(inputs, list):
            reader.fail(f"{at}/inputs", "expected a list of node ids")
        operands = [
            ABSENT if item is None and kind == "call" else _reference(reader, f"{at}/inputs/{k}", item, ids, all_ids)
            for k, item in enumerate(inputs)
        ]
        declared = _declared_type(reader, at, entry)
        if kind == "call":
            op = entry.get("op")
            if not isinstance(op, str) or not op or op.startswith("%"):
                reader.fail(f"{at}/op", "expected the name of an operator")
            node = graph.add(op, operands, _attributes(reader, f"{at}/attrs", entry.get("attrs", {})), declared, name)
        elif kind == "tuple":
            node = graph.add_tuple(operands, name, declared)
        else:
            index = entry.get("index")
            if len(operands) != 1:
                reader.fail(f"{at}/inputs", f"a projection has one input, got {len(operands)}")
            if type(index) is not int or index < 0:
                reader.fail(f"{at}/index", "expected a number from 0")
            if graph.op[operands[0]] is TUPLE and index >= len(graph.operands[operands[0]]):
                reader.fail(f"{at}/index", f"field {index} of a tuple with {len(graph.operands[operands[0]])} fields")
            if graph.op[operands[0]] in (INPUT, PARAM, CONST):
                reader.fail(f"{at}/inputs/0", "a projection needs a tuple, this is a tensor")
            node = graph.add_proj(operands[0], index, name, declared)
    extra = {key: value for key, value in entry.items() if key.startswith("x-")}
    if extra:
        graph.extras[node] = extra
    ids[name] = node
    return node


def _reference(reader: _Reader, at: str, name: Any, ids: dict[str, int], all_ids: set[str]) -> int:
    if not isinstance(name, str):
        reader.fail(at, f"expected the id of a node, got {json.dumps(name)}")
    if name in ids:
        return ids[name]
    if name in all_ids:
        reader.fail(at, f"`{name}` comes later", "list nodes before their users; a cycle is no graph")
    guess = did_you_mean(name, list(ids)[:5000])
    reader.fail(at, f"there is no node `{name}`", f"did you mean `{guess}`?" if guess else "")


def _tensor_type(reader: _Reader, at: str, entry: Mapping[str, Any]) -> TensorType:
    for key in ("shape", "dtype"):
        if key not in entry:
            reader.fail(at, f"`{key}` is missing")
    dtype = entry["dtype"]
    if dtype is not None and not isinstance(dtype, str):
        reader.fail(f"{at}/dtype", "expected the name of a type, such as \"float32\"")
    return TensorType(_shape(reader, f"{at}/shape", entry["shape"]), dtype)


def _shape(reader: _Reader, at: str, shape: Any) -> tuple[Dimension, ...] | None:
    if shape is None:
        return None
    if not isinstance(shape, list):
        reader.fail(at, "expected a list of dimensions, or null for an unknown rank")
    result: list[Dimension] = []
    for k, dim in enumerate(shape):
        if dim is None:
            result.append(UNKNOWN)
        elif isinstance(dim, str) and dim:
            result.append(Symbol(dim))
        elif type(dim) is int and dim >= 0:
            result.append(dim)
        else:
            reader.fail(f"{at}/{k}", f"a dimension is a number from 0, a name, or null, got {json.dumps(dim)}")
    return tuple(result)


def _declared_type(reader: _Reader, at: str, entry: Mapping[str, Any]) -> Type | None:
    if "type" in entry:
        fields = entry["type"]
        if not isinstance(fields, list):
            reader.fail(f"{at}/type", "expected a list of types, one a field")
        result: list[Type | None] = []
        for k, field in enumerate(fields):
            if field is None:
                result.append(None)
            elif isinstance(field, dict) and "shape" in field and "dtype" in field:
                result.append(_tensor_type(reader, f"{at}/type/{k}", field))
            elif isinstance(field, dict) and "type" in field:
                result.append(_declared_type(reader, f"{at}/type/{k}", field))
            else:
                reader.fail(f"{at}/type/{k}", "expected an object with `shape` and `dtype`")
        return TupleType(tuple(result))
    if "shape" in entry or "dtype" in entry:
        return _tensor_type(reader, at, {"shape": None, "dtype": None, **entry})
    return None


def _attributes(reader: _Reader, at: str, attrs: Any) -> dict[str, Any]:
    if not isinstance(attrs, dict):
        reader.fail(at, "expected an object")
    return {key: _attribute(reader, f"{at}/{_escape(key)}", value) for key, value in attrs.items()}


def _attribute(reader: _Reader, at: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple([_attribute(reader, f"{at}/{k}", item) for k, item in enumerate(value)])
    if isinstance(value, dict):
        if set(value) != {"tensor"} or not isinstance(value["tensor"], dict):
            reader.fail(at, "an attribute is a value, a list, or {\"tensor\": …}")
        inner = value["tensor"]
        type_ = _tensor_type(reader, f"{at}/tensor", inner)
        return _value(reader, f"{at}/tensor/value", inner.get("value"), type_)
    return value


def _value(reader: _Reader, at: str, value: Any, type_: TensorType) -> Any:
    """An array, or a handle of one in a file."""
    if type_.shape is None or not all(type(d) is int for d in type_.shape):
        reader.fail(at, "a value needs a known shape")
    if type_.dtype is None or not numpy_dtype_exists(type_.dtype):
        reader.fail(at, f"values of type {type_.dtype} cannot be held")
    shape = tuple(int(d) for d in type_.shape if isinstance(d, int))
    dtype = numpy_dtype(type_.dtype)
    import numpy

    if isinstance(value, dict):
        if set(value) == {"base64"}:
            try:
                raw = base64.b64decode(value["base64"], validate=True)
            except (ValueError, TypeError):
                reader.fail(f"{at}/base64", "not base64")
            if len(raw) != dtype.itemsize * math.prod(shape):
                reader.fail(f"{at}/base64", f"{len(raw)} bytes for shape {list(shape)} of {type_.dtype} ({dtype.itemsize * math.prod(shape)} expected)")
            return numpy.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
        if set(value) == {"file", "key"}:
            return _from_file(reader, at, value, shape, dtype)
        reader.fail(at, "expected lists, {\"base64\": …} or {\"file\": …, \"key\": …}")
    try:
        array = numpy.array(_numbers(value), dtype=dtype)
    except (ValueError, TypeError, OverflowError):
        reader.fail(at, f"these are no values of type {type_.dtype}")
    if array.shape != shape:
        if not (array.size == math.prod(shape) == 0):
            reader.fail(at, f"the value has shape {list(array.shape)}, declared is {list(shape)}")
        array = array.reshape(shape)
    return array


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, str):
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[value] if value in ("nan", "inf", "-inf") else value
    if value is None:
        raise TypeError
    return value


def _from_file(reader: _Reader, at: str, value: Mapping[str, Any], shape: tuple[int, ...], dtype: Any) -> LazyArray:
    name, key = value["file"], value["key"]
    if not isinstance(name, str) or not isinstance(key, str):
        reader.fail(at, "`file` and `key` are strings")
    path = (reader.folder / name).resolve()
    if not path.is_relative_to(reader.folder):
        reader.fail(f"{at}/file", f"`{name}` lies outside the graph's folder", "put weights beside the graph")
    if not path.is_file():
        reader.fail(f"{at}/file", f"there is no file `{name}` beside the graph")
    return LazyArray(str(path), key, shape, dtype)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────


def write_json(graph: Graph) -> str:
    """The graph's text: inputs first, then the reverse post-order; unnamed nodes get fresh ids `n0`, `n1`, …"""
    order = [n for n in graph.nodes() if graph.op[n] is INPUT]
    first = set(order)
    order += [n for n in graph.reverse_post_order() if n not in first]
    ids = fresh_names(graph, order)
    lines = []
    for node in order:
        lines.append("    " + json.dumps(_entry(graph, node, ids), ensure_ascii=False, separators=(", ", ": ")))
    head = {"format": FORMAT, "version": VERSION, "dialect": graph.dialect, "name": graph.name}
    head.update({key: value for key, value in graph.meta.items() if key.startswith("x-")})
    top = json.dumps(head, ensure_ascii=False)[1:-1]
    outputs = json.dumps([ids[n] for n in graph.outputs], ensure_ascii=False)
    return "{\n  " + top + ',\n  "nodes": [\n' + ",\n".join(lines) + '\n  ],\n  "outputs": ' + outputs + "\n}\n"


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


def _entry(graph: Graph, node: int, ids: dict[int, str]) -> dict[str, Any]:
    kind = graph.kind(node)
    entry: dict[str, Any] = {"id": ids[node], "kind": kind}
    type_ = graph.types[node]
    if kind == "call":
        entry["op"] = graph.op[node]
    if kind in ("call", "tuple", "proj"):
        entry["inputs"] = [ids[o] if o >= 0 else None for o in graph.operands[node]]
    if kind == "call" and graph.attrs[node]:
        entry["attrs"] = {name: _plain(value) for name, value in graph.attrs[node].items()}
    if kind == "proj":
        entry["index"] = graph.attrs[node]["index"]
    if kind != "tuple":
        entry.update(_type_entry(type_, kind in ("input", "param", "const")))
    value = graph.values.get(node)
    if value is not None:
        entry["value"] = value_entry(graph.value(node))
    entry.update(graph.extras.get(node, {}) if all(k.startswith("x-") for k in graph.extras.get(node, {})) else {k: v for k, v in graph.extras[node].items() if k.startswith("x-")})
    return entry


def _type_entry(type_: Type | None, required: bool) -> dict[str, Any]:
    if isinstance(type_, TupleType):
        return {"type": [None if field is None else _type_entry(field, True) for field in type_.fields]}
    if type_ is None:
        return {"shape": None, "dtype": None} if required else {}
    if type_.shape is None and type_.dtype is None and not required:
        return {}
    shape = None if type_.shape is None else [d if isinstance(d, int) else d.name if isinstance(d, Symbol) else None for d in type_.shape]
    return {"shape": shape, "dtype": type_.dtype}


def value_entry(array: Any) -> Any:
    """A value as JSON: lists for small ones, base64 for the rest."""
    if array.size <= _INLINE:
        return _plain(array.tolist())
    data = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return {"base64": base64.b64encode(data.tobytes()).decode("ascii")}


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if hasattr(value, "dtype"):
        return {"tensor": {"shape": list(value.shape), "dtype": str(value.dtype), "value": value_entry(value)}}
    return value
