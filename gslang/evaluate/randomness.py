"""Values that depend on random numbers: two runs of one graph differ, and cannot be compared."""

from __future__ import annotations

from typing import Final

import numpy as np

from gslang.dialect.tensor_type import UnknownValue
from gslang.graph.graph import ABSENT, Graph
from gslang.graph.inner_graph import inner_graph

_DRAWING: Final = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
})
_TRAINING: Final = 2  # the operand of `Dropout` that says whether it drops anything


def random_nodes(graph: Graph) -> dict[int, str]:
    """A node whose value depends on random numbers → the call that draws them without a `seed`, as it is
    shown.

    `Dropout` draws in training mode, and where the mode is not a constant.
    """
    found: dict[int, str] = {}
    for node in graph.reverse_post_order():
        below = next((found[operand] for operand in graph.operands[node] if operand in found), None)
        if below is not None or _draws(graph, node):
            found[node] = below or f"{graph.op[node]} `{graph.label(node)}`"
    return found


def _draws(graph: Graph, node: int) -> bool:
    attrs, operands = graph.attrs[node], graph.operands[node]
    if graph.op[node] in _DRAWING:
        return "seed" not in attrs
    if graph.op[node] == "Dropout":
        return "seed" not in attrs and len(operands) > _TRAINING and not _is_off(graph, operands[_TRAINING])
    for name in attrs:
        try:
            body = inner_graph(graph, node, name).graph
        except UnknownValue:
            continue
        if any(_draws(body, inner) for inner in body.nodes()):
            return True
    return False


def _is_off(graph: Graph, mode: int) -> bool:
    """True for an omitted operand, or a constant that is false."""
    return mode == ABSENT or (value := graph.value(mode)) is not None and not np.any(value)
