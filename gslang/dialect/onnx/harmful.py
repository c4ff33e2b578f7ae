"""Nodes that the shape inference of the `onnx` package does not survive: it ends the process, or asks for all
memory or time there is.

Found by trying all versions of all operators with numbers of all sizes, and without operands; the package's
checker lets most of them pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.function_size import bodies_of
from gslang.dialect.onnx.schemas import operator_name
from gslang.dialect.onnx.versions import version_at
from gslang.dialect.tensor_type import TensorType, Type

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, OperatorSetIdProto

_MOST_PARTS: Final = 100_000
_MOST_AXES: Final = 1_000
FRAGILE: Final = ("GatherND", "Expand")  # by the last size of their second operands
_TERM: Final = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")
_NAMES: Final = {"GatherND": "batch_dims", "LayerNormalization": "axis", "Split": "num_outputs"}


def why_harmful(operator: str, attrs: Attrs, types: Sequence[Type | None] = ()) -> str | None:
    """Why the types of a call's results cannot be asked for, or None."""
    second = types[1] if len(types) > 1 else None
    if operator in FRAGILE and isinstance(second, TensorType) and second.shape:
        size = second.shape[-1]
        if isinstance(size, int) and (why := _why_size(operator, size)):
            return why
    if operator == "Einsum":
        return _why_equation(attrs.get("equation"))
    name = _NAMES.get(operator)
    value = attrs.get(name) if name is not None else None
    if type(value) is not int:
        return None
    match operator:
        case "GatherND":
            fits = value >= 0
        case "LayerNormalization":
            fits = -_MOST_AXES <= value <= _MOST_AXES
        case _:
            fits = value <= _MOST_PARTS
    return None if fits else f"`{name} = {value}` of `{operator}` is out of range"


def harmful_nodes(model: ModelProto) -> Iterator[str]:
    """The same of each node of a model, bodies and functions included; and of missing operands."""
    waiting = [(model.graph.node, _versions(model.opset_import))]
    waiting += [(function.node, _versions(function.opset_import)) for function in model.functions]
    while waiting:
        nodes, opsets = waiting.pop()
        for node in nodes:
            if node.op_type in _NAMES or node.op_type == "Einsum":
                stated = {
                    a.name: a.i if a.type == a.INT else a.s
                    for a in node.attribute if a.type in (a.INT, a.STRING)
                }
                if why := why_harmful(node.op_type, stated):
                    yield why
            if missing := _missing(node, opsets.get(node.domain, 1)):
                yield f"operand `{missing}` of `{node.op_type}` is missing"
            waiting += [(body.node, opsets) for body in bodies_of(node)]


def _why_equation(equation: object) -> str | None:
    """Why types cannot be asked for: the package's regular expression takes exponential time to reject a
    malformed equation.
    """
    text = equation.decode("utf-8", "replace") if isinstance(equation, bytes) else equation
    if not isinstance(text, str):
        return None
    terms = text.replace(" ", "").replace("->", ",").split(",")
    if text.count("->") <= 1 and all(_TERM.fullmatch(term) for term in terms):
        return None
    return "`equation` of `Einsum` is malformed"


def _versions(imports: Iterable[OperatorSetIdProto]) -> Mapping[str, int]:
    return {one.domain: one.version for one in imports}


def _missing(node: NodeProto, opset: int) -> str | None:
    """A required operand that a node does not have."""
    version = version_at(operator_name(node.domain, node.op_type), opset)
    if version is None:
        return None
    given = len(node.input)
    return next(
        (
            name
            for k, (name, option) in enumerate(zip(version.operands, version.options))
            if not option and (k >= given or not node.input[k])
        ),
        None,
    )


def harmful_sizes(graph: GraphProto, shown: Mapping[str, str]) -> Iterator[str]:
    """Why a message's calls of fragile operators cannot be asked for, by the types in it. `shown`: the name
    that such an operator has there → its own.
    """
    waiting: list[tuple[GraphProto, Mapping[str, int]]] = [(graph, {})]
    while waiting:
        graph, outer = waiting.pop()
        sizes = dict(outer)
        for value in (*graph.input, *graph.value_info, *graph.output):
            if value.type.tensor_type.shape.dim:
                sizes[value.name] = value.type.tensor_type.shape.dim[-1].dim_value
        for tensor in graph.initializer:
            if tensor.dims:
                sizes[tensor.name] = tensor.dims[-1]
        for node in graph.node:
            operator = shown.get(node.op_type)
            if operator and (why := _why_size(operator, sizes.get(node.input[1], 0))):
                yield why
            waiting += [(body, sizes) for body in bodies_of(node)]


def _why_size(operator: str, size: int) -> str | None:
    """Why types cannot be asked for with this last size of the second operand, which is a number of axes."""
    if 0 <= size <= _MOST_AXES:
        return None
    return f"the last size of the second operand of `{operator}`, {size}, is not a number of axes"
