"""Values for a graph's inputs, parameters and constants that have none, the same for the same name and seed.

Relay text without its metadata has constants without values: rules cannot look at these, but numbers can be compared.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gslang.dialect.dtypes import numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.evaluate.index_ranges import bounds_of
from gslang.evaluate.run import EvaluationError
from gslang.graph.graph import CONST, INPUT, PARAM, Graph

_SYMBOLIC = 2  # the size of a symbolic or unknown dimension that nothing fixes
_MOST_ELEMENTS = 2**32  # of one input: 32 GiB while they are drawn
_POSITIVE_OPERANDS = {
    "sqrt": (0,), "rsqrt": (0,), "log": (0,), "nn.batch_norm": (4,), "log2": (0,), "log10": (0,),
    "Sqrt": (0,), "Log": (0,), "BatchNormalization": (4,),
}  # fmt: skip


def random_inputs(graph: Graph, seed: int = 0, dims: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Values by name. Floats are normal, parameters and constants scaled by 1/√fan-in; variances and operands of roots are positive; integers
    are small, indices within their axis (`index_ranges`).

    Raises `EvaluationError` where a type is not known.
    """
    values: dict[str, Any] = {}
    for node in graph.reverse_post_order():
        if graph.op[node] not in (INPUT, PARAM, CONST) or node in graph.values:
            continue
        name = graph.names[node]
        type_ = graph.types[node]
        if name is None or not isinstance(type_, TensorType) or type_.shape is None or type_.dtype is None:
            raise EvaluationError(f"`{graph.label(node)}` has no known type, so no random value")
        if not numpy_dtype_exists(type_.dtype):
            raise EvaluationError(f"`{name}`: no values of type {type_.dtype}")
        shape = tuple(
            d if isinstance(d, int) else (dims or {}).get(d.name, _SYMBOLIC) if isinstance(d, Symbol) else _SYMBOLIC
            for d in type_.shape
        )
        if math.prod(shape) > _MOST_ELEMENTS:
            raise EvaluationError(f"`{name}` is {type_}: too large for a value")
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        values[name] = _sample(graph, node, rng, shape, numpy_dtype(type_.dtype), dims)
    return values


def _sample(graph: Graph, node: int, rng: Any, shape: tuple[int, ...], dtype: Any, dims: Mapping[str, int] | None) -> Any:
    positive = any(
        k < len(graph.operands[user]) and graph.operands[user][k] == node
        for user in graph.users[node]
        for k in _POSITIVE_OPERANDS.get(graph.op[user], ())
    )
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        bounds = bounds_of(graph, node, dims, _SYMBOLIC)
        if bounds is not None:
            return rng.integers(*bounds, shape).astype(dtype)
        return rng.integers(0 if dtype.kind == "u" else -8, 8, shape).astype(dtype)
    array = rng.standard_normal(shape)
    if graph.op[node] is not INPUT and len(shape) >= 2:
        array = array / math.sqrt(max(1, math.prod(shape[1:])))
    if positive or (graph.names[node] or "").endswith(("_var", "variance", "moving_var", "running_var")):
        array = np.abs(array) + 0.5
    return array.astype(dtype)
