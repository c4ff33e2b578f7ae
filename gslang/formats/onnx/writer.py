"""Graphs → ONNX models: nodes that nobody touched are their old messages, new ones are written for the
model's operator sets.

Not here: names (`names`), new nodes in older versions' terms (`new_node`), new constants (`new_tensor`),
where large tensors go (`external`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslang.base.atomic_write import together, write_atomically, write_beside
from gslang.base.collection import no_collection
from gslang.base.diagnostics import InputError
from gslang.base.file_errors import reason_of
from gslang.dialect.onnx import needs_onnx
from gslang.dialect.onnx.attributes import (
    attribute_message,
    captures_of,
    free_names,
    graphs_of,
    rename_in_bodies,
    with_bodies,
)
from gslang.dialect.onnx.dtypes import type_message
from gslang.dialect.onnx.messages import messages
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.dialect.onnx.versions import OPSETS
from gslang.dialect.tensor_type import TupleType
from gslang.formats.onnx.external import Pending, placed
from gslang.formats.onnx.model_versions import import_operator_sets, raise_ir_version
from gslang.formats.onnx.names import Names
from gslang.formats.onnx.new_node import NodeMaker
from gslang.formats.onnx.new_tensor import new_tensor
from gslang.formats.onnx.records import KEY, NodeRecord, model_record, node_record
from gslang.formats.onnx.texts import encoded_text
from gslang.formats.onnx.types import refuse_unknown_type
from gslang.formats.onnx.wire import add_nodes
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.graph.known_calls import true_name

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

def write_onnx(graph: Graph, path: str | Path, external: str = "keep") -> None:
    """Write a model. `external` data may be kept (copied if the folder is another), copied beside, or
    inlined.

    Raises `InputError`. The model appears when it is complete, after its data.
    """
    target = Path(path)
    try:
        with no_collection():
            model, pending = _written(graph, deferred=True)
        data = placed(model, model_record(graph), target, external, pending)
        with together():  # both are complete before the first appears
            if data is None:
                _write_model(model, target)
            # the model that is there may refer to the data that are there
            elif data.path.is_file() and target.is_file():
                side = data.path.with_name(f"{data.path.name}.{os.urandom(4).hex()}")
                names = iter((side.name, data.path.name))
                write_beside(
                    side, data.path, data.write,
                    lambda: _write_model(model, target, data.tensors, next(names)),
                )
            else:
                write_atomically(data.path, data.write)
                _write_model(model, target)
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", path=str(path)) from None
    except InputError as error:
        raise error if error.path else InputError(error.message, path=str(path), help=error.help) from None


def _write_model(
    model: ModelProto, target: Path, tensors: Sequence[OnnxTensor] = (), location: str = ""
) -> None:
    """Write the message, `tensors` referring to the data file `location`."""
    for tensor in tensors:
        tensor.message.external_data[0].value = location
    write_atomically(target, lambda file: file.write(_serialized(model, target)))


def _serialized(model: ModelProto, path: Path) -> bytes:
    try:
        data: bytes = model.SerializeToString(deterministic=True)
        return data
    except Exception as error:  # protobuf's various errors for messages over 2 GB
        raise InputError(f"cannot be written: {error}", path=str(path), help="--external copy") from None


def onnx_model(graph: Graph) -> ModelProto:
    """The `ModelProto` of a graph of dialect `onnx`; external data is referred to as it was.

    Raises `InputError`.
    """
    return _written(graph, deferred=False)[0]


def _written(graph: Graph, deferred: bool) -> tuple[ModelProto, dict[str, Pending]]:
    """The model; with `deferred` without the data of large new tensors, which are told by name."""
    try:
        model = messages().ModelProto()
    except ImportError:
        raise needs_onnx() from None
    if graph.dialect != "onnx":
        raise InputError(f"a graph of dialect `{graph.dialect}` cannot be an ONNX model", help="use .json")
    record = model_record(graph)
    if record is None:
        import onnx

        model.ir_version = min(onnx.IR_VERSION, 10)
        model.producer_name = "gslang"
        opsets = graph.meta.get("x-onnx-opsets") or {"": onnx.defs.onnx_opset_version()}
        model.opset_import.extend(
            onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()
        )
        model.graph.name = graph.name
    else:
        for field, value in record.message.ListFields():
            if field.name not in ("graph", "functions"):
                _copy_field(model, field, value)
        model.functions.extend(record.functions.messages)
        import_operator_sets(model, graph.meta.get(OPSETS, {}))
    writer = _Writer(graph, model, deferred)
    writer.write()
    stated = {value.name for value in model.graph.input}
    raise_ir_version(model, any(tensor.name not in stated for tensor in writer.new_tensors))
    return model, writer.pending or {}


def _copy_field(target: Any, field: Any, value: Any) -> None:
    if hasattr(value, "ListFields"):
        getattr(target, field.name).CopyFrom(value)
    elif hasattr(value, "extend"):
        getattr(target, field.name).extend(value)
    # no UTF-8, as in the file: protobuf takes it in no other way
    elif isinstance(value, bytes) and field.type == field.TYPE_STRING:
        target.MergeFromString(encoded_text(field.number, value))
    else:
        setattr(target, field.name, value)


class _Writer:
    def __init__(self, graph: Graph, model: ModelProto, deferred: bool) -> None:
        self.graph, self.model = graph, model
        self.pending: dict[str, Pending] | None = {} if deferred else None
        self.record = model_record(graph)
        self.names = Names(graph)
        self.maker = NodeMaker(graph, model, self.names)
        self.nodes: list[NodeProto | bytes] = []  # new ones as bytes, most of them
        self.new_tensors: list[TensorProto] = []
        # a constant that stands for an attribute was written, in case that somebody reads it
        self.may_be_unread = False
        self.new_constants: set[str] = set()  # what those nodes make

    def write(self) -> None:
        for node in self._emission():
            self._node(node)
        self._drop_unread()
        for node, name in self.names.identities:
            self.nodes.append(
                messages().NodeProto(
                    op_type="Identity",
                    name=self.names.fresh("Identity"),
                    input=[self.names.of[node]],
                    output=[name],
                )
            )
        old = None if self.record is None else self.record.message.graph
        if old is None:
            self._new_graph()
        else:
            self._old_graph(old)

    def _drop_unread(self) -> None:
        """New constants that nothing reads go: what the model's version has as attributes."""
        if not (self.may_be_unread or self.maker.drops_constants):
            return
        made = [
            messages().NodeProto.FromString(node) if isinstance(node, bytes) else node for node in self.nodes
        ]
        read = {name for node in made for name in node.input[:]} | {
            self.names.of[n] for n in self.graph.outputs if n in self.names.of
        }
        for node in made:
            for inner in graphs_of(node):
                read.update(free_names(inner))
        self.new_tensors = [tensor for tensor in self.new_tensors if tensor.name in read]
        unread = self.new_constants - read
        self.nodes = [node for node in made if not (node.output and node.output[0] in unread)]

    # ── order ───────────────────────────────────────────────────────────────────────────────────────────────

    def _emission(self) -> list[int]:
        """Calls and constants of nodes: old ones in their old order, new ones before their first user."""
        graph = self.graph
        op, operands = graph.op, graph.operands
        live = [n for n in graph.in_order() if op[n] not in (INPUT, PARAM)]
        records = [(n, extra.get(KEY)) for n in live if (extra := graph.extras.get(n)) is not None]
        position = {n: r.position for n, r in records if isinstance(r, NodeRecord) and r.position >= 0}
        roots = sorted(position, key=position.__getitem__) + [n for n in live if n not in position]
        done = bytearray(len(op))
        result: list[int] = []
        for root in roots:
            stack = [root]
            while stack:
                node = stack.pop()
                if node < 0:
                    result.append(~node)
                elif not done[node]:
                    done[node] = 1
                    below = [o for o in operands[node] if o >= 0 and not done[o]]
                    if below:
                        stack.append(~node)
                        stack += below[::-1]
                    else:
                        result.append(node)
        return [n for n in result if op[n] not in (INPUT, PARAM, PROJ)]

    # ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────

    def _node(self, node: int) -> None:
        graph = self.graph
        op = graph.op[node]
        if op is TUPLE:
            raise InputError(
                f"ONNX has no tuples, but the graph contains one (`{graph.label(node)}`)",
                help="project its fields in the rule",
            )
        record = node_record(graph, node)
        if op is CONST:
            self._constant(node, record)
            return
        if (
            record is not None and record.message is not None and record.message.op_type != "Constant"
            or record is not None and graph.is_call(node)
        ):
            self._old_node(node, record)
        else:
            self._made(node, None)

    def _made(self, node: int, results: list[str] | None) -> None:
        """Write a call as a new message; `results`: the names of its results before."""
        before, made = self.maker.make(node, self._results(node, results))
        self.nodes += before
        self.nodes.append(made)

    def _old_node(self, node: int, record: NodeRecord) -> None:
        graph, of = self.graph, self.names.of
        message = record.message
        attrs = graph.attrs[node]
        if attrs is not record.attrs and attrs != record.attrs:
            message = with_bodies(message, attrs, record.attrs)
            if message is None:
                self._made(node, record.message.output[:])
                return
        captures = captures_of(attrs.values()) if attrs else ()
        operands = graph.operands[node]
        formal = operands[: len(operands) - len(captures)] if captures else operands
        old_inputs, old_outputs = message.input[:], message.output[:]
        inputs = [of[o] if o >= 0 and not _is_attribute(graph, o) else "" for o in formal]
        while len(inputs) > len(old_inputs) and not inputs[-1]:
            inputs.pop()
        inputs += [""] * (len(old_inputs) - len(inputs))
        if any(inputs[len(old_inputs) :]):  # what its version has as an attribute is another operand now
            self._made(node, old_outputs)
            return
        outputs = self._results(node, old_outputs)
        now = {old: of[o] for old, o in zip(captures, operands[len(formal) :]) if o >= 0 and of[o] != old}
        if inputs != old_inputs or outputs != old_outputs or now:
            changed = type(message)()
            changed.CopyFrom(message)
            changed.input[:], changed.output[:] = inputs, outputs
            if now:
                rename_in_bodies(changed, now)
            message = changed
        self.nodes.append(message)

    def _results(self, node: int, given: list[str] | None) -> list[str]:
        """Names of a call's results; those that nothing reads keep what they had, which is `given`."""
        graph, of = self.graph, self.names.of
        if node not in self.names.several:
            return [of[node]]
        results = [] if given is None else given[:]
        type_ = graph.types[node]
        many = given is None and self.maker.is_variadic(node)
        if many and isinstance(type_, TupleType):
            results += [""] * len(type_.fields)
        for user in sorted(graph.users[node]):
            if graph.op[user] is PROJ:
                index = graph.attrs[user]["index"]
                if index >= len(results):
                    results += [""] * (index + 1 - len(results))
                results[index] = of[user]
        if given is None:
            required = self.maker.required(node)
            kept = many or not results
            results += [""] * (required - len(results))
            if "" in results:
                fresh = partial(self.names.fresh, true_name(graph.op[node]).rpartition(".")[2])
                results = [
                    name or fresh() if kept or k < required else name for k, name in enumerate(results)
                ]
        return results

    def _constant(self, node: int, record: NodeRecord | None) -> None:
        graph = self.graph
        name = self.names.of[node]
        value = graph.values.get(node)
        old = record is not None and record.value is not None and (value is record.value or value is None)
        if record is not None and old and record.message is not None:
            message = record.message
            if message.output[:] != [name]:
                changed = type(message)()
                changed.CopyFrom(message)
                changed.output[:] = [name]
                message = changed
            self.nodes.append(message)
        elif record is not None and record.attribute or not (old and graph.names[node] == name):
            self.may_be_unread = self.may_be_unread or record is not None and record.attribute
            self._new_tensor(node, name)

    def _new_tensor(self, node: int, name: str) -> None:
        """A new constant: an initializer, or a `Constant` node where it is an output or initializers cannot
        be.
        """
        graph = self.graph
        only_nodes = self.record is not None and self.record.constants_are_nodes
        as_node = only_nodes or (node in graph.output_uses and graph.op[node] is CONST)
        tensor = new_tensor(graph, node, name, None if as_node else self.pending)
        if as_node:
            attribute = attribute_message("value", OnnxTensor(tensor), "Constant")
            self.nodes.append(messages().NodeProto(op_type="Constant", output=[name], attribute=[attribute]))
            self.new_constants.add(name)
        else:
            self.new_tensors.append(tensor)

    # ── the graph around them ───────────────────────────────────────────────────────────────────────────────

    def _old_graph(self, old: GraphProto) -> None:
        graph, written, of = self.graph, self.model.graph, self.names.of
        assert self.record is not None
        kept = set(self.record.unused)
        changed: dict[str, int] = {}
        for node in graph.nodes():
            if graph.op[node] not in (CONST, PARAM):
                continue
            record = node_record(graph, node)
            if record is not None and record.message is None and graph.names[node] == of[node]:
                if graph.values.get(node) is record.value or graph.values.get(node) is None:
                    kept.add(of[node])
                    continue
            if graph.op[node] is PARAM and node in graph.values:
                changed[of[node]] = node
        nodes, self.nodes = self.nodes, []
        for name, node in changed.items():
            self._new_tensor(node, name)
        add_nodes(written, [*self.nodes, *nodes])
        live = {of[n] for n in graph.nodes() if graph.op[n] in (INPUT, PARAM)}
        for field, value in old.ListFields():
            if field.name == "node":
                pass
            elif field.name == "initializer":
                written.initializer.extend(t for t in value if t.name in kept and t.name not in changed)
            elif field.name == "sparse_initializer":
                written.sparse_initializer.extend(s for s in value if s.values.name in kept)
            elif field.name == "input":
                written.input.extend(v for v in value if v.name in live or v.name in self.record.unused)
            elif field.name == "value_info":
                known = _made_in(written) | live | kept | {t.name for t in self.new_tensors}
                before = _own_names(old)
                written.value_info.extend(v for v in value if v.name in known or v.name not in before)
            elif field.name == "quantization_annotation":
                known = _made_in(written) | live | kept
                before = _own_names(old)
                written.quantization_annotation.extend(
                    v for v in value if v.tensor_name in known or v.tensor_name not in before
                )
            else:
                _copy_field(written, field, value)
        stated = {v.name for v in written.input}
        for node in graph.nodes():  # inputs that the model did not have
            if graph.op[node] is INPUT and of[node] not in stated:
                self._state(written.input, of[node], graph.types[node])
        written.initializer.extend(self.new_tensors)

    def _new_graph(self) -> None:
        graph, written, of = self.graph, self.model.graph, self.names.of
        for node in graph.nodes():  # as the graph states them: callers of a model may go by place
            if graph.op[node] in (INPUT, PARAM):
                refuse_unknown_type(of[node], graph.types[node])
                self._state(written.input, of[node], graph.types[node])
                if graph.op[node] is PARAM and node in graph.values:
                    self._new_tensor(node, of[node])
        for k, node in enumerate(graph.outputs):
            self._state(written.output, self.names.outputs[k] or of[node], graph.types[node])
        add_nodes(written, self.nodes)
        written.initializer.extend(self.new_tensors)

    def _state(self, place: Any, name: str, type: Any) -> None:
        added = place.add()
        added.name = name
        added.type.CopyFrom(type_message(type))


def _own_names(graph: GraphProto) -> set[str]:
    """The values that a graph defines."""
    made = {name for node in graph.node[:] for name in node.output[:]}
    return made | {v.name for v in graph.input} | {t.name for t in graph.initializer}


def _made_in(graph: GraphProto) -> set[str]:
    """The values that the nodes of a graph make."""
    return {name for node in graph.node[:] for name in node.output[:] if name}


def _is_attribute(graph: Graph, node: int) -> bool:
    record = node_record(graph, node) if graph.op[node] is CONST else None
    return record is not None and record.attribute
