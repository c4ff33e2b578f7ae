"""Values for a graph's inputs, parameters and constants that have none, the same for the same name and seed.

Relay text without its metadata has constants without values: rules cannot look at these, but numbers can be
compared.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.dialect.dtypes import numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.evaluate.bfloat16 import as_bfloat16
from gslang.evaluate.errors import EvaluationError, TooLargeError
from gslang.evaluate.index_ranges import bounds_of
from gslang.graph.graph import INPUT, LEAVES, Graph

_OPEN = (2, 2)  # sizes of leading and of other dimensions, symbolic or unknown, that nothing fixes
_PART = 2**20
_MOST_ELEMENTS = 2**27  # of one input: 512 MiB of float32
_POSITIVE_OPERANDS = {
    "sqrt": (0,), "rsqrt": (0,), "log": (0,), "nn.batch_norm": (4,), "log2": (0,), "log10": (0,),
    "Sqrt": (0,), "Log": (0,), "BatchNormalization": (4,),
    "qnn.quantize": (1,), "qnn.dequantize": (1,), "qnn.requantize": (1, 3),
    **dict.fromkeys(("qnn.add", "qnn.subtract", "qnn.multiply"), (2, 4, 6)),
}  # fmt: skip


def random_inputs(
    graph: Graph, seed: int = 0, dims: Mapping[str, int] | None = None, unknown: tuple[int, int] = _OPEN, *,
    given: Container[str] = (), most: int = _MOST_ELEMENTS,
) -> dict[str, Array]:  # fmt: skip
    """Values by name. Floats are normal, parameters and constants scaled by 1/√fan-in; variances and operands
    of roots are positive; integers are small, indices within their axis (`index_ranges`).

    `dims`: sizes of symbolic dimensions; `unknown`: those of all others, leading ones (of a matrix and more)
    first. Names that are `given` get no value. Raises `EvaluationError` where a type is not known, and for
    more than `most` elements.
    """
    values: dict[str, Array] = {}
    sizes = {**_symbol_sizes(graph, unknown), **(dims or {})}
    for node in graph.reverse_post_order():
        name = graph.names[node]
        if graph.op[node] not in LEAVES or node in graph.values or name in given:
            continue
        type_ = graph.types[node]
        if name is None or not isinstance(type_, TensorType) or type_.shape is None or type_.dtype is None:
            raise EvaluationError(f"the shape of `{graph.label(node)}` is unknown: cannot generate an input")
        if not numpy_dtype_exists(type_.dtype):
            raise EvaluationError(f"`{name}`: no values of type {type_.dtype}")
        shape = tuple([
            d if isinstance(d, int)
            else sizes[d.name] if isinstance(d, Symbol)
            else unknown[bool(k) or len(type_.shape) == 1]
            for k, d in enumerate(type_.shape)
        ])
        if math.prod(shape) > most:
            raise TooLargeError(
                f"`{name}` is {type_}: too large for a random value (the limit is {most:,} elements)"
            )
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        try:
            values[name] = _sample(graph, node, rng, shape, numpy_dtype(type_.dtype), sizes)
            if type_.dtype == "bfloat16":
                values[name] = as_bfloat16(values[name])
        except (ValueError, MemoryError) as error:  # more dimensions than NumPy has
            raise EvaluationError(f"`{name}` cannot be a value: {error}") from error
    return values


def _symbol_sizes(graph: Graph, unknown: tuple[int, int]) -> dict[str, int]:
    """Sizes of the symbolic dimensions of leaves: the second one unless a dimension is the first of all
    matrices and more that have it.
    """
    shapes = [
        type_.shape or ()
        for n in graph.nodes() if graph.op[n] in LEAVES and isinstance(type_ := graph.types[n], TensorType)
    ]
    inner = {
        d.name for shape in shapes for d in (shape[1:] if len(shape) > 1 else shape) if isinstance(d, Symbol)
    }
    return {d.name: unknown[d.name in inner] for shape in shapes for d in shape if isinstance(d, Symbol)}


def _sample(
    graph: Graph, node: int, rng: Any, shape: tuple[int, ...], dtype: Any, sizes: Mapping[str, int]
) -> Any:
    positive = any(
        k < len(graph.operands[user]) and graph.operands[user][k] == node
        for user in graph.users[node]
        for k in _POSITIVE_OPERANDS.get(graph.op[user], ())
    )
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        bounds = bounds_of(graph, node, sizes)
        if bounds is not None:
            return rng.integers(*bounds, shape).astype(dtype)
        return rng.integers(0 if dtype.kind == "u" else -8, 8, shape).astype(dtype)
    scale = (
        math.sqrt(max(1, math.prod(shape[1:]))) if graph.op[node] is not INPUT and len(shape) >= 2 else 1.0
    )
    positive = positive or (graph.names[node] or "").endswith(
        ("_var", "variance", "moving_var", "running_var")
    )
    result = np.empty(shape, dtype)
    flat = result.reshape(-1)
    for start in range(0, flat.size, _PART):  # drawn in float64, of which no more is held at a time
        part = rng.standard_normal(min(_PART, flat.size - start)) / scale
        flat[start : start + _PART] = np.abs(part) + 0.5 if positive else part
    return result
