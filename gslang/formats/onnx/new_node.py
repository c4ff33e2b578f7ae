"""New nodes in the terms of the operator sets that the model imports.

A graph speaks of every operator as its newest version does. Where the model's version differs, an attribute becomes an
operand or a constant operand an attribute, and a default that has changed is stated.
"""

from __future__ import annotations

from typing import Any

from gslang.base.diagnostics import InputError
from gslang.dialect.onnx.attributes import attribute_message, attribute_value, captures_of, rename_captures
from gslang.dialect.onnx.infer import operand_value
from gslang.dialect.onnx.schemas import newest, schema_at, split_name
from gslang.dialect.onnx.versions import VECTORS, former
from gslang.formats.onnx.names import Names
from gslang.formats.onnx.provenance import state_origin
from gslang.graph.graph import CONST, Graph


class NodeMaker:
    def __init__(self, graph: Graph, model: Any, names: Names) -> None:
        self.graph, self.model, self.names = graph, model, names
        self.opsets = {"" if e.domain == "ai.onnx" else e.domain: e.version for e in model.opset_import} or {"": 1}

    def is_variadic(self, node: int) -> bool:
        schema = newest(self.graph.op[node])
        return schema is not None and any(f.option == f.option.Variadic for f in schema.outputs)

    def make(self, node: int, results: list[str]) -> tuple[list[Any], Any]:
        """`Constant` nodes that it needs, and the node. Raises `InputError` for what the model's version has not."""
        from onnx import NodeProto

        graph, of = self.graph, self.names.of
        operator = graph.op[node]
        domain, type = split_name(operator)
        schema, now = self._schema(operator, domain), newest(operator)
        captures = captures_of(graph.attrs[node].values())
        operands = graph.operands[node]
        if len(operands) < len(captures):
            raise InputError(f"`{operator}` at {graph.label(node)}: its bodies read {len(captures)} outer values, it has {len(operands)} operands")
        formal = list(operands[: len(operands) - len(captures)] if captures else operands)
        message = NodeProto(op_type=type, domain=domain, name=self.names.node_name(type, results), output=results)
        attrs = {name: value for name, value in graph.attrs[node].items() if value is not None}
        inputs = [of[o] if o >= 0 else "" for o in formal]
        before: list[Any] = []
        if schema is not None and schema is not now:
            self._old_operands(operator, schema, now, formal, inputs, attrs)
            self._old_defaults(schema, now, attrs)
        if schema is not None:
            before = self._attributes_as_operands(node, schema, inputs, attrs)
        for name in sorted(attrs):
            kind = schema.attributes[name].type.name if schema is not None and name in schema.attributes else None
            if schema is not None and kind is None:
                raise InputError(f"`{operator}` has no attribute `{name}` in operator set {self.opsets.get(domain)}, which the model imports")
            message.attribute.append(attribute_message(name, attrs[name], type, kind))
        renamed = {old: of[o] for old, o in zip(captures, operands[len(formal) :]) if o >= 0 and of[o] != old}
        for attribute in message.attribute:
            for body in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                rename_captures(body, renamed)
        while inputs and not inputs[-1]:
            inputs.pop()
        message.input.extend(inputs)
        state_origin(message, graph, node)
        return before, message

    def _schema(self, operator: str, domain: str) -> Any:
        import onnx.defs
        from onnx import helper

        if domain not in self.opsets:
            known = newest(operator)
            version = known.since_version if known is not None else 1
            self.opsets[domain] = version
            self.model.opset_import.append(helper.make_opsetid(domain, version))
        schema = schema_at(operator, self.opsets[domain])
        if schema is None and newest(operator) is not None:
            since = min(s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == split_name(operator)[1] and s.domain == domain)
            help = "convert the model with `onnx.version_converter`, or write the rule for older operators"
            raise InputError(f"`{operator}` needs operator set {since}, the model imports {self.opsets[domain]}", help=help)
        return schema

    def _old_operands(self, operator: str, schema: Any, now: Any, formal: list[int], inputs: list[str], attrs: dict[str, Any]) -> None:
        """Constant operands that the model's version takes as attributes."""
        known = {f.name for f in schema.inputs}
        for k in range(len(inputs) - 1, -1, -1):
            if k >= len(now.inputs):
                continue
            operand = now.inputs[k].name
            name = former(operator, operand, schema.attributes)
            if operand in known or name is None or not inputs[k]:
                continue
            value = self.graph.value(formal[k]) if self.graph.op[formal[k]] is CONST else None
            if value is None:
                raise InputError(f"operand `{operand}` of `{operator}` is an attribute in the model's operator set, so it must be a constant")
            if schema.attributes[name].type.name in ("INT", "INTS"):
                value = value.astype("int64")
            attrs[name] = tuple(value.tolist()) if value.ndim and (operator, operand) not in VECTORS else value.item()
            inputs[k] = ""

    def _old_defaults(self, schema: Any, now: Any, attrs: dict[str, Any]) -> None:
        for name, spec in now.attributes.items():
            then = schema.attributes.get(name)
            if name in attrs or then is None or not spec.default_value.type:
                continue
            default = attribute_value(spec.default_value, now.name)
            if not then.default_value.type or attribute_value(then.default_value, now.name) != default:
                attrs[name] = default

    def _attributes_as_operands(self, node: int, schema: Any, inputs: list[str], attrs: dict[str, Any]) -> list[Any]:
        """Attributes that the model's version takes as operands, as `Constant` nodes."""
        from onnx import NodeProto, helper

        made = []
        places = {formal.name: k for k, formal in enumerate(schema.inputs)}
        for name in [n for n in attrs if n not in schema.attributes and n in places]:
            k = places[name]
            constant = self.names.fresh(name)
            first = self.graph.operands[node][:1]
            tensor = operand_value(attrs.pop(name), self.graph.types[first[0]] if first and first[0] >= 0 else None)
            made.append(NodeProto(op_type="Constant", output=[constant], attribute=[helper.make_attribute("value", tensor)]))
            inputs.extend([""] * (k + 1 - len(inputs)))
            inputs[k] = constant
        return made
