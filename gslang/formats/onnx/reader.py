"""ONNX models → graphs. External data is not loaded, only checked to lie in the model's folder.

Not here: writing (`writer`), what operators mean (`gslang.dialect.onnx`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

from gslang.base.diagnostics import InputError
from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx import needs_onnx
from gslang.dialect.onnx.attributes import attribute_value, captures_of
from gslang.dialect.onnx.dtypes import type_of
from gslang.dialect.onnx.infer import operand_value
from gslang.dialect.onnx.schemas import operator_name
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.dialect.onnx.versions import VECTORS
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import TensorType, TupleType, Type
from gslang.evaluate.known_types import refiner
from gslang.formats.onnx.normal_form import (
    changed_defaults,
    drop_meaningless,
    former_attributes,
    is_current,
    old_name,
    spelled_type,
    unknown_at,
)
from gslang.formats.onnx.provenance import stated_annotations, stated_origin
from gslang.formats.onnx.records import KEY, ModelRecord, NodeRecord
from gslang.formats.onnx.texts import refuse_bytes, refuse_bytes_among
from gslang.formats.onnx.types import inferred_types
from gslang.graph.annotations import KEY as ANNOTATIONS
from gslang.graph.graph import ABSENT, NO_ATTRS, Graph
from gslang.graph.inference import infer_types
from gslang.graph.known_calls import opaque_name, unknown_parts, warning

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto


def read_onnx(source: Any, dialect: Dialect | None = None) -> Graph:
    """The graph of a model: a path, or a `ModelProto`. `dialect` may have operators of the user's own.

    Raises `InputError` for a file that is no model or a damaged one.
    """
    if isinstance(source, (str, Path)):
        try:
            data = Path(source).read_bytes()
        except OSError as error:
            raise InputError((error.strerror or str(error)).lower(), path=str(source)) from None
        return read_onnx_bytes(data, str(source), dialect)
    return _Reader(source, "", "", dialect).graph


def read_model(model: ModelProto, path: str, folder: str, dialect: Dialect) -> Graph:
    """The graph of a model in memory that stands for the file `path`; external data lies in `folder`.

    Raises `InputError`.
    """
    return _Reader(model, path, folder, dialect).graph


def read_message(
    model: ModelProto,
    path: str,
    folder: str,
    dialect: Dialect,
    taken: frozenset[str] = frozenset(),
    constants_are_nodes: bool = False,
) -> Graph:
    """The graph of a model in memory, as part of another one (see `ModelRecord`). Raises `InputError`."""
    graph = _Reader(model, path, folder, dialect).graph
    graph.meta[KEY] = replace(
        graph.meta[KEY], functions=(), taken=taken, constants_are_nodes=constants_are_nodes
    )
    return graph


def read_onnx_bytes(data: bytes, path: str, dialect: Dialect | None = None) -> Graph:
    """The graph of a serialized model; external data lies in the folder of `path`. Raises `InputError`."""
    try:
        import onnx
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    except ImportError:
        raise needs_onnx(path) from None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, RuntimeError, ValueError) as error:
        help = "the file is damaged or cut off, or its subgraphs are more than about 30 deep"
        raise InputError(f"this is not an ONNX model: {error}", path=path, help=help) from None
    if not model.HasField("graph"):
        raise InputError(
            "this is not an ONNX model: it has no graph", path=path, help="is the file complete?"
        )
    refuse_bytes(model, path)
    return _Reader(model, path, str(Path(path).parent), dialect).graph


class _Reader:
    def __init__(self, model: ModelProto, path: str, folder: str, dialect: Dialect | None) -> None:
        if dialect is None:
            from gslang.dialect.load import load_dialect

            dialect = load_dialect("onnx")
        if dialect.name != "onnx":
            raise InputError(
                f"ONNX models are of dialect `onnx`, the rules are of dialect `{dialect.name}`", path=path,
                help="`dialect onnx;`",
            )
        self.model, self.path, self.folder, self.dialect = model, path, folder, dialect
        self.opsets = _opsets(model, path)
        self.graph = Graph("onnx", model.graph.name or "main")
        self.values: dict[str, int] = {}  # value name → node
        self.opaque: dict[str, None] = {}  # warnings about calls that say more than is declared
        self.parts: dict[str, tuple[int, int]] = {}  # result that nothing used yet → call, index
        self.types = self._types()
        used: set[str] = set()
        self._leaves()
        for position, node in enumerate(model.graph.node):
            self._node(position, node, used)
        outputs = [
            self._value(v.name, partial("output `{}`".format, v.name), used) for v in model.graph.output
        ]
        self.graph.set_outputs(outputs)
        if any(
            node.domain not in ("", "ai.onnx")
            and operator_name(node.domain, node.op_type) in self.dialect.infer
            for node in model.graph.node
        ):
            # the package infers nothing for foreign domains, nor behind them
            infer_types(self.graph, self.dialect)
        if self.opaque:
            self.graph.meta["warnings"] = [*self.graph.meta.get("warnings", ()), *self.opaque]
        refiner(dialect)(self.graph)
        unused = frozenset(_initializer_names(model.graph)) - used
        self.graph.meta["x-onnx-opsets"] = dict(self.opsets)
        self.graph.meta[KEY] = ModelRecord(model, folder, self.opsets, unused, path)

    def fail(self, message: str, place: str = "", help: str = "") -> InputError:
        return InputError(message, path=self.path, place=place, help=help)

    def _types(self) -> dict[str, Type]:
        types, warning = inferred_types(self.model)
        if warning:
            self.graph.meta["warnings"] = [*self.graph.meta.get("warnings", ()), warning]
        return types

    def _leaves(self) -> None:
        graph, proto = self.graph, self.model.graph
        given = {tensor.name: OnnxTensor(tensor, self.folder) for tensor in proto.initializer}
        for tensor in given.values():
            if tensor.external:
                self._check_place(tensor)
        for value in proto.input:
            if value.name in self.values:
                raise self.fail(f"duplicate input `{value.name}`")
            if value.name not in given:
                node = graph.add_input(value.name, type_of(value.type))
            else:
                tensor = given.pop(value.name)
                node = graph.add_param(value.name, TensorType(tensor.shape, tensor.element), _held(tensor))
                graph.extras[node] = {KEY: NodeRecord(-1, None, None, tensor)}
            self.values[value.name] = node
        for name, tensor in given.items():
            self.values[name] = node = graph.add_const(
                _held(tensor), TensorType(tensor.shape, tensor.element), name
            )
            graph.extras[node] = {KEY: NodeRecord(-1, None, None, tensor)}
        for sparse in proto.sparse_initializer:
            name = sparse.values.name
            element = OnnxTensor(sparse.values).element
            if name not in self.values:
                self.values[name] = node = graph.add_const(
                    None, TensorType(tuple(sparse.dims), element), name
                )
                graph.extras[node] = {KEY: NodeRecord(-1, None, None, sparse)}

    def _check_place(self, tensor: OnnxTensor) -> None:
        try:
            tensor.data_file()
        except InputError as error:
            raise InputError(error.message, path=self.path, help=error.help) from None

    def _value(self, name: str, reader: Callable[[], str], used: set[str]) -> int:
        """The node that makes a value; a result that is used for the first time gets its projection."""
        used.add(name)
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
                help="sort the nodes: operands first"
            )
        raise self.fail(
            f"{reader()} reads `{name}`, which no node produces",
            help=f"did you mean `{guess}`?" if guess else "",
        )

    def _node(self, position: int, node: NodeProto, used: set[str]) -> None:
        type, domain, inputs, outputs = node.op_type, node.domain, list(node.input), list(node.output)
        refuse_bytes_among((type, domain, *inputs, *outputs), self.path)
        operator = operator_name(domain, type)
        reader = partial(_shown, position, node)
        if not type:
            raise self.fail("the node has no operator", f"node {position}")
        for name in outputs:
            if name and (name in self.values or name in self.parts):
                raise self.fail(
                    f"{reader()} produces `{name}`, which already exists",
                    help="each value must be produced exactly once"
                )
        if (
            type == "Constant" and operator == type and len(outputs) == 1 and not inputs
            and self._constant(position, node)
        ):
            return
        attrs: dict[str, Any] = {a.name: attribute_value(a, type) for a in node.attribute}
        unknown: list[str] = []
        operands = [self._value(name, reader, used) if name else ABSENT for name in inputs]
        while operands and operands[-1] == ABSENT:
            operands.pop()
        if not node.overload:
            unknown = unknown_at(operator, self.opsets.get(_domain(domain), 0), attrs, len(operands))
            operator = self._in_todays_terms(operator, node, attrs, operands)
        if attrs:
            operands += [self._value(name, reader, used) for name in captures_of(attrs.values())]
        signature = self.dialect.get(operator)
        if signature is not None and domain not in ("", "ai.onnx"):
            unknown = unknown_parts(signature, tuple(operands), attrs)
        several = signature.results != "tensor" if signature is not None else len(outputs) > 1
        kept = attrs or NO_ATTRS
        record = NodeRecord(position, node, kept)
        if not several:
            name = next(iter(outputs), "")
            call = self.graph.add(operator, operands, kept, self.types.get(name), name or None)
            if name:
                self.values[name] = call
            if len(outputs) > 1:
                raise self.fail(
                    f"{reader()} has {len(outputs)} results (`{outputs[1]}`), its operator has one"
                )
        else:
            types = tuple([self.types.get(name) for name in outputs])
            call = self.graph.add(operator, operands, kept, TupleType(_padded(types, signature)), None)
            self.parts.update((name, (call, k)) for k, name in enumerate(outputs) if name)
        if unknown and signature is not None:
            self.graph.op[call] = intern(opaque_name(operator, unknown))
            self.opaque.update((warning(signature, len(operands), part), None) for part in unknown)
        self.graph.extras[call] = {KEY: record}
        if node.metadata_props and (origin := stated_origin(node)) is not None:
            self.graph.extras[call]["origin"] = origin
        if node.metadata_props and (attached := stated_annotations(node)):
            self.graph.extras[call][ANNOTATIONS] = attached

    def _constant(self, position: int, node: NodeProto) -> bool:
        """A `Constant` node as a constant; False for one that is not understood (it stays a call)."""
        from onnx import TensorProto, helper

        if len(node.attribute) != 1 or not node.output[0]:
            return False
        attribute = node.attribute[0]
        match attribute.name:
            case "value" if attribute.HasField("t"):
                tensor = OnnxTensor(attribute.t, self.folder)
                if tensor.external:
                    self._check_place(tensor)
            case "value_float":
                tensor = OnnxTensor(helper.make_tensor("", TensorProto.FLOAT, (), [attribute.f]))
            case "value_floats":
                tensor = OnnxTensor(
                    helper.make_tensor("", TensorProto.FLOAT, (len(attribute.floats),), attribute.floats)
                )
            case "value_int":
                tensor = OnnxTensor(helper.make_tensor("", TensorProto.INT64, (), [attribute.i]))
            case "value_ints":
                tensor = OnnxTensor(
                    helper.make_tensor("", TensorProto.INT64, (len(attribute.ints),), attribute.ints)
                )
            case _:
                return False
        name = node.output[0]
        held = _held(tensor)
        self.values[name] = made = self.graph.add_const(held, TensorType(tensor.shape, tensor.element), name)
        self.graph.extras[made] = {KEY: NodeRecord(position, node, None, tensor)}
        return True

    def _in_todays_terms(
        self, operator: str, node: NodeProto, attrs: dict[str, Any], operands: list[int]
    ) -> str:
        """The operator's name; attributes that are operands today become constants, defaults that have
        changed are stated.
        """
        graph, opset = self.graph, self.opsets.get(_domain(node.domain), 0)

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
        spelled_type(operator, opset, attrs)
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


def _held(tensor: OnnxTensor) -> OnnxTensor | None:
    """The value that the graph keeps: None for types for which NumPy has no numbers."""
    return None if tensor.dtype is None else tensor


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _opsets(model: ModelProto, path: str) -> dict[str, int]:
    found = {_domain(entry.domain): entry.version for entry in model.opset_import}
    if not found:
        if model.ir_version >= 3:
            help = "the version of its operators is unknown; `onnx.checker` reports the same"
            raise InputError("the model imports no operator set", path=path, help=help)
        found[""] = 1
    return found


def _initializer_names(graph: GraphProto) -> list[str]:
    return [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
