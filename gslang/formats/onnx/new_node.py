"""New nodes in the terms of the operator sets that the model imports.

Operators are normalized to the latest opset. Where the model's version differs, an attribute becomes an
operand or a constant operand an attribute, and a default that has changed is stated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gslang.base.diagnostics import InputError
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.attributes import attribute_message, captures_of, rename_captures
from gslang.dialect.onnx.infer import operand_value
from gslang.dialect.onnx.schemas import split_name
from gslang.dialect.onnx.versions import (
    CHANGED_MEANING,
    VECTORS,
    Version,
    former,
    history,
    version_at,
    why_missing,
)
from gslang.formats.onnx.names import Names
from gslang.formats.onnx.provenance import state_annotations, state_origin
from gslang.graph.graph import CONST, Graph
from gslang.graph.known_calls import true_name

if TYPE_CHECKING:
    from onnx import ModelProto


class NodeMaker:
    def __init__(self, graph: Graph, model: ModelProto, names: Names) -> None:
        self.graph, self.model, self.names = graph, model, names
        self.opsets = {"" if e.domain == "ai.onnx" else e.domain: e.version for e in model.opset_import} or {
            "": 1
        }

    def is_variadic(self, node: int) -> bool:
        known = history().operators.get(true_name(self.graph.op[node]))
        return known is not None and known[-1].many

    def required(self, node: int) -> int:
        """The number of results of a call that its operator does not let be left out, of the fixed ones that
        it declares.
        """
        signature = load_dialect("onnx").get(self.graph.op[node])
        if signature is None or isinstance(signature.results, str):
            return 0
        return max(
            [k + 1 for k, result in enumerate(signature.results) if not result.endswith("?")], default=0
        )

    def make(self, node: int, results: list[str]) -> tuple[list[Any], Any]:
        """`Constant` nodes that it needs, and the node.

        Raises `InputError` for what the model's version has not.
        """
        from onnx import NodeProto

        graph, of = self.graph, self.names.of
        operator = true_name(graph.op[node])
        domain, type = split_name(operator)
        known = history().operators.get(operator)
        then = self._version(operator, domain)
        captures = captures_of(graph.attrs[node].values())
        operands = graph.operands[node]
        if len(operands) < len(captures):
            raise InputError(
                f"`{operator}` at {graph.label(node)}: its bodies read {len(captures)} outer values, it has "
                f"{len(operands)} operands"
            )
        formal = list(operands[: len(operands) - len(captures)] if captures else operands)
        message = NodeProto(
            op_type=type, domain=domain, name=self.names.node_name(type, results), output=results
        )
        attrs = {name: value for name, value in graph.attrs[node].items() if value is not None}
        inputs = [of[o] if o >= 0 else "" for o in formal]
        before: list[Any] = []
        if known is not None and then is not None:
            if then is not known[-1]:
                self._old_operands(operator, then, known[-1], formal, inputs, attrs)
                _change_defaults(operator, then, known[-1], attrs)
            before = self._attributes_as_operands(node, then, inputs, attrs)
        for name in attrs:
            kind = None if then is None else then.kinds.get(name)
            if then is not None and kind is None and operator == graph.op[node]:
                raise InputError(
                    f"`{operator}` has no attribute `{name}` in operator set {self.opsets.get(domain)}, "
                    "which the model imports"
                )
            message.attribute.append(attribute_message(name, attrs[name], type, kind))
        renamed = {old: of[o] for old, o in zip(captures, operands[len(formal) :]) if o >= 0 and of[o] != old}
        for attribute in message.attribute:
            for body in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                rename_captures(body, renamed)
        while inputs and not inputs[-1]:
            inputs.pop()
        message.input.extend(inputs)
        state_origin(message, graph, node)
        state_annotations(message, graph, node)
        return before, message

    def _version(self, operator: str, domain: str) -> Version | None:
        """The operator in the model's version; None for one that no table knows.

        A domain that is new is imported.
        """
        known = history().operators.get(operator)
        if domain not in self.opsets:
            from onnx import helper

            self.opsets[domain] = known[-1].since if known else 1
            self.model.opset_import.append(helper.make_opsetid(domain, self.opsets[domain]))
        then = version_at(operator, self.opsets[domain])
        if known and then is None:
            help = "convert the model with `onnx.version_converter`, or write the rule for older operators"
            raise InputError(
                f"{why_missing(operator, self.opsets[domain])}, the model imports {self.opsets[domain]}",
                help=help,
            )
        return then

    def _old_operands(
        self,
        operator: str,
        then: Version,
        now: Version,
        formal: list[int],
        inputs: list[str],
        attrs: dict[str, Any],
    ) -> None:
        """Constant operands that the model's version takes as attributes."""
        for k in range(min(len(inputs), len(now.operands)) - 1, -1, -1):
            operand = now.operands[k]
            name = former(operator, operand, then.attributes)
            if operand in then.operands or name is None or not inputs[k]:
                continue
            value = self.graph.value(formal[k]) if self.graph.op[formal[k]] is CONST else None
            if value is None:
                raise InputError(
                    f"operand `{operand}` of `{operator}` is an attribute in the model's operator set, so it "
                    "must be a constant"
                )
            if then.kinds[name] in ("INT", "INTS"):
                value = value.astype("int64")
            attrs[name] = (
                tuple(value.tolist()) if value.ndim and (operator, operand) not in VECTORS else value.item()
            )
            inputs[k] = ""

    def _attributes_as_operands(
        self, node: int, then: Version, inputs: list[str], attrs: dict[str, Any]
    ) -> list[Any]:
        """Attributes that the model's version takes as operands, as `Constant` nodes."""
        from onnx import NodeProto, helper

        made = []
        for name in [n for n in attrs if n not in then.kinds and n in then.operands]:
            k = then.operands.index(name)
            constant = self.names.fresh(name)
            first = self.graph.operands[node][:1]
            tensor = operand_value(
                attrs.pop(name), self.graph.types[first[0]] if first and first[0] >= 0 else None
            )
            made.append(NodeProto(
                op_type="Constant", output=[constant], attribute=[helper.make_attribute("value", tensor)]
            ))
            inputs.extend([""] * (k + 1 - len(inputs)))
            inputs[k] = constant
        return made


def _change_defaults(operator: str, then: Version, now: Version, attrs: dict[str, Any]) -> None:
    """State defaults that have changed since; leave out what was always so before it could be said."""
    for name, default in now.defaults.items():
        if name in then.kinds:
            if name not in attrs and default is not None and then.defaults.get(name) != default:
                attrs[name] = default
        elif name in attrs and attrs[name] == default and name not in then.operands:
            del attrs[name]
    if "is_test" in then.kinds and operator in CHANGED_MEANING:  # such a node trained unless it said so
        attrs.setdefault("is_test", 1)
