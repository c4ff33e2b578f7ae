"""Scales and zero points of one number whose rank makes no difference: those of rank 0 stand for all.

Operators on quantized numbers take a number alone and a vector with that number as the same. Where a rule
reads of such a constant nothing but the number, the element type and that it is one number, each match with
ranks of 1 has one with ranks of 0 beside it that is rewritten alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from gslang.check import checked as ir

_PARTS = ((1, 2), (4, 5), (6, 7))
# The places of (scale, zero point) among the operands.
_PAIRS: dict[str, tuple[tuple[int, int], ...]] = {
    "QuantizeLinear": ((1, 2),),
    "DequantizeLinear": ((1, 2),),
    "QLinearConv": _PARTS,
    "QLinearMatMul": _PARTS,
    **dict.fromkeys(
        (
            "com.microsoft.QLinearGlobalAveragePool", "com.microsoft.QLinearSigmoid",
            "com.microsoft.QLinearLeakyRelu",
        ), ((1, 2), (3, 4)),
    ),
    "com.microsoft.QLinearConcat": ((0, 1), (3, 4), (6, 7)),
    "com.microsoft.QGemm": ((1, 2), (4, 5), (7, 8)),
}


def plain_scales(rule: ir.CheckedRule, single: frozenset[int]) -> frozenset[int]:
    """Those of some constants with one element that are such scales and zero points."""
    found = {
        node for node in single
        if isinstance(leaf := rule.nodes[node], ir.LeafNode) and leaf.block is None and not leaf.optional
        and all(isinstance(test, ir.Constraint) and test.field == "dtype" for test in leaf.constraints)
        and not any(_asks(part, node) for part in _read(rule))
    }
    partners = list(_pairs(rule))
    used = {node for pair in partners for node in pair}
    found &= used - set(_used_otherwise(rule))
    while True:  # of a scale and its zero point both or none
        alone = {a for pair in partners for a, b in (pair, pair[::-1]) if a in found and b not in found}
        if not alone:
            return frozenset(found)
        found -= alone


def _read(rule: ir.CheckedRule) -> Iterator[object]:
    """All values that a rule computes."""
    yield from (rule.where, rule.lets, rule.nodes, rule.blocks)
    yield from (target for target in rule.target.targets if not isinstance(target, ir.SourceNode))


def _asks(part: object, node: int) -> bool:
    """True if an expression may depend on the rank of a constant."""
    match part:
        case ir.IfValue(
            ir.CompareValue("==", ir.NodeAttr(_, a, "ndim"), ir.Const(0)), ir.NodeAttr(_, b, "value"),
            ir.IfValue(
                ir.CompareValue("==", ir.NodeAttr(_, c, "ndim"), ir.Const(1)),
                ir.ItemValue(ir.NodeAttr(_, d, "value"), ir.Const(0)),
            ),
        ) if a == b == c == d == node:
            return False  # the number; there are no other ranks
        case ir.Builtin("numel", (ir.NodeAttr(_, a, "shape"),)):
            return False
        case ir.NodeAttr(_, a, name):
            return a == node and name not in ("dtype", "kind")
        case tuple() | list() | frozenset():
            return any(_asks(item, node) for item in part)
    if not is_dataclass(part) or isinstance(part, type):
        return False
    if isinstance(part, (ir.Uses, ir.TypeOf)) and getattr(part, "node", None) == node:
        return True
    return any(_asks(getattr(part, f.name), node) for f in fields(part) if not f.name.endswith("span"))


def _pairs(rule: ir.CheckedRule) -> Iterator[tuple[int, int]]:
    """The pattern nodes of each scale and zero point that stand beside each other, on both sides."""
    for operators, operands in _calls(rule):
        for operator in operators:
            for pair in _PAIRS.get(operator, ()):
                if max(pair) < len(operands):
                    nodes = [operands[place] for place in pair]
                    if all(node is not None for node in nodes):
                        yield nodes[0], nodes[1]  # type: ignore[misc]


def _calls(rule: ir.CheckedRule) -> Iterator[tuple[tuple[str, ...], list[int | None]]]:
    """(operators, the pattern nodes that are operands) of each call on both sides."""
    for call in rule.nodes:
        if isinstance(call, ir.CallNode):
            yield call.operators, [o if isinstance(o, int) else None for o in call.operands]
    targets = rule.target.targets
    for made in rule.target.calls:
        parts = [targets[k] for k in made.operands]
        nodes = [part.node if isinstance(part, ir.SourceNode) else None for part in parts]
        yield (made.operator,) if isinstance(made.operator, str) else (), nodes


def _used_otherwise(rule: ir.CheckedRule) -> Iterator[int]:
    """The pattern nodes that stand elsewhere than as scales and zero points."""
    for operators, operands in _calls(rule):
        for place, node in enumerate(operands):
            scales = [any(place in pair for pair in _PAIRS.get(name, ())) for name in operators]
            if node is not None and not (scales and all(scales)):
                yield node
    calls = rule.calls
    yield from (below for k, node in enumerate(rule.nodes) if k not in calls for below in node.below)
    yield from rule.outputs
    targets = rule.target.targets
    shown = set(rule.target.outputs)
    for target in targets:
        if not isinstance(target, ir.MakeCall):
            shown |= set(target.parts)
    yield from (t.node for k in shown if isinstance(t := targets[k], ir.SourceNode))
