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
GUARDED: Final = frozenset({"Einsum", *_NAMES, *FRAGILE})


def why_harmful(operator: str, attrs: Attrs, types: Sequence[Type | None] = ()) -> str | None:
    """Why the types of a call's results cannot be asked for, or None."""
    second = types[1] if len(types) > 1 else None
    if operator in FRAGILE and isinstance(second, TensorType) and second.shape:
        size = second.shape[-1]
        if isinstance(size, int) and (why := why_size(operator, size)):
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


def harmful_nodes(model: ModelProto, inlined: bool = False) -> Iterator[str]:
    """The same of each node of a model, bodies and functions included; and of missing operands.

    `inlined`: a function that is still there, with an attribute that its calls decide, is harmful.
    """
    waiting = [(model.graph.node, _versions(model.opset_import))]
    waiting += [(function.node, _versions(function.opset_import)) for function in model.functions]
    while waiting:
        nodes, opsets = waiting.pop()
        for node in nodes:
            if node.op_type in GUARDED:
                yield from _harmful_attributes(node, inlined)
            if missing := _missing(node, opsets.get(node.domain, 1)):
                yield f"operand `{missing}` of `{node.op_type}` is missing"
            waiting += [(body.node, opsets) for body in bodies_of(node)]


def _harmful_attributes(node: NodeProto, inlined: bool) -> Iterator[str]:
    """By each attribute alone, of whatever type it says it is: the package does not look at that."""
    for attribute in node.attribute:
        if inlined and attribute.ref_attr_name:
            yield f"`{attribute.name}` of `{node.op_type}` in a local function is not known"
        value = attribute.i if attribute.HasField("i") else attribute.s
        if why := why_harmful(node.op_type, {attribute.name: value}):
            yield why


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


def last_sizes(graph: GraphProto) -> dict[str, int | None]:
    """Value name → the last size of those whose types a graph states, None if it is not known; 0 of scalars.

    Values of bodies are not among them.
    """
    sizes: dict[str, int | None] = {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        kind = value.type.WhichOneof("value")
        type = getattr(value.type, kind) if kind in ("tensor_type", "sparse_tensor_type") else None
        if type is not None and type.HasField("shape"):
            dims = type.shape.dim
            sizes[value.name] = (
                0 if not dims else dims[-1].dim_value if dims[-1].HasField("dim_value") else None
            )
    for tensor in graph.initializer:
        sizes[tensor.name] = tensor.dims[-1] if tensor.dims else 0
    for sparse in graph.sparse_initializer:
        sizes[sparse.values.name] = sparse.dims[-1] if sparse.dims else 0
    return sizes


def why_size(operator: str, size: int) -> str | None:
    """Why types cannot be asked for with this last size of the second operand, which is a number of axes."""
    if 0 <= size <= _MOST_AXES:
        return None
    return f"the last size of the second operand of `{operator}`, {size}, is not a number of axes"
