"""Observers of a run: callers, and the provenance of new nodes."""

from __future__ import annotations

from collections.abc import Callable

from gslang.engine.fixed_point import Observer
from gslang.engine.rewrite import Application
from gslang.graph.graph import Graph

Watch = Callable[[str, Graph], Observer]
"""The observer of a graph, asked for before the graph is changed. The path is "" for the graph
itself; graphs inside of an ONNX model have paths like `y/then_branch` (a body of the node that makes `y`) and
`local.F()` (a function).
"""


def observer_of(
    path: str, graph: Graph, watch: Watch | None, provenance: bool, before: int
) -> Observer | None:
    """The observer of one graph of a model, if there is any.

    `before`: applications elsewhere, which its own are counted on from.
    """
    watching = None if watch is None else watch(path, graph)
    observer = _noting_origins(graph, watching) if provenance else watching
    if observer is None or not before:
        return observer
    return lambda number, what: observer(before + number, what)


def _noting_origins(graph: Graph, also: Observer | None) -> Observer:
    """An observer that notes at each new node which application made it, from what."""
    from gslang.engine.replay import ids_of

    ids = ids_of(graph)

    def observe(number: int, what: Application | str) -> None:
        if not isinstance(what, str):
            origin = {
                "rule": what.rule,
                "application": number,
                "from": [ids(n) for n in what.removed] or [ids(n) for n in what.outputs],
            }
            for node in what.added:
                graph.extras[node] = {**graph.extras.get(node, {}), "origin": origin}
        if also is not None:
            also(number, what)

    return observe
