"""The metadata section: what `meta[KEY][i]` refers to. Arrays are decoded only when somebody loads them.

Not here: the meaning of attribute objects, which depends on the operator's declaration (`attributes`).
"""

from __future__ import annotations

import base64
import binascii
import copy
import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy

from gslang.base.diagnostics import InputError
from gslang.base.open_types import JsonDict, JsonObject
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dtypes import numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import TensorType

CONSTANT: Final = "relay.Constant"
REFERENCE: Final = re.compile(r"meta\[([^\[\]\s]*)\]\[(\d{1,9})\]")

_MAGIC: Final = 0xDD5E40F096B4A13F
_HEADER: Final = struct.Struct("<QQiiiBBH")
_CODES: Final = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}
_CODE_OF: Final = {name: code for code, name in _CODES.items()}
MAX_DEPTH: Final = 100


class MetadataError(ValueError):
    """The section does not have the form that TVM writes; the message says where."""


@dataclass(frozen=True, eq=False)
class EncodedArray:
    """A constant as it stands in the file. `load()` decodes it; nothing is copied before that."""

    text: str = field(repr=False)
    shape: tuple[int, ...]
    dtype: str
    _offset: int
    _count: int

    @property
    def nbytes(self) -> int:
        return self._count * int(numpy_dtype(self.dtype).itemsize)

    def load(self) -> Any:
        """The array, row-major. Raises `InputError` if the text is not base64."""
        try:
            data = base64.b64decode(self.text, validate=True)
        except (binascii.Error, ValueError):
            raise InputError(
                f"a constant of type {self.dtype} and shape {list(self.shape)} is not base64"
            ) from None
        numpy_type = numpy_dtype(self.dtype)
        if self.dtype == "bfloat16":
            wide = numpy.frombuffer(data, "<u2", self._count, self._offset).astype(numpy.uint32) << 16
            return wide.view(numpy.float32).reshape(self.shape)
        return numpy.frombuffer(data, numpy_type.newbyteorder("<"), self._count, self._offset).reshape(
            self.shape
        )


def decode_array(text: str) -> EncodedArray:
    """The handle of one `b64ndarrays` element; checks the record's header and length.

    Raises `MetadataError`.
    """
    try:
        head = base64.b64decode(text[:4096], validate=True)
    except (binascii.Error, ValueError):
        raise MetadataError("an array is not base64") from None
    if len(head) < _HEADER.size:
        raise MetadataError("an array's record is cut off")
    magic, _, _, _, rank, code, bits, lanes = _HEADER.unpack_from(head)
    if magic != _MAGIC:
        raise MetadataError("an array's record does not begin as TVM's do")
    if not 0 <= rank <= 64 or len(head) < _HEADER.size + 8 * rank + 8:
        raise MetadataError("an array's record is cut off")
    shape = struct.unpack_from(f"<{rank}q", head, _HEADER.size)
    (size,) = struct.unpack_from("<q", head, _HEADER.size + 8 * rank)
    if code not in _CODES or lanes != 1:
        raise MetadataError(f"an array of type code {code} with {lanes} lanes")
    dtype = "bool" if (code, bits) == (1, 1) else f"{_CODES[code]}{bits}"
    count = 1
    for extent in shape:
        if extent < 0:
            raise MetadataError(f"an array of shape {list(shape)}")
        count *= extent
    offset = _HEADER.size + 8 * rank + 8
    padding = len(text) - len(text.rstrip("="))
    if size != (bits + 7) // 8 * count or len(text) % 4 or len(text) // 4 * 3 - padding != offset + size:
        raise MetadataError(f"an array of shape {list(shape)}, type {dtype} whose data has another length")
    if not numpy_dtype_exists(dtype):
        raise MetadataError(f"an array of type {dtype}")
    return EncodedArray(text, tuple(shape), dtype, offset, count)


def encode_array(array: Any, dtype: str) -> str:
    """An array as an element of `b64ndarrays`."""
    found = re.fullmatch(r"(int|uint|float|bfloat)(\d+)", "uint1" if dtype == "bool" else dtype)
    assert found is not None, dtype
    if dtype == "bfloat16":
        data = (
            (numpy.ascontiguousarray(array, numpy.float32).view(numpy.uint32) >> 16).astype("<u2").tobytes()
        )
    else:
        data = numpy.ascontiguousarray(array, numpy_dtype(dtype).newbyteorder("<")).tobytes()
    shape = numpy.shape(array)
    record = _HEADER.pack(_MAGIC, 0, 1, 0, len(shape), _CODE_OF[found[1]], int(found[2]), 1)
    record += struct.pack(f"<{len(shape)}q", *shape) + struct.pack("<q", len(data)) + data
    return base64.b64encode(record).decode("ascii")


class Metadata:
    """The decoded JSON document; never changed after reading."""

    def __init__(self, document: JsonObject) -> None:
        self.document = document
        self.nodes: list[Any] = _list(document, "nodes")
        self.arrays: list[Any] = (
            document["b64ndarrays"] if isinstance(document.get("b64ndarrays"), list) else []
        )
        self.table: dict[str, list[int]] = {}
        self._constants: dict[int, EncodedArray | None] = {}
        root = self._node(document.get("root"))
        if root.get("type_key") != "Map" or not isinstance(root.get("keys"), list):
            if root.get("type_key") not in ("", "Map"):
                raise MetadataError("its root is not a map")
            return
        for key, index in zip(root["keys"], _list(root, "data")):
            self.table[str(key)] = [_integer(i) for i in _list(self._node(index), "data")]

    def _node(self, index: object) -> JsonDict:
        number = _integer(index)
        if not 0 <= number < len(self.nodes) or not isinstance(self.nodes[number], dict):
            raise MetadataError(f"node {number} does not exist")
        node: JsonDict = self.nodes[number]
        return node

    def find(self, key: str, index: int) -> int | None:
        """The number of the node that a reference means; None for one that is not in this file."""
        indices = self.table.get(key)
        if indices is None or index >= len(indices) or indices[index] == 0:
            return None
        return indices[index]

    def constant(self, index: int) -> EncodedArray | None:
        """`meta[relay.Constant][index]`, the same handle each time; None if the file does not hold it."""
        if index not in self._constants:
            number = self.find(CONSTANT, index)
            handle = None
            if number is not None:
                attrs = self._node(number).get("attrs", {})
                at = _integer(attrs.get("data") if isinstance(attrs, dict) else None)
                if not 0 <= at < len(self.arrays) or not isinstance(self.arrays[at], str):
                    raise MetadataError(f"array {at} does not exist")
                handle = decode_array(self.arrays[at])
            self._constants[index] = handle
        return self._constants[index]

    def attributes(self, key: str, index: int) -> JsonDict | None:
        """The raw texts of an attribute object (`meta[relay.attrs.…][i]`); None if the file does not hold it.
        """
        number = self.find(key, index)
        if number is None:
            return None
        attrs = self._node(number).get("attrs", {})
        return attrs if isinstance(attrs, dict) else None

    def decoded(self, number: int, depth: int = 0) -> object:
        """The plain value of a node: None, int, float, str, bool, tuple or dict. Raises `LookupError` for
        other objects.
        """
        if number == 0:
            return None
        if depth > MAX_DEPTH:
            raise MetadataError(f"objects nested more than {MAX_DEPTH} levels deep, or in a cycle")
        node = self._node(number)
        match node.get("type_key"):
            case "IntImm" | "FloatImm" as kind:
                attrs = node.get("attrs", {})
                try:
                    if kind == "FloatImm":
                        return float(attrs["value"])
                    value = int(attrs["value"])
                except (KeyError, ValueError, TypeError, AttributeError):
                    raise MetadataError(f"node {number} has no value") from None
                return bool(value) if attrs.get("dtype") == "bool" else value
            case "Array":
                return tuple(self.decoded(_integer(i), depth + 1) for i in _list(node, "data"))
            case "Map":
                return self._map(node, depth)
            case "runtime.String":
                return _string(node)
        raise LookupError(node.get("type_key"))

    def _map(self, node: JsonDict, depth: int) -> dict[object, object]:
        data = [_integer(i) for i in _list(node, "data")]
        if isinstance(node.get("keys"), list):
            return {str(k): self.decoded(i, depth + 1) for k, i in zip(node["keys"], data)}
        return {self.decoded(k, depth + 1): self.decoded(v, depth + 1) for k, v in zip(data[::2], data[1::2])}


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise MetadataError("a node's number is missing")
    try:
        return int(value)
    except ValueError:
        raise MetadataError(f"`{value}` is not the number of a node") from None


def _list(holder: Mapping[str, object], key: str) -> list[object]:
    value = holder.get(key, [])
    if not isinstance(value, list):
        raise MetadataError(f"`{key}` is not a list")
    return value


def _string(node: Mapping[str, object]) -> str:
    if "repr_b64" in node:
        try:
            data = base64.b64decode(str(node["repr_b64"]))
        except (binascii.Error, ValueError):
            raise MetadataError("a string is not base64") from None
        return data[8:].decode("utf-8", "replace")
    return str(node.get("repr_str", ""))


def read_metadata(text: str, path: str, line: int) -> Metadata:
    """The section's JSON; `line` is where it begins in the file. Raises `InputError`."""
    try:
        document = json.loads(text)
    except RecursionError:
        raise InputError("the metadata section is nested too deeply", path=path, place=f"{line}:1") from None
    except ValueError as error:
        at = error.lineno + line - 1 if isinstance(error, json.JSONDecodeError) else line
        column = error.colno if isinstance(error, json.JSONDecodeError) else 1
        said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(
            f"the metadata section is not JSON: {said}", path=path, place=f"{at}:{column}",
            help="is the file truncated?",
        ) from None
    try:
        if not isinstance(document, dict):
            raise MetadataError("it is not an object")
        return Metadata(document)
    except MetadataError as error:
        raise InputError(f"the metadata section is damaged: {error}", path=path, place=f"{line}:1") from None


def with_constants(
    metadata: Metadata | None, first: int, added: Sequence[tuple[object, TensorType] | None]
) -> JsonDict:
    """The document with constants `first`, `first + 1`, … added; None adds an entry that stays empty."""
    if metadata is None:
        document: JsonDict = {
            "root": 1,
            "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": [], "data": []}],
            "b64ndarrays": [], "attrs": {"tvm_version": "0.18.0"},
        }  # fmt: skip
    else:
        document = dict(metadata.document)
        document["nodes"] = copy.copy(metadata.nodes)
        document["b64ndarrays"] = copy.copy(metadata.arrays)
    nodes, arrays = document["nodes"], document["b64ndarrays"]
    root = _integer(document["root"])
    if nodes[root].get("type_key") != "Map":
        nodes[root] = {"type_key": "Map", "keys": [], "data": []}
    nodes[root] = {**nodes[root], "keys": list(nodes[root]["keys"]), "data": list(nodes[root]["data"])}
    keys, data = nodes[root]["keys"], nodes[root]["data"]
    if CONSTANT in keys:
        at = _integer(data[keys.index(CONSTANT)])
        entries = list(nodes[at]["data"])
        model = next((nodes[_integer(i)] for i in entries if _integer(i)), None)
    else:
        at, entries, model = len(nodes), [], None
        nodes.append({})
        keys.append(CONSTANT)
        data.append(at)
    attrs = (
        dict(model["attrs"]) if model is not None
        else {"_checked_type_": "0", "span": "0", "virtual_device_": "0"}
    )
    if model is None:
        attrs["virtual_device_"] = str(len(nodes))
        nodes.append({
            "type_key": "VirtualDevice",
            "attrs": {
                "device_type_int": "-1",
                "memory_scope": str(len(nodes) + 1),
                "target": "0",
                "virtual_device_id": "-1",
            },
        })
        nodes.append({"type_key": "runtime.String"})
    entries += [0] * (first - len(entries))
    for item in added:
        if item is None:
            entries.append(0)
            continue
        value, type = item
        entries.append(len(nodes))
        nodes.append(
            {"type_key": CONSTANT, "attrs": {**attrs, "_checked_type_": "0", "data": str(len(arrays))}}
        )
        arrays.append(encode_array(value, str(type.dtype)))
    nodes[at] = {"type_key": "Array", "data": entries}
    return document
