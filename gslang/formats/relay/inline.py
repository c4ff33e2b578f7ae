"""Calls of global functions replaced by the functions' bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gslang.base.diagnostics import InputError
from gslang.formats.relay.metadata import REFERENCE
from gslang.graph.graph import CONST, VARIABLES, Graph

_MOST_NODES: Final = 200_000


def inlined(
    main: str, graphs: Mapping[str, Graph], parameters: Mapping[str, list[int]], order: list[str], path: str
) -> Graph:
    """The graph of function `main` with every call of a function in `graphs` replaced. `path` only names the
    file in messages.

    `order` has the functions that `main` reaches, callees first, `main` last; none of them may reach itself.
    Raises `InputError` if some function would have more than 200,000 nodes.
    """
    sizes: dict[str, int] = {}
    for name in order:
        graph = graphs[name]
        sizes[name] = sum([sizes.get(graph.op[node], 1) for node in graph.nodes()])
        if sizes[name] > _MOST_NODES:
            message = (
                f"function `{name}` would have {sizes[name]:,} nodes with all calls inlined; at most "
                f"{_MOST_NODES:,} are made"
            )
            raise InputError(message, path=path, help="remove `--inline`: calls of functions remain calls")
    done: dict[str, tuple[Graph, list[int]]] = {}
    for name in order:
        done[name] = _expanded(graphs[name], parameters[name], done)
    result = done[main][0]
    result.name = graphs[main].name
    return result


def _expanded(
    graph: Graph, parameters: list[int], done: Mapping[str, tuple[Graph, list[int]]]
) -> tuple[Graph, list[int]]:
    result = Graph(graph.dialect, graph.name)
    result.meta = dict(graph.meta)
    constants: dict[str, int] = {}
    names: set[str] = set()
    where: dict[int, int] = {}
    for node in parameters:
        where[node] = _copy(graph, node, (), result, constants, names)
    for node in [n for n in graph.nodes() if graph.op[n] in VARIABLES] + graph.reverse_post_order():
        if node in where:
            continue
        operands = tuple([where[o] if o >= 0 else o for o in graph.operands[node]])
        callee = done.get(graph.op[node])
        if callee is None:
            where[node] = _copy(graph, node, operands, result, constants, names)
            continue
        body, formal = callee
        inner = dict(zip(formal, operands))
        for n in body.reverse_post_order():
            if n not in inner:
                inner[n] = _copy(
                    body, n, tuple([inner[o] if o >= 0 else o for o in body.operands[n]]), result, constants,
                    names,
                )
        where[node] = inner[body.outputs[0]]
    result.set_outputs([where[node] for node in graph.outputs])
    return result, [where[node] for node in parameters]


def _copy(
    graph: Graph,
    node: int,
    operands: tuple[int, ...],
    result: Graph,
    constants: dict[str, int],
    names: set[str],
) -> int:
    name = graph.names[node]
    is_reference = graph.op[node] is CONST and name is not None and REFERENCE.fullmatch(name) is not None
    if is_reference and name in constants:
        return constants[str(name)]
    new = result.add(
        graph.op[node], operands, graph.attrs[node], graph.types[node], None if name in names else name
    )
    if name is not None:
        names.add(name)
        if is_reference:
            constants[name] = new
    if node in graph.values:
        result.values[new] = graph.values[node]
    if node in graph.extras:
        result.extras[new] = dict(graph.extras[node])
    return new
