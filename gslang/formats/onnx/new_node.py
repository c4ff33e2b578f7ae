"""New nodes in the terms of the operator sets that the model imports.

Operators are normalized to the latest opset. Where the model's version differs, an attribute becomes an
operand or a constant operand an attribute, and a default that has changed is stated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.attributes import attribute_message, captures_of, rename_in_bodies
from gslang.dialect.onnx.infer import operand_value
from gslang.dialect.onnx.messages import messages, operator_set
from gslang.dialect.onnx.schemas import split_name
from gslang.dialect.onnx.tensors import OnnxTensor
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
from gslang.formats.onnx.normal_form import is_current, spell_former_values
from gslang.formats.onnx.provenance import state_annotations, state_origin
from gslang.formats.onnx.wire import node_bytes
from gslang.graph.graph import CONST, Graph
from gslang.graph.known_calls import true_name

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


@dataclass(frozen=True, slots=True)
class _Form:
    """An operator in the model's operator set (`then`) and today's (`now`).

    `current`: what calls say means the same in both.
    """

    domain: str
    type: str
    then: Version | None
    now: Version | None
    current: bool


class NodeMaker:
    """Maker of nodes. `drops_constants`: an operand became an attribute; its constant may be unread."""

    def __init__(self, graph: Graph, model: ModelProto, names: Names) -> None:
        self.graph, self.model, self.names = graph, model, names
        self.opsets = {"" if e.domain == "ai.onnx" else e.domain: e.version for e in model.opset_import} or {
            "": 1
        }
        self.drops_constants = False
        self._forms: dict[str, _Form] = {}
        # operator and attributes → the bytes of a node without name, operands and results
        self._rests: dict[tuple[object, ...], bytes] = {}

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

    def make(self, node: int, results: list[str]) -> tuple[list[NodeProto], bytes]:
        """`Constant` nodes that it needs, and the node, as bytes.

        Raises `InputError` for what the model's version has not.
        """
        graph, of = self.graph, self.names.of
        operator = true_name(graph.op[node])
        form = self._forms.get(operator) or self._forms.setdefault(operator, self._form(operator))
        then = form.then
        given = graph.attrs[node]
        captures = captures_of(given.values()) if given else ()
        operands = graph.operands[node]
        if len(operands) < len(captures):
            raise InputError(
                f"`{operator}` at {graph.label(node)}: its bodies read {len(captures)} outer values, it has "
                f"{len(operands)} operands"
            )
        formal = list(operands[: len(operands) - len(captures)] if captures else operands)
        attrs = {name: value for name, value in given.items() if value is not None}
        inputs = [of[o] if o >= 0 else "" for o in formal]
        before: list[NodeProto] = []
        if (
            then is not None
            and form.now is not None
            and not (form.current and attrs.keys() <= then.kinds.keys())
        ):
            if then is not form.now:
                self._old_operands(operator, then, form.now, formal, inputs, attrs)
                _change_defaults(operator, then, form.now, attrs)
                spell_former_values(operator, self.opsets[form.domain], attrs)
            before = self._attributes_as_operands(node, then, inputs, attrs)
        while inputs and not inputs[-1]:
            inputs.pop()
        name = self.names.node_name(form.type, results)
        data = node_bytes(inputs, results, name, self._rest(form, operator, graph.op[node], attrs))
        if captures or node in graph.extras:
            message = messages().NodeProto.FromString(data)
            renamed = zip(captures, operands[len(formal) :])
            rename_in_bodies(message, {old: of[o] for old, o in renamed if o >= 0 and of[o] != old})
            state_origin(message, graph, node)
            state_annotations(message, graph, node)
            data = message.SerializeToString()
        return before, data

    def _rest(self, form: _Form, operator: str, given: str, attrs: dict[str, object]) -> bytes:
        """The message of a call without its name, operands and results. Equal ones are made once."""
        try:
            key = (given, *attrs.items(), *map(type, attrs.values()))
            known = self._rests.get(key)
        except TypeError:  # an array among the attributes
            key, known = (), None
        if known is not None:
            return known
        then = form.then
        message = messages().NodeProto(op_type=form.type, domain=form.domain)
        for name in attrs:
            kind = None if then is None else then.kinds.get(name)
            if then is not None and kind is None and operator == given:
                raise InputError(
                    f"`{operator}` has no attribute `{name}` in operator set {self.opsets.get(form.domain)}, "
                        "which the model imports"
                )
            message.attribute.append(attribute_message(name, attrs[name], form.type, kind))
        data: bytes = message.SerializeToString()
        if key:
            self._rests[key] = data
        return data

    def _form(self, operator: str) -> _Form:
        domain, type = split_name(operator)
        then, known = self._version(operator, domain), history().operators.get(operator)
        now = known[-1] if known is not None else None
        return _Form(domain, type, then, now, now is not None and is_current(operator, self.opsets[domain]))

    def _version(self, operator: str, domain: str) -> Version | None:
        """The operator in the model's version; None for one that no table knows.

        A domain that is new is imported.
        """
        known = history().operators.get(operator)
        if domain not in self.opsets:
            self.opsets[domain] = known[-1].since if known else 1
            self.model.opset_import.append(operator_set(domain, self.opsets[domain]))
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
        attrs: dict[str, object],
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
            self.drops_constants = True
            attrs[name] = (
                tuple(value.tolist()) if value.ndim and (operator, operand) not in VECTORS else value.item()
            )
            inputs[k] = ""

    def _attributes_as_operands(
        self, node: int, then: Version, inputs: list[str], attrs: dict[str, object]
    ) -> list[NodeProto]:
        """Attributes that the model's version takes as operands, as `Constant` nodes."""
        made = []
        for name in [n for n in attrs if n not in then.kinds and n in then.operands]:
            k = then.operands.index(name)
            constant = self.names.fresh(name)
            first = self.graph.operands[node][:1]
            tensor = operand_value(
                attrs.pop(name), self.graph.types[first[0]] if first and first[0] >= 0 else None
            )
            value = attribute_message("value", OnnxTensor(tensor), "Constant")
            made.append(messages().NodeProto(op_type="Constant", output=[constant], attribute=[value]))
            inputs.extend([""] * (k + 1 - len(inputs)))
            inputs[k] = constant
        return made


def _change_defaults(operator: str, then: Version, now: Version, attrs: dict[str, object]) -> None:
    """State defaults that have changed since; leave out what was always so before it could be said."""
    for name, default in now.defaults.items():
        if name in then.kinds:
            if name not in attrs and default is not None and then.defaults.get(name) != default:
                attrs[name] = default
        elif name in attrs and attrs[name] == default and name not in then.operands:
            del attrs[name]
    if "is_test" in then.kinds and operator in CHANGED_MEANING:  # such a node trained unless it said so
        attrs.setdefault("is_test", 1)
