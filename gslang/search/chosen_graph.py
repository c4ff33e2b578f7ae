"""A graph of chosen e-nodes."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.graph.graph import INPUT, Graph
from gslang.search.egraph import EGraph


def chosen_graph(graph: Graph, egraph: EGraph, chosen: Sequence[int]) -> tuple[Graph, dict[int, int]]:
    """The chosen e-nodes, operands first, as a graph with the inputs of the given one and the names of its
    outputs; and the node for each class.

    Raises `KeyError` if nothing stands for a class that an e-node or an output needs.
    """
    store = egraph.store
    result = Graph(graph.dialect, graph.name)
    result.meta = dict(graph.meta)
    came = {made: node for node, made in reversed(egraph.node_of.items())}
    there: dict[int, int] = {}
    for node in graph.nodes():  # inputs are the interface, also those that nobody reads
        if graph.op[node] is INPUT:
            made = result.add_input(graph.names[node] or "", graph.types[node])
            if node in graph.extras:
                result.extras[made] = dict(graph.extras[node])
            if node in egraph.node_of:
                there[egraph.find(egraph.node_of[node])] = made
    outputs = {
        egraph.find(made): graph.names[node]
        for node, made in reversed(list(zip(graph.outputs, egraph.outputs)))
    }
    taken = set(outputs.values())
    for node in chosen:
        leader = egraph.find(node)
        if leader in there:
            continue
        origin = came.get(node)
        name = outputs.get(leader) or (
            graph.names[origin] if origin is not None and graph.names[origin] not in taken else None
        )
        operands = [there[egraph.find(o)] if o >= 0 else o for o in store.operands[node]]
        there[leader] = made = result.add(
            store.op[node], operands, store.attrs[node], store.types[leader], name
        )
        if node in store.values:
            result.values[made] = store.values[node]
        if origin is not None and origin in graph.extras:
            result.extras[made] = dict(graph.extras[origin])
    result.set_outputs([there[egraph.find(output)] for output in egraph.outputs])
    return result, there
