"""Types of all values of a model, by the `onnx` package's shape inference.

Large tensors are left out of what is handed over: their types say enough, and messages over 2 GB cannot be.
The package propagates the elements of vectors, each with an entry of its own, and writes out local functions
where they are called: it is asked to do neither where that would be much.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from gslang.base.diagnostics import InputError
from gslang.dialect.onnx.dtypes import type_of
from gslang.dialect.onnx.function_size import MOST_NODES, bodies_of, expanded_size
from gslang.dialect.onnx.harmful import harmful_nodes
from gslang.dialect.onnx.messages import messages, operator_set
from gslang.dialect.tensor_type import UNKNOWN, TensorType, Type
from gslang.formats.onnx.in_rounds import InRounds

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

_LARGE: Final = 1024  # elements
_MOST_ELEMENTS: Final = 100_000  # of vectors that are propagated, about 300 bytes each
_PROPAGATES: Final = frozenset("Add Cast Concat Gather Mul Shape Size Slice Squeeze Sub Unsqueeze".split())


def stated_types(model: ModelProto) -> dict[str, Type]:
    """Value name → type, of those that a model states."""
    return _types_in(model.graph)


def inferred_types(model: ModelProto) -> tuple[dict[str, Type], str | None]:
    """Value name → type, and what went wrong (then only what the model states is known)."""
    stated = _types_in(model.graph)
    if _is_typed(model.graph, stated):
        return stated, None
    if why := next(harmful_nodes(model), None):
        return stated, f"only types stated in the model are known: {why}"
    warning = None
    try:
        light = without_weights(model)
        if model.functions and expanded_size(model) > MOST_NODES:
            del light.functions[:]
            warning = (
                f"local functions that call themselves, or give more than {MOST_NODES:,} nodes, are not "
                "examined: types of their results are unknown"
            )
        inferred = _inferred(light)
    except Exception as error:  # the package's own errors, and protobuf's for what is too large
        return (
            stated,
            "only types stated in the model are known: "
            f"{(str(error).strip() or repr(error)).splitlines()[0]}",
        )
    return _all_merged(_types_in(inferred.graph), stated), warning


def _inferred(light: ModelProto) -> Any:
    asked = InRounds(light)
    first = asked.types()
    types = _types_in(first.graph)
    propagating = _PROPAGATES.union([function.name for function in light.functions])
    if _is_typed(first.graph, types) or _propagated(first.graph, types, propagating) > _MOST_ELEMENTS:
        return first
    return asked.types(data_prop=True)


def _propagated(graph: GraphProto, types: dict[str, Type], propagating: frozenset[str]) -> int:
    """The number of elements of vectors that data propagation would keep at operators that propagate them,
    bodies included."""
    count = 0
    for node in graph.node:
        if node.op_type in propagating:
            for name in (*node.input, *node.output):
                type = types.get(name)
                if (
                    isinstance(type, TensorType) and type.shape is not None and len(type.shape) == 1
                    and isinstance(type.shape[0], int)
                ):
                    count += type.shape[0]
        for body in bodies_of(node):
            count += _propagated(body, {**types, **_types_in(body)}, propagating)
    return count


def _is_typed(graph: GraphProto, types: dict[str, Type]) -> bool:
    return all([is_complete(types.get(name)) for node in graph.node for name in node.output if name])


def is_complete(type: Type | None) -> bool:
    """True if inference has nothing to add."""
    return (
        isinstance(type, TensorType) and type.dtype is not None and type.shape is not None
        and UNKNOWN not in type.shape
    )


def merged(found: Type | None, stated: Type | None) -> Type | None:
    """The union of what inference found and what the model states, which is right in a contradiction."""
    from gslang.graph.inference import contradiction, refine

    return stated if contradiction(found, stated) else refine(found, stated)


def _all_merged(inferred: dict[str, Type], stated: dict[str, Type]) -> dict[str, Type]:
    result = dict(inferred)
    for name, type in stated.items():
        if (both := merged(inferred.get(name), type)) is not None:
            result[name] = both
    return result


def _types_in(graph: GraphProto) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for value in (*graph.input, *graph.output, *graph.value_info):
        type = type_of(value.type)
        if type is not None:
            found[value.name] = type
    return found


def without_weights(model: ModelProto) -> Any:
    """The model as it is handed over: large weights are inputs."""
    light = messages().ModelProto(ir_version=max(model.ir_version, 4))
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    graph, whole = light.graph, model.graph
    graph.name = whole.name or "main"
    graph.node.extend(whole.node)
    graph.input.extend(whole.input)
    graph.output.extend(whole.output)
    graph.value_info.extend(whole.value_info)
    given = {value.name for value in whole.input}
    for tensor in whole.initializer:
        if math.prod(tensor.dims) <= _LARGE and tensor.data_location != tensor.EXTERNAL:
            graph.initializer.append(tensor)
        elif tensor.name not in given:
            value = graph.input.add(name=tensor.name)
            value.type.tensor_type.elem_type = tensor.data_type
            value.type.tensor_type.shape.SetInParent()
            for size in tensor.dims:
                value.type.tensor_type.shape.dim.add(dim_value=size)
    if not light.opset_import:
        light.opset_import.append(operator_set("", 1))
    return light


def refuse_unknown_type(name: str, type: object) -> None:
    """Raises `InputError` if an input's element type is not known, or it is no tensor: a model without it
    cannot be loaded.
    """
    if not isinstance(type, TensorType) or type.dtype is None:
        raise InputError(
            f"the type of the input `{name}` is not known, and an ONNX model has to state it",
            help="state its `dtype` where the graph was read; sequences, optionals and maps are only in ONNX "
            "models",
        )
