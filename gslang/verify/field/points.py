"""Random points of a prime field for the inputs of a graph."""

from __future__ import annotations

from math import prod
from typing import Any

from gslang.dialect.dtypes import numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.evaluate.index_ranges import bounds_of
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.verify.field.dual import random_dual
from gslang.verify.field.residues import NoField

LARGEST = 1 << 20  # elements of one input
MOST_AXES = 30  # NumPy has 32 or more


def random_point(graph: Graph, rng: object, positive: bool, unit: int) -> dict[str, object]:
    """A value for each input and parameter that has none, by name: a random `Dual` for floats (multiples of
    1/`unit`, on both sides of 0 unless `positive`), truth values; whole numbers that say positions, counts or
    ends of ranges, and in ONNX all others, small ones. Raises `NoField`.
    """
    point: dict[str, object] = {}
    for node in graph.nodes():
        if graph.op[node] in (INPUT, PARAM) and node not in graph.values:
            point[str(graph.names[node])] = _value(graph, node, rng, positive, unit)
    return point


def _value(graph: Graph, node: int, rng: Any, positive: bool, unit: int) -> Any:
    type_ = graph.types[node]
    if not isinstance(type_, TensorType) or type_.dtype is None or not is_static(type_.shape):
        raise NoField(f"an input of type {type_}")
    shape = tuple(d for d in type_.shape or () if isinstance(d, int))
    if len(shape) > MOST_AXES:
        raise NoField(f"an input of more than {MOST_AXES} axes")
    if prod(shape) > LARGEST:
        raise NoField("an input is too large")
    if type_.dtype.startswith(("float", "bfloat")):
        return random_dual(shape, rng, positive, unit)
    if type_.dtype == "bool":
        return rng.random(shape) < 0.5
    if type_.dtype.startswith(("int", "uint")) and numpy_dtype_exists(type_.dtype):
        bounds = bounds_of(graph, node, {})
        if bounds is not None or graph.dialect == "onnx":
            return rng.integers(*(bounds or (0, 3)), shape).astype(numpy_dtype(type_.dtype))
    raise NoField(f"an input of type {type_}")
