"""`If` and `Loop` over a prime field: their bodies are evaluated as the graph around them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gslang.dialect.tensor_type import UnknownValue
from gslang.graph.graph import Graph
from gslang.graph.inner_graph import InnerGraph, inner_graph
from gslang.verify.field.residues import NoField

_MOST_ROUNDS: Final = 20

Evaluate = Callable[[Graph, Mapping[str, object]], list[Any]]
"""The outputs of a graph, for the values of its inputs by name."""


def branch(graph: Graph, node: int, values: Mapping[int, object], evaluate: Evaluate) -> tuple[Any, ...]:
    """The results of an `If`. `values`: of the nodes around it. Raises `NoField`."""
    chosen = "then_branch" if _truth(values[graph.operands[node][0]]) else "else_branch"
    return tuple(_outputs(_body(graph, node, chosen), values, (), evaluate))


def rounds(graph: Graph, node: int, values: Mapping[int, object], evaluate: Evaluate) -> tuple[Any, ...]:
    """The results of a `Loop` without scan outputs. `values`: of the nodes around it. Raises `NoField`."""
    body = _body(graph, node, "body")
    count, go, *carried = [
        values[o] if o >= 0 else None for o in graph.operands[node][: len(body.inputs)]
    ]
    if len(body.graph.outputs) != len(carried) + 1:
        raise NoField("a loop that collects values")
    most = _MOST_ROUNDS + 1 if count is None else int(np.asarray(count).reshape(-1)[0])
    goes_on = go is None or _truth(go)
    for k in range(most):
        if not goes_on:
            break
        if k == _MOST_ROUNDS:
            raise NoField("a loop of many rounds")
        own = (np.asarray(k, np.int64), np.asarray(goes_on), *carried)
        go, *carried = _outputs(body, values, own, evaluate)
        goes_on = _truth(go)
    return tuple(carried)


BODIES: Final[Mapping[str, Callable[[Graph, int, Mapping[int, object], Evaluate], tuple[Any, ...]]]] = {
    "If": branch, "Loop": rounds,
}


def _body(graph: Graph, node: int, attribute: str) -> InnerGraph:
    try:
        return inner_graph(graph, node, attribute)
    except UnknownValue as error:
        raise NoField(str(error)) from error


def _outputs(
    body: InnerGraph, values: Mapping[int, object], own: Sequence[object], evaluate: Evaluate
) -> list[Any]:
    """The values that a body computes from the values around it and its own inputs."""
    given = {str(body.graph.names[inner]): values[outer] for inner, outer in body.outer.items()}
    given.update({str(body.graph.names[inner]): value for inner, value in zip(body.inputs, own)})
    return evaluate(body.graph, given)


def _truth(value: object) -> bool:
    array = np.asarray(value)
    if array.dtype.kind != "b" or array.size != 1:
        raise NoField("a condition that is no truth value")
    return bool(array.reshape(-1)[0])
