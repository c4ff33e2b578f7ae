"""The growth of a model by folding, computed beforehand from types where they are known.

A result of folding is *large* if it takes more than `limit` bytes above the constants that it is computed
from, as far as these go: a constant that something else reads too stays, and makes no room. A large result is
computed all the same if something that is not large follows from it, unless it is enormous.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from gslang.dialect.dtypes import numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import TensorType, TupleType, Type, is_static
from gslang.graph.graph import Graph

_ENORMOUS: Final = 1 << 30  # bytes; nothing of that size is computed on the way to something small


class Growth:
    """Tells which results are large. `size` tells how many bytes become free with an operand that is not."""

    def __init__(self, limit: int | None, size: Callable[[int], int]) -> None:
        self.limit, self._size = limit, size
        self._below: dict[int, int] = {}  # large result → bytes of the constants below it

    def is_large(self, node: int, operands: Iterable[int], nbytes: int) -> bool:
        """True if the value of a node is large; those of its operands have been asked for."""
        if self.limit is None or nbytes <= self.limit:
            return False
        below = sum([self._below[o] if o in self._below else self._size(o) for o in set(operands) if o >= 0])
        if nbytes <= self.limit + below:
            return False
        self._below[node] = below
        return True


def worth_computing(graph: Graph, nodes: list[int], limit: int | None) -> list[int]:
    """Those of `nodes`, which are in order and depend on values alone, that are not large by their types or
    lead to such.
    """
    if limit is None:
        return nodes
    types = graph.types
    bytes_of_type = {type: bytes_of(type) or 0 for type in {types[node] for node in nodes}}
    sizes = {node: nbytes for node in nodes if (nbytes := bytes_of_type[types[node]]) > limit}
    if not sizes:
        return nodes
    values = graph.values
    folded = frozenset(nodes)

    def freed(node: int) -> int:
        return (
            0 if stays(graph, node, folded)
            else nbytes_of(values[node]) if node in values
            else sizes.get(node, 0)
        )

    growth = Growth(limit, freed)
    large = {node for node in nodes if growth.is_large(node, graph.operands[node], sizes.get(node, 0))}
    worth: set[int] = set()
    for node in reversed(nodes):
        if node not in large or (sizes[node] <= _ENORMOUS and not worth.isdisjoint(graph.users[node])):
            worth.add(node)
    return [node for node in nodes if node in worth]


def stays(graph: Graph, node: int, folded: Collection[int]) -> bool:
    """True if a value is still read when `folded` are computed."""
    return node in graph.output_uses or any([user not in folded for user in graph.users[node]])


def bytes_of(type: Type | None) -> int | None:
    """None where the type does not tell."""
    if isinstance(type, TupleType):
        parts = [bytes_of(field) for field in type.fields]
        return sum([part for part in parts if part is not None])
    if (
        not isinstance(type, TensorType) or type.dtype is None or type.shape is None
        or not is_static(type.shape) or not numpy_dtype_exists(type.dtype)
    ):
        return None
    return math.prod([d for d in type.shape if isinstance(d, int)]) * int(numpy_dtype(type.dtype).itemsize)


def nbytes_of(value: Any) -> int:
    """Bytes of an array, or of a tuple of arrays."""
    return sum([nbytes_of(part) for part in value]) if isinstance(value, tuple) else int(value.nbytes)
