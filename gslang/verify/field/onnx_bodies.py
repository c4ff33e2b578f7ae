"""`If`, `Loop` and `Scan` over a prime field: their bodies are evaluated as the graph around them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from gslang.dialect.onnx.scanned import Scanned, scanned
from gslang.dialect.tensor_type import UnknownValue
from gslang.graph.graph import Graph
from gslang.graph.inner_graph import InnerGraph, inner_graph
from gslang.verify.field.dual import Dual
from gslang.verify.field.residues import NoField

_MOST_ROUNDS: Final = 20

Values = Mapping[int, object]
Evaluate = Callable[[Graph, Mapping[str, object]], Sequence[object]]
"""The outputs of a graph, for the values of its inputs by name."""


def branch(graph: Graph, node: int, values: Values, evaluate: Evaluate) -> tuple[object, ...]:
    """The results of an `If`. `values`: of the nodes around it. Raises `NoField`."""
    chosen = "then_branch" if _truth(values[graph.operands[node][0]]) else "else_branch"
    return tuple(_outputs(_body(graph, node, chosen), values, (), evaluate))


def rounds(graph: Graph, node: int, values: Values, evaluate: Evaluate) -> tuple[object, ...]:
    """The results of a `Loop`: what it carries, then what it collects. `values`: of the nodes around it.
    Raises `NoField`.
    """
    body = _body(graph, node, "body")
    count, go, *carried = [
        values[o] if o >= 0 else None for o in graph.operands[node][: len(body.inputs)]
    ]
    collected = _columns(len(body.graph.outputs) - 1 - len(carried))
    most = _MOST_ROUNDS + 1 if count is None else int(np.asarray(count).reshape(-1)[0])
    goes_on = go is None or _truth(go)
    for k in range(most):
        if not goes_on:
            break
        if k == _MOST_ROUNDS:
            raise NoField("a loop with many iterations")
        own = (np.asarray(k, np.int64), np.asarray(goes_on), *carried)
        go, *results = _outputs(body, values, own, evaluate)
        carried = _next_round(results, len(carried), collected)
        goes_on = _truth(go)
    return (*carried, *[_stacked(column, 0, False) for column in collected])


def scan(graph: Graph, node: int, values: Values, evaluate: Evaluate) -> tuple[object, ...]:
    """The results of a `Scan`: its states, then what it collects. `values`: of the nodes around it. Raises
    `NoField`.
    """
    body = _body(graph, node, "body")
    formal = [values[o] for o in graph.operands[node][: len(body.inputs)]]
    try:
        how = scanned(graph.attrs[node], len(formal), len(body.graph.outputs))
    except ValueError as error:
        raise NoField(str(error)) from error
    states, inputs = formal[: how.states], formal[how.states :]
    lengths = {_shape(value)[axis] for value, (axis, _) in zip(inputs, how.inputs)}
    if len(lengths) != 1 or (length := lengths.pop()) > _MOST_ROUNDS:
        raise NoField("a scan over inputs of different lengths, or with many iterations")
    collected = _columns(len(how.outputs))
    for k in range(length):
        own = [*states, *_slices(inputs, how, k, length)]
        states = _next_round(_outputs(body, values, own, evaluate), how.states, collected)
    return (*states, *[_stacked(column, *place) for column, place in zip(collected, how.outputs)])


BODIES: Final[Mapping[str, Callable[[Graph, int, Values, Evaluate], tuple[object, ...]]]] = {
    "If": branch, "Loop": rounds, "Scan": scan,
}


def _body(graph: Graph, node: int, attribute: str) -> InnerGraph:
    try:
        return inner_graph(graph, node, attribute)
    except UnknownValue as error:
        raise NoField(str(error)) from error


def _outputs(
    body: InnerGraph, values: Values, own: Sequence[object], evaluate: Evaluate
) -> Sequence[object]:
    """The values that a body computes from the values around it and its own inputs."""
    given = {str(body.graph.names[inner]): values[outer] for inner, outer in body.outer.items()}
    given.update({str(body.graph.names[inner]): value for inner, value in zip(body.inputs, own)})
    return evaluate(body.graph, given)


# ── what rounds carry on and collect ────────────────────────────────────────────────────────────────────────


def _columns(count: int) -> list[list[object]]:
    return [[] for _ in range(count)]


def _next_round(results: Sequence[object], carried: int, collected: list[list[object]]) -> list[object]:
    """The values with which the next round begins; the other results of this one are added to `collected`."""
    for column, value in zip(collected, results[carried:]):
        column.append(value)
    return [*results[:carried]]


def _slices(inputs: Sequence[object], how: Scanned, k: int, length: int) -> list[object]:
    """The part of each input that round k gets."""
    return [
        _moved(value, lambda array, a=axis, at=length - 1 - k if back else k: array.take(at, a))
        for value, (axis, back) in zip(inputs, how.inputs)
    ]


def _stacked(column: Sequence[object], axis: int, backwards: bool) -> object:
    """The values of all rounds as one, along a new axis. Raises `NoField` where they do not fit."""
    if not column:
        raise NoField("a scan output of a loop without iterations")
    parts = column[::-1] if backwards else column
    duals = [part for part in parts if isinstance(part, Dual)]
    try:
        if len(duals) < len(parts):
            return np.stack([np.asarray(part) for part in parts], axis)
        return Dual(np.stack([d.residue for d in duals], axis), np.stack([d.real for d in duals], axis))
    except ValueError as error:  # an axis that the results do not have
        raise NoField(str(error)) from error


def _moved(value: object, function: Callable[..., object]) -> object:
    return value.moved(function) if isinstance(value, Dual) else function(np.asarray(value))


def _shape(value: object) -> tuple[int, ...]:
    return value.shape if isinstance(value, Dual) else np.asarray(value).shape


def _truth(value: object) -> bool:
    array = np.asarray(value)
    if array.dtype.kind != "b" or array.size != 1:
        raise NoField("a condition that is not Boolean")
    return bool(array.reshape(-1)[0])
