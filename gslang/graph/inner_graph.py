"""Graphs in attributes: bodies of calls, which their format can read as graphs of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import UnknownValue
from gslang.graph.graph import Graph

READ: Final = "bodies"
"""In `graph.meta`: gives the body in an attribute of a node, told the graph, the node and the attribute.
Raises `UnknownValue`.
"""


@dataclass(frozen=True, slots=True)
class InnerGraph:
    """A body. `inputs`: nodes of its own inputs, in order; `outer`: node → the node of the graph around it
    whose value it is, an input or a constant here.
    """

    graph: Graph
    inputs: tuple[int, ...]
    outer: Mapping[int, int]


def inner_graph(graph: Graph, node: int, attribute: str) -> InnerGraph:
    """The body in an attribute of a node.

    Raises `UnknownValue` where there is none, or the format of the graph has none.
    """
    read: Callable[[Graph, int, str], InnerGraph] | None = graph.meta.get(READ)
    if read is None:
        raise UnknownValue(f"{graph.label(node)} has no body `{attribute}`")
    return read(graph, node, attribute)
