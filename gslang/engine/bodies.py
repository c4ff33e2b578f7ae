"""Comparison of what a body computes with the calls, outer values, inputs and constants that a rule states
(language.md §3).

A body is read as any graph is: operators in their latest version. `Identity` computes nothing and is skipped
unless the rule calls it; ONNX needs it where a body returns one of its inputs or an outer value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gslang.check import checked as ir
from gslang.engine.scope import Scope
from gslang.engine.values import FAILURES, call_attribute, constant_of
from gslang.graph.call_text import call_text
from gslang.graph.graph import ABSENT, CONST, LEAVES, PROJ
from gslang.graph.inner_graph import InnerGraph

_SHOWN: Final = 3  # levels of calls


def computes(
    body: InnerGraph, stated: ir.Computes, scope: Scope, passes: Callable[[ir.Test, object, Scope], bool]
) -> bool:
    """True if a body has the outputs that a rule states. `passes`: of `constraints`."""

    def fits(part: ir.BodyPart, node: int) -> bool:
        graph = body.graph
        written = isinstance(part, ir.BodyCall) and part.operator == "Identity"
        if not written and not isinstance(part, ir.BodyChoice):  # an alternative may say it
            while graph.op[node] == "Identity":
                node = graph.operands[node][0]
        match part:
            case ir.Anything():
                return True
            case ir.OuterValue():
                return body.outer.get(node, ABSENT) == scope.slot(part.place, part.node) != ABSENT
            case ir.BodyInput(index):
                return index < len(body.inputs) and body.inputs[index] == node
            case ir.BodyConstant(test):
                return graph.op[node] is CONST and passes(test, constant_of(graph, node), scope)
            case ir.BodyResult(call, index):
                return (
                    graph.op[node] is PROJ and graph.attrs[node]["index"] == index
                    and fits(call, graph.operands[node][0])
                )
            case ir.BodyChoice(parts):
                return any(fits(part, node) for part in parts)
            case ir.BodyCall():
                return graph.op[node] == part.operator and operands_fit(part, node) and all(
                    attribute_fits(constraint, node) for constraint in part.constraints
                )

    def operands_fit(call: ir.BodyCall, node: int) -> bool:
        given = body.graph.operands[node]
        orders = [given, given[::-1]] if call.swappable and len(given) == 2 else [given]
        return any(in_order(call, order) for order in orders)

    def in_order(call: ir.BodyCall, given: tuple[int, ...]) -> bool:
        missing = (None,) * (len(given) - len(call.operands))
        given += (ABSENT,) * (len(call.operands) - len(given))
        return all(
            operand == ABSENT if part is None else operand != ABSENT and fits(part, operand)
            for part, operand in zip((*call.operands, *missing), given)
        )

    def attribute_fits(constraint: ir.Constraint, node: int) -> bool:
        try:
            found = call_attribute(body.graph, scope.rule.dialect, node, constraint.field)
            return passes(constraint.test, found, scope)
        except FAILURES:
            return False

    outputs = body.graph.outputs
    return len(outputs) == len(stated.outputs) and all(map(fits, stated.outputs, outputs))


def described(body: InnerGraph, label: Callable[[int], str]) -> str:
    """The outputs of a body, as a rule would describe them; `…` for what lies deeper.

    `label`: of an outer node.
    """
    graph = body.graph

    def text(node: int, depth: int) -> str:
        if node in body.outer:
            return label(body.outer[node])
        if node in body.inputs:
            return f"input[{body.inputs.index(node)}]"
        if node == ABSENT:
            return "none"
        if graph.op[node] in LEAVES:
            value = graph.value(node)
            return str(value.item()) if value is not None and value.size == 1 else "const()"
        below = [text(operand, depth - 1) for operand in graph.operands[node]] if depth else ["…"]
        return call_text(graph.op[node], below, graph.attrs[node])

    parts = [text(node, _SHOWN) for node in graph.outputs]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
