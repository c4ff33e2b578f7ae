"""JSON → graphs, format version 1 (docs/graph-json.md; written by `json_writer`).

Errors name the JSON pointer of the place and what was expected there. Arrays are in `json_values`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from gslang.base.open_types import Attrs, JsonObject
from gslang.base.suggest import did_you_mean
from gslang.dialect.call_check import CallError, checked_attributes
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import PLAIN, dtype_exists
from gslang.dialect.tensor_type import (
    LARGEST_DIMENSION,
    UNKNOWN,
    Dimension,
    Symbol,
    TensorType,
    TupleType,
    Type,
)
from gslang.formats.json_file import JsonFile, escaped, parse
from gslang.formats.json_values import cut_off, read_value
from gslang.formats.json_writer import FORMAT, LEAF_OPS, VERSION, members, own_keys
from gslang.formats.misfits import MISFIT_KEY, missing_operand
from gslang.graph.annotations import KEY as ANNOTATIONS
from gslang.graph.annotations import as_annotation, attachable
from gslang.graph.graph import ABSENT, NO_ATTRS, TUPLE, Graph
from gslang.graph.inference import infer_types
from gslang.graph.known_calls import mark_opaque_calls

_TOP: Final = ("format", "version", "dialect", "name", "nodes", "outputs")
_KEYS: Final = {
    "input": ("id", "kind", "shape", "dtype", "type"),
    "param": ("id", "kind", "shape", "dtype", "type", "value", "origin"),
    "const": ("id", "kind", "shape", "dtype", "type", "value", "origin"),
    "call": ("id", "kind", "op", "inputs", "attrs", "shape", "dtype", "type", "origin", "annotations"),
    "tuple": ("id", "kind", "inputs", "type", "origin"),
    "proj": ("id", "kind", "inputs", "index", "shape", "dtype", "type", "origin"),
}
_ORIGIN: Final = {"rule": "a rule's name", "application": "a number from 1", "from": "a list of ids"}
_KEY_SETS: Final = {kind: frozenset(keys) for kind, keys in _KEYS.items()}
_REPEATED: Final = 1000  # characters of attributes or a type, up to which equal ones are read once
# levels of lists in attributes, of tuples in types, of anything under the user's own keys
_DEEPEST: Final = 100
_GUESSED_FROM: Final = 5000  # ids that a guess looks at: guessing is quadratic in their length


def read_json(
    data: str | bytes, path: str = "<json>", dialect: Dialect | Callable[[str], Dialect] | None = None
) -> Graph:
    """Read a graph. With a dialect (or what finds one by its name) calls are checked against their operators'
    declarations, types are inferred, and declared types checked; without one, types are as declared.

    Raises `InputError`.
    """
    return _Reader(JsonFile(path), dialect).read(data)


class _Reader:
    """The state of reading one document."""

    def __init__(self, file: JsonFile, dialect: Dialect | Callable[[str], Dialect] | None) -> None:
        self.file, self.fail, self._given_dialect = file, file.fail, dialect
        self.dialect: Dialect | None = None
        self.graph = Graph()
        self.ids: dict[str, int] = {}
        self.entries: list[Any] = []
        # by operator, operands and text: layers repeat
        self.attributes: dict[tuple[str, int, str], Attrs] = {}
        self.types: dict[str, TensorType] = {}  # by text

    def read(self, data: str | bytes) -> Graph:
        try:
            return self._read(parse(self.file, data))
        except RecursionError:
            self.fail("", "nested too deeply for a graph")

    def _read(self, top: object) -> Graph:
        if not isinstance(top, dict):
            self.fail("", "a graph is one JSON object")
        for key, wanted in (("format", FORMAT), ("version", VERSION)):
            if key not in top:
                self.fail("", f"`{key}` is missing; expected {json.dumps(wanted)}", "is this a graph file?")
            if top[key] != wanted or isinstance(top[key], bool):
                self.fail(
                    f"/{key}", f"expected {json.dumps(wanted)}, got {_shown(top[key])}",
                    "is this a graph file?",
                )
        self.file.check_keys("", top, _TOP)
        self._open(top)
        entries = top.get("nodes")
        if not isinstance(entries, list):
            self.fail("/nodes", "expected a list of nodes")
        self.entries = entries
        for k, entry in enumerate(entries):
            self._node(f"/nodes/{k}", entry)
        outputs = top.get("outputs")
        if not isinstance(outputs, list) or not outputs:
            self.fail("/outputs", "expected a list of node ids, at least one")
        self.graph.set_outputs([self._reference(f"/outputs/{k}", output) for k, output in enumerate(outputs)])
        if self.dialect is not None:
            if found := mark_opaque_calls(self.graph, self.dialect):
                self.graph.meta.setdefault("warnings", []).extend(
                    f"{self.file.path}: {text}" for text in found
                )
            for node, why in infer_types(self.graph, self.dialect):  # node numbers are places in `nodes`
                op, name = self.graph.op[node].lstrip("%"), self.graph.names[node]
                if MISFIT_KEY not in self.graph.extras.get(node, {}):
                    self.fail(f"/nodes/{node}", f"`{op}` of `{name}`: {why}")
                self.graph.meta.setdefault("warnings", []).append(
                    f"{self.file.path}:/nodes/{node}: `{op}` of `{name}`: {why}"
                )
        return self.graph

    def _open(self, top: JsonObject) -> None:
        name, dialect = top.get("name", "main"), top.get("dialect", "relay")
        for key, value in (("name", name), ("dialect", dialect)):
            if not isinstance(value, str) or not value:
                self.fail(f"/{key}", f"expected a name, got {_shown(value)}")
        self.graph = Graph(dialect, name)
        self.graph.meta = self._own_keys("", top)
        given = self._given_dialect
        self.dialect = given if given is None or isinstance(given, Dialect) else given(dialect)
        if self.dialect is not None and self.dialect.name != dialect:
            self.fail(
                "/dialect",
                f"the graph is of dialect `{dialect}`, the rules are of dialect `{self.dialect.name}`",
            )

    # ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────

    def _node(self, at: str, entry: object) -> None:
        if not isinstance(entry, dict):
            self.fail(at, f"a node is an object, not {_shown(entry)}")
        kind, name = entry.get("kind"), entry.get("id")
        if not isinstance(kind, str) or kind not in _KEYS:
            guess = did_you_mean(kind, _KEYS) if isinstance(kind, str) else None
            place = f"{at}/kind" if "kind" in entry else at
            help = f"did you mean `{guess}`?" if guess else ""
            self.fail(place, f"`kind` is one of {', '.join(_KEYS)}, not {_shown(kind)}", help)
        plain = entry.keys() <= _KEY_SETS[kind]
        if not plain:
            self.file.check_keys(at, entry, _KEYS[kind])
        if not isinstance(name, str) or not name:
            self.fail(f"{at}/id" if "id" in entry else at, "`id` must be a non-empty string")
        if name in self.ids:
            self.fail(
                f"{at}/id",
                f"duplicate id `{name}`: /nodes/{self.ids[name]} has it, too",
                "ids must be unique"
            )
        if kind in LEAF_OPS:
            node = self._leaf(at, entry, kind, name)
        else:
            operands = self._operands(at, entry, kind)
            if kind == "call":
                node = self._call(at, entry, operands, name)
            elif kind == "tuple":
                node = self.graph.add_tuple(operands, name, self._declared_type(at, entry))
            else:
                node = self._projection(at, entry, operands, name)
        if not plain:
            self.graph.extras[node] = self._own_keys(at, entry)
        if "origin" in entry:
            self.graph.extras.setdefault(node, {})["origin"] = self._origin(f"{at}/origin", entry["origin"])
        if "annotations" in entry:
            self.graph.extras.setdefault(node, {})[ANNOTATIONS] = self._annotations(
                f"{at}/annotations", entry["annotations"]
            )
        self.ids[name] = node

    def _annotations(self, at: str, given: object) -> dict[str, object]:
        """The annotations of a call: texts, numbers, truth values and lists of these, by name."""
        if not isinstance(given, dict):
            self.fail(at, f"expected an object of names and values, got {_shown(given)}")
        kept = {key: as_annotation(value) for key, value in given.items()}
        for key, value in given.items():
            if not attachable(kept[key]):
                self.fail(
                    f"{at}/{escaped(key)}",
                    f"expected a string, a number, a boolean or a list of these, got {_shown(value)}",
                )
        return kept

    def _own_keys(self, at: str, holder: JsonObject) -> dict[str, object]:
        """The user's own keys, whose values anything may be that can be written again."""
        own = own_keys(holder)
        for key, value in own.items():
            level, depth = [value], 0
            while level := [
                part for item in level if isinstance(item, (dict, list)) for part in members(item)
            ]:
                depth += 1
                if depth > _DEEPEST:
                    self.fail(f"{at}/{escaped(key)}", f"nested more than {_DEEPEST} levels deep")
        return own

    def _origin(self, at: str, origin: object) -> dict[str, object]:
        """The origin of a node: the application, its rule, and the nodes it was made from. These are gone:
        any ids will do."""
        if not isinstance(origin, dict):
            self.fail(at, f"expected an object with {', '.join(_ORIGIN)}, got {_shown(origin)}")
        self.file.check_keys(at, origin, tuple(_ORIGIN))
        for key, wanted in _ORIGIN.items():
            value = origin.get(key)
            fits = isinstance(value, str) if key == "rule" else type(value) is int and value > 0
            if key == "from":
                fits = isinstance(value, list) and all(isinstance(id, str) for id in value)
            if not fits:
                self.fail(f"{at}/{key}" if key in origin else at, f"`{key}` is {wanted}, not {_shown(value)}")
        return origin

    def _leaf(self, at: str, entry: JsonObject, kind: str, name: str) -> int:
        if "type" in entry and entry.get("value") is not None:
            self.fail(f"{at}/value", "only a tensor has a value, and the node has the `type` of a tuple")
        type = self._declared_type(at, entry) if "type" in entry else self._tensor_type(at, entry)
        if type == TensorType(None, None):
            type = None  # nothing is said: it may be no tensor at all
        node = self.graph.add(LEAF_OPS[kind], (), NO_ATTRS, type, name)
        if kind == "const" and "value" not in entry:
            self.fail(at, f"the constant `{name}` has no `value`", 'write "value": null if it is not known')
        if isinstance(type, TensorType) and entry.get("value") is not None:
            self.graph.values[node] = read_value(self.file, f"{at}/value", entry["value"], type)
        return node

    def _operands(self, at: str, entry: JsonObject, kind: str) -> list[int]:
        inputs = entry.get("inputs")
        if not isinstance(inputs, list):
            self.fail(f"{at}/inputs" if "inputs" in entry else at, "`inputs` is a list of node ids")
        try:
            return [self.ids[name] for name in inputs]
        except (KeyError, TypeError):
            pass  # absent, or to be reported
        if kind == "call":
            return [
                ABSENT if i is None else self._reference(f"{at}/inputs/{k}", i) for k, i in enumerate(inputs)
            ]
        return [self._reference(f"{at}/inputs/{k}", item) for k, item in enumerate(inputs)]

    def _reference(self, at: str, name: object) -> int:
        if not isinstance(name, str):
            self.fail(at, f"expected the id of a node, got {_shown(name)}")
        node = self.ids.get(name)
        if node is not None:
            return node
        for k, entry in enumerate(self.entries):
            if isinstance(entry, dict) and entry.get("id") == name:
                help = "list every node before its users; a graph has no cycles"
                self.fail(at, f"`{name}` comes later, or is the node itself (/nodes/{k})", help)
        guess = did_you_mean(name, list(self.ids)[:_GUESSED_FROM])
        self.fail(at, f"unknown node `{name}`", f"did you mean `{guess}`?" if guess else "")

    def _call(self, at: str, entry: JsonObject, operands: list[int], name: str) -> int:
        op, attrs = entry.get("op"), entry.get("attrs", NO_ATTRS)
        if not isinstance(op, str) or not op or op.startswith("%") or "{" in op:
            self.fail(
                f"{at}/op" if "op" in entry else at, f"`op` is the name of an operator, not {_shown(op)}"
            )
        if not isinstance(attrs, dict) and attrs is not NO_ATTRS:
            self.fail(f"{at}/attrs", f"expected an object, got {_shown(attrs)}")
        key = (op, len(operands), repr((attrs, MISFIT_KEY in entry)))
        if ABSENT in operands and MISFIT_KEY not in entry:
            self._check_absent(at, op, operands)
        given = self.attributes.get(key)
        if given is None:
            given = self._attributes(at, op, attrs, len(operands), MISFIT_KEY in entry)
            if len(key[2]) < _REPEATED:
                self.attributes[key] = given
        return self.graph.add(op, operands, given, self._declared_type(at, entry), name)

    def _check_absent(self, at: str, op: str, operands: list[int]) -> None:
        """Only an optional operand may be left out."""
        signature = self.dialect.get(op) if self.dialect is not None else None
        k = None if signature is None else missing_operand(signature, tuple(operands))
        if signature is not None and k is not None:
            self.fail(
                f"{at}/inputs/{k}", f"`{op}` requires its operand `{signature.operands[k].name}`",
                "give the id of a node",
            )

    def _attributes(
        self, at: str, op: str, attrs: Attrs, operands: int, tolerant: bool
    ) -> Attrs:
        given: Attrs = {
            key: value if type(value) in (int, str, bool)
            else self._attribute(f"{at}/attrs/{escaped(key)}", value)
            for key, value in attrs.items()
        }
        signature = self.dialect.get(op) if self.dialect is not None else None
        if signature is not None:
            try:
                given = checked_attributes(signature, operands, given)
            except CallError as error:
                if tolerant:
                    self.graph.meta.setdefault("warnings", []).append(f"{self.file.path}:{at}: {error}")
                    return given or NO_ATTRS
                place = f"{at}/attrs/{escaped(error.attribute)}" if error.attribute else at
                self.fail(place, str(error))
        return given or NO_ATTRS

    def _projection(self, at: str, entry: JsonObject, operands: list[int], name: str) -> int:
        index = entry.get("index")
        if len(operands) != 1:
            self.fail(f"{at}/inputs", f"a projection has one input, not {len(operands)}")
        if type(index) is not int or index < 0:
            self.fail(
                f"{at}/index" if "index" in entry else at, f"`index` is a number from 0, not {_shown(index)}"
            )
        (base,) = operands
        whole, op = self.graph.types[base], self.graph.op[base]
        if isinstance(whole, TensorType) and op in LEAF_OPS.values():
            self.fail(f"{at}/inputs/0", f"a projection needs a tuple, `{entry['inputs'][0]}` is a tensor")
        fields = len(
            self.graph.operands[base] if op is TUPLE or not isinstance(whole, TupleType) else whole.fields
        )
        if (op is TUPLE or op in LEAF_OPS.values()) and index >= fields:
            self.fail(f"{at}/index", f"field {index} of a tuple with {fields} fields")
        return self.graph.add_proj(base, index, name, self._declared_type(at, entry))

    # ── types and attributes ────────────────────────────────────────────────────────────────────────────────

    def _declared_type(self, at: str, entry: JsonObject) -> Type | None:
        if "type" in entry:
            if "shape" in entry or "dtype" in entry:
                self.fail(f"{at}/type", "a node has either `type` or `shape` and `dtype`")
            return self._tuple_type(f"{at}/type", entry["type"])
        if "shape" in entry or "dtype" in entry:
            key = repr((entry.get("shape"), entry.get("dtype")))
            found = self.types.get(key)
            if found is None:
                found = self._tensor_type(at, {"shape": None, "dtype": None, **entry})
                if len(key) < _REPEATED:
                    self.types[key] = found
            return found
        return None

    def _tuple_type(self, at: str, fields: object) -> TupleType:
        if not isinstance(fields, list):
            self.fail(at, "expected a list of types, one for each field")
        result: list[Type | None] = []
        for k, field in enumerate(fields):
            place = f"{at}/{k}"
            if field is not None and not isinstance(field, dict):
                self.fail(place, f"expected an object with `shape` and `dtype`, got {_shown(field)}")
            if field is not None:
                self.file.check_keys(place, field, ("type",) if "type" in field else ("shape", "dtype"))
                field = (
                    self._declared_type(place, field) if "type" in field else self._tensor_type(place, field)
                )
            result.append(field)
        return TupleType(tuple(result))

    def _tensor_type(self, at: str, entry: JsonObject) -> TensorType:
        for key in ("shape", "dtype"):
            if key not in entry:
                self.fail(at, f"`{key}` is missing", "use null for an unknown type")
        dtype = entry["dtype"]
        if dtype is not None and not isinstance(dtype, str):
            self.fail(f"{at}/dtype", f"expected the name of a type, got {_shown(dtype)}")
        if dtype is not None and not dtype_exists(dtype):
            guess = did_you_mean(dtype, PLAIN)
            self.fail(
                f"{at}/dtype", f"unknown type `{dtype}`", f"did you mean `{guess}`?" if guess else ""
            )
        return TensorType(self._shape(f"{at}/shape", entry["shape"]), dtype)

    def _shape(self, at: str, shape: object) -> tuple[Dimension, ...] | None:
        if shape is None:
            return None
        if not isinstance(shape, list):
            self.fail(at, f"expected a list of dimensions, or null for an unknown rank, got {_shown(shape)}")
        return tuple([
            dim if type(dim) is int and 0 <= dim <= LARGEST_DIMENSION
            else self._dimension(f"{at}/{k}", dim)
            for k, dim in enumerate(shape)
        ])

    def _dimension(self, at: str, dim: object) -> Dimension:
        if dim is None:
            return UNKNOWN
        if isinstance(dim, str) and dim:
            return Symbol(dim)
        self.fail(at, f"a dimension is a number from 0 to 2^63 - 1, a name, or null, not {_shown(dim)}")

    def _attribute(self, at: str, value: object, depth: int = 0) -> object:
        if isinstance(value, list):
            if depth == _DEEPEST:
                self.fail(at, f"lists nested more than {_DEEPEST} levels deep")
            return tuple([self._attribute(f"{at}/{k}", item, depth + 1) for k, item in enumerate(value)])
        if not isinstance(value, dict):
            return value
        inner = value.get("tensor")
        if set(value) != {"tensor"} or not isinstance(inner, dict):
            self.fail(at, 'an attribute is a number, a string, a boolean, null, a list, or {"tensor": {…}}')
        self.file.check_keys(f"{at}/tensor", inner, ("shape", "dtype", "value"))
        type = self._tensor_type(f"{at}/tensor", inner)
        if "value" not in inner or inner["value"] is None:
            self.fail(f"{at}/tensor", "`value` is missing")
        if type.dtype not in PLAIN:
            why = f"a tensor attribute of type `{type.dtype}` cannot be represented"
            self.fail(f"{at}/tensor/dtype", why)
        return read_value(self.file, f"{at}/tensor/value", inner["value"], type)


def _shown(value: object) -> str:
    return cut_off(json.dumps(value, ensure_ascii=False))
