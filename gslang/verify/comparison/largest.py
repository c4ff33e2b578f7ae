"""The size of what an instance computes, before it is: constants can ask for any amount of memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, isfinite, prod
from types import MappingProxyType

from gslang.dialect.tensor_type import is_static
from gslang.graph.graph import Graph

MOST: int = 1 << 24  # elements of one tensor, of which several are computed at a time
_RANGES = frozenset({"Range", "arange"})


def largest(graph: Graph, times: Mapping[str, int] = MappingProxyType({})) -> int:
    """The elements of the largest tensor of a graph, as far as types and the constants of ranges tell; those
    of an operator in `times` count so many times.
    """
    found = 0
    for node in graph.nodes():
        shape = getattr(graph.types[node], "shape", None) or ()
        if is_static(shape):
            found = max(found, times.get(graph.op[node], 1) * prod(shape))
        if graph.op[node] in _RANGES:
            found = max(found, _length(graph, node))
    return found


def _length(graph: Graph, node: int) -> int:
    """The elements of a range of constants; 0 where that is not known."""
    given = list(_numbers(graph, node))
    if len(given) != 3 or not all(map(isfinite, given)) or not given[2]:
        return 0
    return max(ceil((given[1] - given[0]) / given[2]), 0)


def _numbers(graph: Graph, node: int) -> Iterator[float]:
    for operand in graph.operands[node]:
        if operand in graph.values and (value := graph.value(operand)).size == 1:
            yield float(value.item())
