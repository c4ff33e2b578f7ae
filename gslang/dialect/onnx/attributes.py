"""Attributes of ONNX nodes ↔ plain values: numbers, texts, tuples, tensors as handles, graphs as `Body`.

What rules cannot look into (graphs, sparse tensors, types) is kept as its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.onnx.body_meaning import body_meaning
from gslang.dialect.onnx.dtypes import DTYPES, dtype_name, element_type
from gslang.dialect.onnx.messages import messages
from gslang.dialect.onnx.tensors import OnnxTensor, tensor_message

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto


@dataclass(frozen=True, slots=True)
class Body:
    """A graph in an attribute.

    `captures`: values of the outer graph that the bodies of its call read; those that it reads itself are
    among them (see `with_common_captures`).
    """

    data: bytes
    captures: tuple[str, ...]

    def message(self) -> Any:
        return messages().GraphProto.FromString(self.data)

    def calls(self) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """The calls in the graph and in graphs inside it: operators with the attributes that they state.
        Constants are none."""
        return _calls(self)

    @property
    def meaning(self) -> bytes:
        """Equal for bodies that compute the same of the same operands, whatever the names in them are."""
        return body_meaning(self.data, self.captures)

    def __repr__(self) -> str:
        return f"Body({len(self.data)} bytes, captures {list(self.captures)})"


@lru_cache(maxsize=1024)
def _calls(body: Body) -> tuple[tuple[str, Mapping[str, object]], ...]:
    from gslang.dialect.onnx.schemas import operator_name

    found: list[tuple[str, Mapping[str, object]]] = []
    stack = [body.message()]
    while stack:
        inner: list[Any] = []
        for node in stack.pop().node:
            if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
                own = [
                    attribute
                    for attribute in node.attribute
                    if not attribute.HasField("g") and not attribute.graphs
                ]
                found.append(
                    (
                        operator_name(node.domain, node.op_type),
                        {attribute.name: attribute_value(attribute, node.op_type) for attribute in own},
                    )
                )
            inner += graphs_of(node)
        stack += reversed(inner)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Opaque:
    """An attribute that is only carried: the bytes of its `AttributeProto`."""

    data: bytes


# bodies inside each other; files have at most about 30, protobuf reads no deeper messages
DEEPEST: Final = 50


def body_of(graph: GraphProto) -> Body:
    """A graph of an attribute. Raises `InputError` where bodies are nested too deeply."""
    level = [graph]
    for _ in range(DEEPEST):
        level = [inner for outer in level for node in outer.node for inner in graphs_of(node)]
        if not level:
            break
    else:
        raise InputError(
            f"bodies are nested more than {DEEPEST} deep", help="no ONNX file holds such a model"
        )
    return Body(graph.SerializeToString(deterministic=True), tuple(free_names(graph)))


def free_names(graph: GraphProto) -> dict[str, None]:
    """Names that a body uses and does not define, in the order of their first use.

    (Bodies nest at most `DEEPEST` deep.)
    """
    defined = (
        {v.name for v in graph.input} | {t.name for t in graph.initializer}
        | {t.values.name for t in graph.sparse_initializer}
    )
    free: dict[str, None] = {}
    for node in graph.node:
        names = list(node.input)
        for inner in graphs_of(node):
            names += free_names(inner)
        free.update((name, None) for name in names if name and name not in defined)
        defined.update(node.output)
    free.update((v.name, None) for v in graph.output if v.name and v.name not in defined)
    return free


# types of attributes that hold numbers and texts only, by `AttributeProto.AttributeType`
_PLAIN: Final = frozenset({1, 2, 3, 6, 7, 8})


def graphs_of(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs among a node's attributes, in order."""
    for attribute in node.attribute[:]:
        if attribute.type not in _PLAIN:
            if attribute.HasField("g"):
                yield attribute.g
            yield from attribute.graphs


def all_names(graph: GraphProto) -> set[str]:
    """Every name of a value or a node in a graph and its bodies."""
    names = {value.name for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer)}
    names.update([sparse.values.name for sparse in graph.sparse_initializer])
    for node in graph.node[:]:
        names.update(node.input[:], node.output[:], (node.name,))
        if node.attribute:
            for inner in graphs_of(node):
                names |= all_names(inner)
    return names


def rename_captures(graph: GraphProto, now: Mapping[str, str]) -> None:
    """Let a body (in place) read other outer values."""
    defined = (
        {v.name for v in graph.input} | {t.name for t in graph.initializer}
        | {o for n in graph.node for o in n.output}
    )
    left = {old: new for old, new in now.items() if old not in defined}
    if not left:
        return
    for node in graph.node:
        for k, name in enumerate(node.input):
            if name in left:
                node.input[k] = left[name]
        for inner in graphs_of(node):
            rename_captures(inner, left)
    for value in graph.output:
        value.name = left.get(value.name, value.name)


def rename_in_bodies(node: NodeProto, now: Mapping[str, str]) -> None:
    """Let the bodies among a node's attributes (in place) read other outer values."""
    if now:
        for body in graphs_of(node):
            rename_captures(body, now)


def with_common_captures(attrs: Mapping[str, object], declared: Iterable[str]) -> dict[str, object]:
    """The attributes of a call in the order of its declaration; each of its bodies tells what all of them
    read, in the order of their first use.

    So the last operands of a call mean the same to its bodies, whichever of them a rule exchanges or drops.
    """
    place = {name: k for k, name in enumerate(declared)}
    ordered = {name: attrs[name] for name in sorted(attrs, key=lambda name: place.get(name, len(place)))}
    captures = captures_of(ordered.values())

    def told(value: object) -> object:
        if isinstance(value, tuple):
            return tuple([told(item) for item in value])
        return Body(value.data, captures) if isinstance(value, Body) else value

    return {name: told(value) for name, value in ordered.items()}


def captures_of(values: Iterable[object]) -> tuple[str, ...]:
    """The outer values that the bodies among some attribute values read; these are the call's last
    operands."""
    found: dict[str, None] = {}
    for value in values:
        for body in value if isinstance(value, tuple) else (value,):
            if isinstance(body, Body):
                found.update((name, None) for name in body.captures)
    return tuple(found)


def attribute_value(attribute: AttributeProto, operator: str) -> object:
    """The plain value of an `AttributeProto`."""
    read = _READERS.get(attribute.type)
    if read is None or attribute.ref_attr_name:
        return Opaque(attribute.SerializeToString(deterministic=True))
    if attribute.type == _INT and (operator, attribute.name) in DTYPES:
        return dtype_name(attribute.i) or attribute.i
    return read(attribute)


_INT: Final = 2
_READERS: Final[Mapping[int, Callable[[AttributeProto], object]]] = {
    # By `AttributeProto.AttributeType`, whose numbers are part of the file format: asking protobuf for them
    # costs more than reading.
    1: lambda attribute: attribute.f,
    _INT: lambda attribute: attribute.i,
    3: lambda attribute: attribute.s.decode("utf-8", "surrogateescape"),
    4: lambda attribute: OnnxTensor(attribute.t),
    5: lambda attribute: body_of(attribute.g),
    6: lambda attribute: tuple(attribute.floats),
    7: lambda attribute: tuple(attribute.ints),
    8: lambda attribute: tuple([text.decode("utf-8", "surrogateescape") for text in attribute.strings]),
    9: lambda attribute: tuple([OnnxTensor(t) for t in attribute.tensors]),
    10: lambda attribute: tuple([body_of(g) for g in attribute.graphs]),
}


def attribute_message(name: str, value: object, operator: str, kind: str | None = None) -> Any:
    """The `AttributeProto` of a value; `kind` (`FLOATS`, …) is what the schema declares.

    Raises `InputError`.
    """
    AttributeProto = messages().AttributeProto
    if isinstance(value, Opaque):
        return AttributeProto.FromString(value.data)
    if (operator, name) in DTYPES and isinstance(value, str):
        try:
            value = element_type(value)
        except KeyError:
            raise InputError(f"attribute `{name}` of `{operator}`: ONNX has no type `{value}`") from None
    message = AttributeProto(name=name)
    if kind is not None:
        message.type = AttributeProto.AttributeType.Value(kind)
    try:
        match value:
            case Body():
                return _message(name, value.message())
            case OnnxTensor():
                return _message(name, value.message)
            case bool():
                return _message(name, int(value))
            case float() | int() | str() if kind == "FLOAT" or kind is None or not isinstance(value, int):
                stored = float(value) if kind == "FLOAT" else value
                return _message(name, _bytes(stored))
            case tuple() if any(isinstance(item, Body) for item in value):
                return _message(name, [item.message() for item in value])
            case tuple() if any(isinstance(item, OnnxTensor) for item in value):
                return _message(name, [item.message for item in value])
            case tuple() if kind == "FLOATS":
                message.floats.extend(float(item) for item in value)
                return message
            case tuple() if not value:
                message.type = message.type or AttributeProto.INTS
                return message
            case tuple():
                return _message(name, [_bytes(item) for item in value])
            case int():
                return _message(name, value)
        if hasattr(value, "dtype"):
            return _message(name, tensor_message(value, None, ""))
    except (TypeError, ValueError) as error:
        raise InputError(f"attribute `{name}` of `{operator}` cannot be written: {error}") from None
    raise InputError(f"attribute `{name}` of `{operator}` cannot be written: {value!r}")


_PLACES: Final = {
    float: ("FLOAT", "f"),
    int: ("INT", "i"),
    bytes: ("STRING", "s"),
    "TensorProto": ("TENSOR", "t"),
    "GraphProto": ("GRAPH", "g"),
}
_LISTS: Final = {
    float: ("FLOATS", "floats"), int: ("INTS", "ints"), bytes: ("STRINGS", "strings"),
    "TensorProto": ("TENSORS", "tensors"),
    "GraphProto": ("GRAPHS", "graphs"),
}  # fmt: skip


def _message(name: str, value: object) -> Any:
    """The `AttributeProto` of numbers, bytes and messages. Integers among floats are floats.

    Raises `TypeError`, `ValueError`.
    """
    items = value if isinstance(value, list) else [value]
    kinds: set[Any] = {
        type(item) if isinstance(item, (int, float, bytes)) else type(item).__name__ for item in items
    }
    kinds = {float} if kinds == {float, int} else kinds
    kind = kinds.pop()
    if kinds or kind not in _PLACES:
        from onnx import helper

        return helper.make_attribute(name, value)
    message = messages().AttributeProto(name=name)
    type_name, field = (_LISTS if isinstance(value, list) else _PLACES)[kind]
    message.type = message.AttributeType.Value(type_name)
    if isinstance(value, list):
        getattr(message, field).extend([float(item) for item in value] if kind is float else value)
    elif isinstance(kind, str):
        getattr(message, field).CopyFrom(value)
    else:
        setattr(message, field, value)
    return message


def _bytes(value: object) -> object:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def with_bodies(message: Any, now: Any, before: Any) -> Any:
    """The message with other bodies; None if more has changed than these."""
    other = {name: value for name, value in now.items() if value != before.get(name)}
    if set(now) != set(before) or not all(
        isinstance(part, Body) for v in other.values() for part in (v if isinstance(v, tuple) else (v,))
    ):
        return None
    changed = type(message)()
    changed.CopyFrom(message)
    for attribute in changed.attribute:
        value = other.get(attribute.name)
        if isinstance(value, Body):
            attribute.g.ParseFromString(value.data)
        elif isinstance(value, tuple):
            for place, body in enumerate(value):
                attribute.graphs[place].ParseFromString(body.data)
    return changed
