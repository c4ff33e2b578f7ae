"""A pair of ONNX functions as a rule: inputs are wildcards, what a pattern states of attributes must be so,
`@name` hands an attribute on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gslang.base.diagnostics import InputError
from gslang.base.open_types import JsonObject
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain_text import value_text
from gslang.dialect.onnx.dtypes import dtype_name
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.dialect.signature import Signature
from gslang.graph.call_text import constant_text
from gslang.hosts.pairs import Pair, identifier

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto

_MOST_NUMBERS = 64  # in a constant that is written down


class NotSayable(Exception):
    """A pair that is no rule. The message says why."""


def rule_of(pair: Pair, dialect: Dialect) -> str:
    """The text of one rule. Raises `NotSayable`."""
    pattern, replacement = pair.pattern, pair.replacement
    if len(pattern.output) != len(replacement.output):
        raise NotSayable(
            f"the pattern has {len(pattern.output)} outputs and the replacement {len(replacement.output)}"
        )
    if len(set(pattern.input)) != len(pattern.input):
        raise NotSayable("two inputs of the pattern have the same name")
    renamed = _inputs(list(pattern.input), list(replacement.input))
    used = {name for node in pattern.node for name in node.input}
    names: dict[str, str] = {}
    for name in pattern.input:
        if name in used:
            names[name] = _fresh(identifier(name), names.values())
    source = _Side(dialect, "n", dict(names), True)
    outputs = source.side(pattern)
    known = {own: names[other] for own, other in renamed.items() if other in names}
    target = _Side(dialect, "m", known, False, source.attributes)
    results = target.side(replacement)
    for output in outputs:
        if output in names.values():
            raise NotSayable("an output of the pattern is one of its inputs, so there is nothing to match")
    lines = [f"rule {pair.name}({', '.join(names.values())}) {{", *source.lines, "    " + ", ".join(outputs)]
    return "\n".join([*lines, "  =>", *target.lines, "    " + ", ".join(results), "}", ""])


def _inputs(first: list[str], second: list[str]) -> dict[str, str]:
    """Input of the replacement → that of the pattern: by name where all names are the pattern's, else by
    place.
    """
    if set(second) <= set(first):
        return {name: name for name in second}
    if len(second) != len(first):
        unknown = next(name for name in second if name not in first)
        raise NotSayable(f"the replacement reads `{unknown}`, which the pattern does not have")
    return dict(zip(second, first))


def _fresh(name: str, taken: Any) -> str:
    used, made, k = {*taken, *_WORDS}, name, 2
    while made in used or made[0] in "nm" and made[1:].isdigit():
        made, k = f"{name}_{k}", k + 1
    return made


_WORDS = frozenset({
    "rule", "use", "op", "fn", "test", "pass", "dialect", "where", "each", "match", "if", "else", "for", "in",
    "and", "or", "not", "none", "true", "false", "any", "var", "input", "param", "const", "splat", "fixed",
    "keep", "ordered", "first", "index", "opset", "attach", "as", "is", "let",
})


@dataclass(slots=True)
class _Side:
    """`named`: value of the function → text.

    `attributes`: name of a wildcard → the attribute that it was bound to.
    """

    dialect: Dialect
    letter: str
    named: dict[str, str]
    is_source: bool
    attributes: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def side(self, function: FunctionProto) -> list[str]:
        for number, node in enumerate(function.node):
            self.node(node, number)
        missing = next((name for name in function.output if name not in self.named), None)
        if missing is not None:
            raise NotSayable(f"output `{missing}` of `{function.name}` is computed by no node")
        return [self.named[name] for name in function.output]

    def node(self, node: NodeProto, number: int) -> None:
        where = f"node {number} (`{node.op_type}`)"
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            self.named[node.output[0]] = operand_text(node, self.is_source)
            return
        operator = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
        signature = self.dialect.get(operator)
        if signature is None:
            guess = did_you_mean(operator, self.dialect.operators)
            raise NotSayable(
                f"{where}: unknown operator `{operator}`"
                + (f" (did you mean `{guess}`?)" if guess else "")
            )
        operands = [self.operand(name, where) for name in node.input]
        while operands and operands[-1] == "none":
            operands.pop()
        call = f"{operator}({', '.join([*operands, *self.stated(node, signature, where)])})"
        own = f"{self.letter}{len(self.lines) + 1}"
        self.lines.append(f"    {own} = {call};")
        several = signature.results != "tensor"
        for k, name in enumerate(node.output):
            if name:
                self.named[name] = f"{own}.{k}" if several else own
        for attribute in node.attribute:
            if self.is_source and attribute.ref_attr_name:
                self.attributes.setdefault(attribute.ref_attr_name, f"{own}.{attribute.name}")

    def operand(self, name: str, where: str) -> str:
        if not name:
            return "none"
        if name not in self.named:
            raise NotSayable(
                f"{where} reads `{name}`, which is neither an input nor computed by a previous node"
            )
        return self.named[name]

    def stated(self, node: NodeProto, signature: Signature, where: str) -> list[str]:
        texts = []
        for attribute in node.attribute:
            name = attribute.name
            if name not in signature.attributes:
                guess = did_you_mean(name, signature.attributes)
                told = (
                    f" (did you mean `{guess}`?)" if guess
                    else ": it is not an attribute in the latest operator set"
                )
                raise NotSayable(f"{where}: `{signature.name}` has no attribute `{name}`{told}")
            wildcard = attribute.ref_attr_name
            if wildcard and wildcard in self.attributes:
                texts.append(f"{name} = {self.attributes[wildcard]}")
            elif not wildcard:
                texts.append(f"{name} = {_attribute_text(attribute, where)}")
            elif not self.is_source:
                raise NotSayable(f"{where}: the pattern does not bind `@{wildcard}`")
        return texts


def _attribute_text(attribute: AttributeProto, where: str) -> str:
    import onnx

    value = onnx.helper.get_attribute_value(attribute)
    if attribute.name in ("to", "dtype") and isinstance(value, int):
        return value_text(_dtype_name(value, where))
    if isinstance(value, onnx.TensorProto):
        array = _array(value, f"{where}: `{attribute.name}`")
        if array.size != 1:
            raise NotSayable(f"{where}: `{attribute.name}` is a tensor of {array.size} elements")
        return value_text(array.reshape(-1)[0].item())
    plain = _plain(value)
    if plain is None:
        raise NotSayable(f"{where}: `{attribute.name}` has a value that cannot be written in a rule")
    return value_text(plain)


def _array(tensor: Any, where: str) -> Any:
    """The elements of a tensor in the message. Raises `NotSayable`."""
    if tensor.data_location == tensor.EXTERNAL:
        raise NotSayable(f"{where} is a tensor with data in another file")
    try:
        return OnnxTensor(tensor).load()
    except InputError as error:
        raise NotSayable(f"{where}: {error.message}") from None


def _dtype_name(number: int, where: str) -> str:
    name = dtype_name(number)
    if name is None:
        raise NotSayable(f"{where}: unknown element type {number}")
    return name


def _plain(value: object) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (int, float, str)):
        return value
    if isinstance(value, Sequence) or hasattr(value, "__iter__"):
        items = [_plain(item) for item in value]
        return None if any(item is None for item in items) else tuple(items)
    return None


_KINDS: Final = {  # of the attributes of `Constant` that a rule can state
    "value": "TENSOR", "value_float": "FLOAT", "value_floats": "FLOATS", "value_int": "INT",
    "value_ints": "INTS",
}  # fmt: skip


def operand_text(node: NodeProto, is_source: bool) -> str:
    """A constant as an operand.

    A single number has the element type of the operands beside it; in a source also any shape of one element.
    """
    import onnx

    attribute: JsonObject = {a.name: a for a in node.attribute}
    if len(attribute) != 1:
        raise NotSayable("a `Constant` without one value")
    (name, given), = attribute.items()
    if onnx.AttributeProto.AttributeType.Name(given.type) != _KINDS.get(name):
        raise NotSayable(f"a `Constant` with `{name}`" + " of another kind" * (name in _KINDS))
    value = onnx.helper.get_attribute_value(given)
    if name == "value":
        array = _array(value, "a `Constant`")
    elif name in ("value_float", "value_floats"):
        array = np.asarray(value, np.float32)
    else:
        array = np.asarray(value, np.int64)
    if array.dtype.kind not in "biuf" or array.size > _MOST_NUMBERS or array.ndim > 1 and array.size > 1:
        raise NotSayable(f"a constant of {array.dtype.name}, of shape {list(array.shape)}")
    if array.ndim == 0 and (is_source or array.dtype.kind == "f"):
        return value_text(array.item())
    return constant_text(array.reshape(-1) if array.ndim else array)
