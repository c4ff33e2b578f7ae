"""A graph in which calls of declared operators are replaced by what their declarations say they compute.

An operator without a declared value stays. Not here: single values (`evaluate.run` computes them node by
node).
"""

from __future__ import annotations

from gslang.dialect.dialect import Dialect
from gslang.engine.build import BuildError, build
from gslang.engine.meaning import frame
from gslang.engine.values import FAILURES
from gslang.graph.graph import CONST, INPUT, PARAM, Graph


class CannotExpand(Exception):
    """A declared value cannot be built for a call. The message names the operator."""


def expanded(graph: Graph, dialect: Dialect) -> Graph:
    """The graph itself where no operator in it has a declared value. Inputs stay, read or not: the other side
    of a rule may read them. Raises `CannotExpand`.
    """
    while any(_has_value(graph.op[node], dialect) for node in graph.reverse_post_order()):
        graph = _once(graph, dialect)  # a value may use operators that are declared before its own
    return graph


def _has_value(op: str, dialect: Dialect) -> bool:
    signature = dialect.operators.get(op)
    return (
        signature is not None and signature.meaning is not None
        and bool(signature.meaning.rule.target.outputs)
    )


def _once(graph: Graph, dialect: Dialect) -> Graph:
    wide = Graph(graph.dialect, graph.name)
    place: dict[int, int] = {}
    for node in _needed(graph):
        op, operands = graph.op[node], [place[o] if o >= 0 else o for o in graph.operands[node]]
        if _has_value(op, dialect):
            signature = dialect.operators[op]
            scope = frame(signature.meaning, wide, operands, signature.complete(graph.attrs[node]))
            try:
                place[node] = build(wide, dialect, signature.meaning.rule.target, scope)[0]
            except (BuildError, *FAILURES) as error:
                raise CannotExpand(f"`{op}`: {error}") from error
        else:
            place[node] = _copied(graph, node, operands, wide)
    wide.set_outputs([place[node] for node in graph.outputs])
    return _reachable(wide)


def _needed(graph: Graph) -> list[int]:
    """The nodes that the outputs depend on, in order, and the inputs that they do not depend on."""
    order = graph.reverse_post_order()
    reached = set(order)
    return order + [n for n in graph.nodes() if graph.op[n] in (INPUT, PARAM) and n not in reached]


def _reachable(graph: Graph) -> Graph:
    """Without the calls that were expanded."""
    clean = Graph(graph.dialect, graph.name)
    place: dict[int, int] = {}
    for node in _needed(graph):
        place[node] = _copied(graph, node, [place[o] if o >= 0 else o for o in graph.operands[node]], clean)
    clean.set_outputs([place[node] for node in graph.outputs])
    return clean


def _copied(graph: Graph, node: int, operands: list[int], into: Graph) -> int:
    op = graph.op[node]
    new = into.add(
        op, tuple(operands), graph.attrs[node], graph.types[node],
        graph.names[node] if op in (INPUT, PARAM) else None,
    )
    if node in graph.values and op in (INPUT, PARAM, CONST):
        into.values[new] = graph.values[node]
    return new
