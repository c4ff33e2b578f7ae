"""Types of all values of a model, by the `onnx` package's shape inference (with data propagation).

Large tensors are left out of what is handed over: their types say enough, and messages over 2 GB cannot be.
"""

from __future__ import annotations

import math
from typing import Any, Final

from gslang.dialect.onnx.dtypes import type_of
from gslang.dialect.tensor_type import UNKNOWN, TensorType, Type

_LARGE: Final = 1024  # elements


def inferred_types(model: Any) -> tuple[dict[str, Type], str | None]:
    """Value name → type, and what went wrong (then only what the model states is known)."""
    from onnx.shape_inference import infer_shapes

    stated = _types_in(model.graph)
    if all(_is_complete(stated.get(name)) for node in model.graph.node for name in node.output if name):
        return stated, None
    try:
        inferred = infer_shapes(_without_weights(model), check_type=False, strict_mode=False, data_prop=True)
    except Exception as error:  # the package's own errors, and protobuf's for what is too large
        return stated, f"types are those that the model states: {str(error).strip().splitlines()[0] if str(error).strip() else error}"
    return _merged(_types_in(inferred.graph), stated), None


def _is_complete(type: Type | None) -> bool:
    """Whether inference has nothing to add."""
    return isinstance(type, TensorType) and type.dtype is not None and type.shape is not None and UNKNOWN not in type.shape


def _merged(inferred: dict[str, Type], stated: dict[str, Type]) -> dict[str, Type]:
    from gslang.graph.inference import contradiction, refine

    result = dict(inferred)
    for name, type in stated.items():
        found = inferred.get(name)
        merged = type if contradiction(found, type) else refine(found, type)
        if merged is not None:
            result[name] = merged
    return result


def _types_in(graph: Any) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for value in (*graph.input, *graph.output, *graph.value_info):
        type = type_of(value.type)
        if type is not None:
            found[value.name] = type
    return found


def _without_weights(model: Any) -> Any:
    import onnx

    light = onnx.ModelProto(ir_version=max(model.ir_version, 4))
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
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    if not light.opset_import:
        light.opset_import.append(onnx.helper.make_opsetid("", 1))
    return light
