"""Graphs built in Python: each node's type follows at once, so a mistake shows at the line that makes it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_node

Fill = Callable[[str, tuple[int, ...]], Any]
"""Name and shape of a parameter → its value (float32), or None."""


class Builder:
    """Makes a graph node by node; a node is its number. `fill` gives parameters their values."""

    def __init__(self, dialect: Dialect, name: str = "main", fill: Fill | None = None) -> None:
        self.graph = Graph(dialect.name, name)
        self.dialect = dialect
        self.fill = fill

    def input(self, name: str, shape: Sequence[int], dtype: str = "float32") -> int:
        """A new input."""
        return self.graph.add_input(name, TensorType(tuple(shape), dtype))

    def param(self, name: str, shape: Sequence[int], scale: float = 1.0) -> int:
        """A float32 parameter; `scale` multiplies its value."""
        value = self.fill(name, tuple(shape)) if self.fill is not None else None
        if value is not None and scale != 1.0:
            value = value * value.dtype.type(scale)
        return self.graph.add_param(name, TensorType(tuple(shape), "float32"), value)

    def const(self, value: object, dtype: str = "float32") -> int:
        """A constant from a number or nested sequence."""
        import numpy

        array = numpy.asarray(value, dtype)
        return self.graph.add_const(array, TensorType(tuple(array.shape), dtype))

    def call(self, op: str, *operands: int, **attrs: object) -> int:
        """A call. Raises `TypeInferenceError` if operands and attributes contradict each other."""
        normal = {name: _normal(value) for name, value in attrs.items()}
        node = self.graph.add(op, operands, normal)
        self.graph.types[node] = infer_node(self.graph, self.dialect, node)
        return node

    def pack(self, *fields: int) -> int:
        """A tuple of nodes."""
        node = self.graph.add_tuple(fields)
        self.graph.types[node] = infer_node(self.graph, self.dialect, node)
        return node

    def field(self, base: int, index: int) -> int:
        """A field of a tuple."""
        node = self.graph.add_proj(base, index)
        self.graph.types[node] = infer_node(self.graph, self.dialect, node)
        return node

    def shape(self, node: int) -> tuple[int, ...]:
        """The known shape of a tensor. Raises `ValueError` if it is not known."""
        type = self.graph.types[node]
        if not isinstance(type, TensorType) or type.shape is None or not is_static(type.shape):
            raise ValueError(f"the shape of {self.graph.label(node)} is not known: {type}")
        return tuple([d for d in type.shape if isinstance(d, int)])

    def finish(self, *outputs: int) -> Graph:
        """The graph, with these outputs."""
        self.graph.set_outputs(outputs)
        return self.graph


def initial_values(seed: int = 0) -> Fill:
    """Values such as training starts from, by name: the same for the same name and seed, whatever else there
    is.

    Scales (`…gamma`, `…var`) are near 1, shifts (`…beta`, `…mean`, `…bias`) near 0; everything else is normal
    with the variance 2 / fan-in (He et al. 2015), which keeps activations in range through deep networks.
    """
    import numpy

    def fill(name: str, shape: tuple[int, ...]) -> object:
        random = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
        values = random.standard_normal(shape, dtype=numpy.float32)
        if name.endswith(("gamma", "var")):
            return 1 + 0.1 * numpy.abs(values)
        if name.endswith(("beta", "mean", "bias")):
            return numpy.float32(0.1) * values
        return values * numpy.float32(math.sqrt(2 / max(1, math.prod(shape[1:]))))

    return fill


def _normal(value: object) -> object:
    return tuple([_normal(item) for item in value]) if isinstance(value, (list, tuple)) else value
