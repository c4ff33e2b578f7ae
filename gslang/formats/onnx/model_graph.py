"""Messages of ONNX models → graphs: leaves, values by name, nodes in terms of today's operators.

Bytes and paths are read by `reader`; what operators mean is in `gslang.dialect.onnx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from sys import intern
from typing import TYPE_CHECKING, Any, Final

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect, of_other_dialect
from gslang.dialect.onnx.attributes import attribute_value, captures_of, with_common_captures
from gslang.dialect.onnx.dtypes import type_of
from gslang.dialect.onnx.function_size import LocalFunctions
from gslang.dialect.onnx.infer import is_mistyped, operand_value
from gslang.dialect.onnx.schemas import operator_name
from gslang.dialect.onnx.static_types import StaticTypes
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.dialect.onnx.versions import VECTORS, history
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import TensorType, TupleType, Type
from gslang.evaluate.known_types import refiner
from gslang.formats.onnx.constants import held_value, number_of, stated_tensor
from gslang.formats.onnx.model_versions import imported_sets, plain_domain
from gslang.formats.onnx.normal_form import (
    changed_defaults,
    drop_meaningless,
    former_attributes,
    is_current,
    old_name,
    spell_values,
    unknown_at,
)
from gslang.formats.onnx.outside import inner_graph
from gslang.formats.onnx.provenance import PREFIX, stated_annotations, stated_origin
from gslang.formats.onnx.records import KEY, ModelRecord, NodeRecord
from gslang.formats.onnx.texts import refuse_bytes_among, refuse_bytes_in_attributes
from gslang.formats.onnx.types import inferred_types, is_complete, merged, stated_types
from gslang.graph.annotations import KEY as ANNOTATIONS
from gslang.graph.graph import ABSENT, NO_ATTRS, Graph
from gslang.graph.inference import infer_types
from gslang.graph.inner_graph import READ
from gslang.graph.known_calls import LOCAL_FUNCTION, opaque_name, unknown_parts, warning

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


class _Untyped(Exception):
    """A call whose type is not known without the `onnx` package."""


@dataclass(frozen=True, slots=True)
class _Head:
    """A call without its operands and results. `recurs`: nodes with equal attributes have the same one."""

    operator: str
    attrs: Mapping[str, object]
    unknown: tuple[str, ...]
    signature: Signature | None
    recurs: bool


_PLAIN_ATTRIBUTES: Final = frozenset({1, 2, 3, 6, 7, 8})  # numbers and texts (see `attributes`)


def graph_of(
    model: ModelProto, path: str, folder: str, dialect: Dialect | None, data: bytes | None = None
) -> Graph:
    """The graph of a message that stands for the file `path`; external data lies in `folder`. `data`: what it
    was read from. Raises `InputError`.
    """
    try:
        return _Reader(model, path, folder, dialect, data, own_types=True).graph
    except _Untyped:
        return _Reader(model, path, folder, dialect, data, own_types=False).graph


def read_message(
    model: ModelProto,
    path: str,
    folder: str,
    dialect: Dialect,
    taken: frozenset[str] = frozenset(),
    constants_are_nodes: bool = False,
) -> Graph:
    """The graph of a model in memory, as part of another one (see `ModelRecord`). Raises `InputError`."""
    graph = graph_of(model, path, folder, dialect)
    graph.meta[KEY] = replace(
        graph.meta[KEY], functions=LocalFunctions(), taken=taken, constants_are_nodes=constants_are_nodes
    )
    return graph


class _Reader:
    def __init__(
        self, model: ModelProto, path: str, folder: str, dialect: Dialect | None, data: bytes | None,
        own_types: bool,
    ) -> None:  # fmt: skip
        if dialect is None:
            dialect = load_dialect("onnx")
        if dialect.name != "onnx":
            raise of_other_dialect("ONNX models are", "onnx", dialect, path)
        self.model, self.path, self.folder, self.dialect = model, path, folder, dialect
        self.checks_texts = data is not None  # of a message in memory they are texts
        self.may_be_external = data is None or b"location" in data  # a key of what says where data are
        self.may_be_ours = data is None or PREFIX.encode() in data  # so begin the keys of what gslang notes
        self.opsets = imported_sets(model, path)
        self.graph = Graph("onnx", model.graph.name or "main")
        self.values: dict[str, int] = {}  # value name → node
        self.opaque: dict[str, None] = {}  # warnings about calls that say more than is declared
        if (stated := self.opsets.get("", 0)) > (known := history().latest):
            self.opaque[f"operator set {stated} is newer than {known}, whose operators are assumed"] = None
        self.parts: dict[str, tuple[int, int]] = {}  # result that nothing used yet → call, index
        self.heads: dict[tuple[object, ...], _Head] = {}
        self.functions = {(plain_domain(f.domain), f.name, f.overload) for f in model.functions}
        self.own = StaticTypes() if own_types and not model.functions else None
        self.types = stated_types(model) if self.own is not None else self._types()
        self.foreign = False
        self._leaves()
        for position, node in enumerate(model.graph.node[:]):
            self._node(position, node)
        self.graph.set_outputs(
            [self._value(v.name, partial("output `{}`".format, v.name)) for v in model.graph.output]
        )
        if self.foreign:
            # the package infers nothing for foreign domains and what it types wrongly, nor behind them
            infer_types(self.graph, self.dialect)
        if self.opaque:
            self.graph.meta["warnings"] = [*self.graph.meta.get("warnings", ()), *self.opaque]
        refiner(dialect)(self.graph)
        read = self.graph.output_uses.keys() | {node for node, users in enumerate(self.graph.users) if users}
        initializers = [t.name for t in model.graph.initializer]
        initializers += [s.values.name for s in model.graph.sparse_initializer]
        unused = frozenset([name for name in initializers if self.values[name] not in read])
        self.graph.meta["x-onnx-opsets"] = dict(self.opsets)
        self.graph.meta[KEY] = ModelRecord(
            model, folder, self.opsets, unused, path, self.may_be_external, LocalFunctions(model.functions)
        )
        self.graph.meta[READ] = partial(inner_graph, read_message, dialect)

    def fail(self, message: str, place: str = "", help: str = "") -> InputError:
        return InputError(message, path=self.path, place=place, help=help)

    def _types(self) -> dict[str, Type]:
        types, warning = inferred_types(self.model)
        if warning:
            self.graph.meta["warnings"] = [*self.graph.meta.get("warnings", ()), warning]
        return types

    def _leaves(self) -> None:
        graph, proto = self.graph, self.model.graph
        given = {tensor.name: OnnxTensor(tensor, self.folder, self.path) for tensor in proto.initializer}
        for tensor in given.values():
            if tensor.external:
                tensor.data_file()
        for value in proto.input:
            if value.name in self.values:
                raise self.fail(f"duplicate input `{value.name}`")
            if value.name not in given:
                node = graph.add_input(value.name, type_of(value.type))
            else:
                tensor = given.pop(value.name)
                type_ = TensorType(tensor.shape, tensor.element)
                node = graph.add_param(value.name, type_, held_value(tensor))
                graph.extras[node] = {KEY: NodeRecord(-1, None, None, tensor)}
            self.values[value.name] = node
        for name, tensor in given.items():
            held = number_of(tensor) or held_value(tensor)
            self.values[name] = node = graph.add_const(held, TensorType(tensor.shape, tensor.element), name)
            graph.extras[node] = {KEY: NodeRecord(-1, None, None, held or tensor)}
        for sparse in proto.sparse_initializer:
            name = sparse.values.name
            element = OnnxTensor(sparse.values).element
            if name not in self.values:
                self.values[name] = node = graph.add_const(
                    None, TensorType(tuple(sparse.dims), element), name
                )
                graph.extras[node] = {KEY: NodeRecord(-1, None, None, sparse)}

    def _value(self, name: str, reader: Callable[[], str]) -> int:
        """The node that makes a value; a result that is used for the first time gets its projection."""
        refuse_bytes_among((name,), self.path)
        node = self.values.get(name)
        if node is not None:
            return node
        if name in self.parts:
            call, index = self.parts[name]
            self.values[name] = node = self.graph.add_proj(call, index, name, self.types.get(name))
            return node
        guess = did_you_mean(name, [*self.values, *self.parts])
        later = any(name in node.output for node in self.model.graph.node)
        if later:
            raise self.fail(
                f"{reader()} reads `{name}`, which is produced by a later node",
                help="sort the nodes, operands first; a graph has no cycles",
            )
        raise self.fail(
            f"{reader()} reads `{name}`, which no node produces",
            help=f"did you mean `{guess}`?" if guess else "",
        )

    def _node(self, position: int, node: NodeProto) -> None:
        # slices: iterating over a repeated field of protobuf ends with an exception, which takes five times
        # as long
        names, outputs, attributes = node.input[:], node.output[:], node.attribute[:]
        operator, domain, values = node.op_type, node.domain, self.values
        reader = partial(_shown, position, node)
        operands: list[Any] = [values.get(name) for name in names]
        if None in operands or "" in names:
            operands = [self._value(name, reader) if name else ABSENT for name in names]
        for name in outputs:
            if type(name) is not str or name and (name in values or name in self.parts):
                refuse_bytes_among((name,), self.path)
                raise self.fail(
                    f"{reader()} produces `{name}`, which already exists",
                    help="each value must be produced exactly once"
                )
        if (
            operator == "Constant"
            and domain in ("", "ai.onnx")
            and len(outputs) == 1
            and not operands
            and ("", operator, node.overload) not in self.functions
            and self._constant(position, node)
        ):
            return
        while operands and operands[-1] == ABSENT:
            operands.pop()
        key = (operator, domain, len(operands), node.overload, *[a.SerializeToString() for a in attributes])
        head = self.heads.get(key)
        if head is None:
            head = self._head(position, node, operands, reader)
            if head.recurs:
                self.heads[key] = head
        call = self._call(head, operands, outputs, self._own_type(head, operands, outputs), reader)
        self.graph.extras[call] = {KEY: NodeRecord(position, node, head.attrs)}
        if self.may_be_ours:
            self._provenance(node, self.graph.extras[call])

    def _own_type(self, head: _Head, operands: list[int], outputs: list[str]) -> Type | None:
        """The type of a call that the model does not state as a whole; None where it does, or the package was
        asked.
        """
        stated = self.types
        if self.own is None or all([is_complete(stated.get(name)) for name in outputs if name]):
            return None
        types = self.graph.types
        own = self.own.of(head.operator, [types[o] if o >= 0 else None for o in operands], head.attrs)
        if own is None or len(outputs) != 1:
            raise _Untyped
        return own

    def _provenance(self, node: NodeProto, extras: dict[str, object]) -> None:
        if node.metadata_props:
            if (origin := stated_origin(node)) is not None:
                extras["origin"] = origin
            if attached := stated_annotations(node):
                extras[ANNOTATIONS] = attached

    def _head(
        self, position: int, node: NodeProto, operands: list[int], reader: Callable[[], str]
    ) -> _Head:
        """Operator and attributes of a node; `operands` get those that today's operator has besides."""
        refuse_bytes_among((node.op_type, node.domain), self.path)
        if not node.op_type:
            raise self.fail("the node has no operator", f"node {position}")
        if self.checks_texts:
            refuse_bytes_in_attributes(node, self.path)
        type, domain = node.op_type, node.domain
        unknown: list[str] = []
        operator = operator_name(domain, type)
        attrs: dict[str, object] = {a.name: attribute_value(a, type) for a in node.attribute}
        recurs = domain in ("", "ai.onnx") and all(
            [a.type in _PLAIN_ATTRIBUTES and not a.ref_attr_name for a in node.attribute]
        )
        opset = self.opsets.get(plain_domain(domain), 0)
        if self._is_ambiguous(operator, node):
            operator = opaque_name(operator, [LOCAL_FUNCTION])
        elif not node.overload:
            unknown = unknown_at(operator, opset, attrs, len(operands))
            recurs = recurs and is_current(operator, opset)
            operator = self._in_todays_terms(operator, node, attrs, operands)
        signature = self.dialect.get(operator)
        if attrs and captures_of(attrs.values()):
            attrs = with_common_captures(attrs, () if signature is None else signature.attributes)
            operands += [self._value(name, reader) for name in captures_of(attrs.values())]
        if signature is not None and (
            domain not in ("", "ai.onnx") or operator not in history().operators or signature.departs
        ):
            unknown = unknown_parts(signature, tuple(operands), attrs)
        return _Head(intern(operator), attrs or NO_ATTRS, tuple(unknown), signature, recurs)

    def _is_ambiguous(self, operator: str, node: NodeProto) -> bool:
        """True for a call of an operator that is a local function too: which of them is meant is left to the
        runtimes (`ModelProto.functions` of the specification).

        An operator that the user declares is the function.
        """
        if not node.overload and (plain_domain(node.domain), node.op_type, "") not in self.functions:
            return False
        if self.dialect.get(operator) is None and operator not in history().operators:
            return False
        if any([signature.name == operator for signature in self.dialect.added]):
            return False
        self.opaque[
            f"`{operator}` is an operator, and the model has a local function of this name: which of them is "
            "called depends on the runtime; such calls are preserved"
        ] = None
        return True

    def _call(
        self,
        head: _Head,
        operands: list[int],
        outputs: list[str],
        own: Type | None,
        reader: Callable[[], str],
    ) -> int:
        """Add a call, which is returned, and note its results; `own`: its type, where that was not asked of
        the package.
        """
        graph, signature, types = self.graph, head.signature, self.types
        if signature.results != "tensor" if signature is not None else len(outputs) > 1:
            fields = tuple([types.get(name) for name in outputs])
            if own is not None:
                types[outputs[0]] = own = merged(own, fields[0]) or own
                fields = (own,)
            call = graph.add(head.operator, operands, head.attrs, TupleType(_padded(fields, signature)), None)
            self.parts.update((name, (call, k)) for k, name in enumerate(outputs) if name)
        else:
            name = outputs[0] if outputs else ""
            stated = types.get(name)
            call = graph.add(
                head.operator,
                operands,
                head.attrs,
                stated if own is None else own if stated is None else merged(own, stated),
                name or None,
            )
            if name:
                self.values[name] = call
            if len(outputs) > 1:
                raise self.fail(
                    f"{reader()} has {len(outputs)} results (`{outputs[1]}`), its operator has one"
                )
        if head.unknown and signature is not None:
            graph.op[call] = intern(opaque_name(head.operator, head.unknown))
            self.opaque.update((warning(signature, len(operands), part), None) for part in head.unknown)
        self.foreign = self.foreign or is_mistyped(head.operator, head.attrs) or (
            "." in head.operator and head.operator in self.dialect.infer
        )
        return call

    def _constant(self, position: int, node: NodeProto) -> bool:
        """A `Constant` node as a constant; False for one that is not understood (it stays a call)."""
        tensor = stated_tensor(node, self.folder, self.path)
        if tensor is None or not node.output[0]:
            return False
        if tensor.external:
            tensor.data_file()
        name = node.output[0]
        held = number_of(tensor) or held_value(tensor)
        self.values[name] = made = self.graph.add_const(held, TensorType(tensor.shape, tensor.element), name)
        self.graph.extras[made] = {KEY: NodeRecord(position, node, None, held or tensor)}
        return True

    def _in_todays_terms(
        self, operator: str, node: NodeProto, attrs: dict[str, object], operands: list[int]
    ) -> str:
        """The operator's name; attributes that are operands today become constants, defaults that have
        changed are stated.
        """
        graph, opset = self.graph, self.opsets.get(plain_domain(node.domain), 0)

        def type_of_operand(k: int) -> Type | None:
            return graph.types[operands[k]] if k < len(operands) and operands[k] >= 0 else None

        if attrs and any([attribute.ref_attr_name for attribute in node.attribute]):
            # what it does depends on who calls the function that it is in
            return f"ai.onnx.v{opset}.{operator}"
        if is_current(operator, opset):
            return operator
        own = old_name(operator, opset, node, attrs, type_of_operand)
        if own is not None:
            return own
        for place, value in former_attributes(operator, opset, attrs):
            if not all(
                [isinstance(part, (int, float)) for part in (value if isinstance(value, tuple) else (value,))]
            ):
                what = self.dialect.operators[operator].operands[place].name
                raise self.fail(
                    f"`{what}` of `{operator}` is neither a number nor a list of numbers",
                    f"node `{node.name}`" * bool(node.name), "the file is damaged",
                )
            operands += [ABSENT] * (place + 1 - len(operands))
            if operands[place] == ABSENT:
                vector = (operator, self.dialect.operators[operator].operands[place].name) in VECTORS
                operands[place] = self._former_attribute((value,) if vector else value, type_of_operand(0))
        if not drop_meaningless(operator, opset, attrs):
            return f"ai.onnx.v{opset}.{operator}"
        attrs.update(changed_defaults(operator, opset, attrs, self.dialect.get(operator)))
        spell_values(operator, opset, attrs)
        return operator

    def _former_attribute(self, value: object, first: Type | None) -> int:
        tensor = OnnxTensor(operand_value(value, first))
        made = self.graph.add_const(tensor, TensorType(tensor.shape, tensor.element))
        self.graph.extras[made] = {KEY: NodeRecord(-1, None, None, tensor, attribute=True)}
        return made


def _shown(position: int, node: NodeProto) -> str:
    return (
        f"node {position}" + (f" `{node.name}`" if node.name else "")
        + f" ({operator_name(node.domain, node.op_type)})"
    )


def _padded(types: tuple[Type | None, ...], signature: Signature | None) -> tuple[Type | None, ...]:
    """Omitted results at the end have fields too."""
    if signature is None or isinstance(signature.results, str):
        return types
    return types + (None,) * (len(signature.results) - len(types))
