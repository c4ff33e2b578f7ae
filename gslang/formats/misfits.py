"""Calls that contradict their operators: ONNX models may hold some, JSON has to say so (`x-misfit`), or it
would not be read again.
"""

from __future__ import annotations

from typing import Final

from gslang.dialect.call_check import CallError, checked_attributes
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Signature
from gslang.graph.graph import ABSENT, Graph
from gslang.graph.inference import infer_types

# of a call that contradicts its operator: a warning where it was read first, and in JSON so too
MISFIT_KEY: Final = "x-misfit"


def missing_operand(signature: Signature, operands: tuple[int, ...]) -> int | None:
    """The place of an omitted operand and must not be. What stands for a variadic one is the
    operator's matter.
    """
    for k, (spec, operand) in enumerate(zip(signature.operands, operands)):
        if operand == ABSENT and not (spec.optional or spec.variadic):
            return k
    return None


def with_misfits_noted(graph: Graph, dialect: Dialect) -> Graph:
    """The graph itself, or a copy in which each call that contradicts its operator's declaration says so."""
    found = {
        node: why
        for node in graph.nodes()
        if (signature := dialect.operators.get(graph.op[node])) is not None
        and (why := _undeclared(signature, graph, node)) is not None
    }
    typed = graph.copy()
    for node, why in infer_types(typed, dialect):
        found.setdefault(node, why)
    if not found:
        return graph
    copy = graph.copy()
    for node, why in found.items():
        copy.extras[node] = {**copy.extras.get(node, {}), MISFIT_KEY: why}
    return copy


def _undeclared(signature: Signature, graph: Graph, node: int) -> str | None:
    operands = graph.operands[node]
    try:
        checked_attributes(signature, len(operands), graph.attrs[node])
    except CallError as error:
        return str(error)
    k = missing_operand(signature, operands)
    return None if k is None else f"it requires its operand `{signature.operands[k].name}`"
