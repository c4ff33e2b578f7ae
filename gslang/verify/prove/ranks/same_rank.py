"""Nodes of a source that have one rank, by what they are computed from and what conditions say.

For operators whose result has the rank of its longest operand: element-wise ones, sums that keep their axes.
"""

from __future__ import annotations

from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.walks import conjuncts, equations, is_field
from gslang.dialect.dialect import Dialect

REDUCTIONS = frozenset({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare"})
"""Of these the second operand names axes."""

_KEEP_SHAPE = frozenset({"cast", "Cast", "QuantizeLinear", "DequantizeLinear"})
_KEEP_RANK = frozenset({
    "Softmax", "LogSoftmax", "Hardmax", "LayerNormalization", "RMSNormalization", "Transpose", "Slice", "Pad",
    "Tile", "BatchNormalization", "InstanceNormalization", "GroupNormalization", "Conv", "ConvTranspose",
    "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "CumSum", "Trilu",
    "SimplifiedLayerNormalization", "transpose", "nn.softmax", "nn.log_softmax", "reverse", "nn.pad",
    "strided_slice", "nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.max_pool2d", "nn.avg_pool2d",
    "nn.layer_norm", "nn.bias_add",
})


def keeps_rank(dialect: Dialect, operator: str) -> bool:
    """True if the (first) result of an operator has the rank of its first operand."""
    of_dialect = not dialect.operators[operator].departs
    return of_dialect and operator in _KEEP_RANK or keeps_shape(dialect, operator)


def keeps_shape(dialect: Dialect, operator: str) -> bool:
    """True if the result of an operator has the shape of its first operand, and no other operand has axes of
    its own.
    """
    signature = dialect.operators[operator]
    return operator in _KEEP_SHAPE and not signature.departs or (
        "elementwise" in signature.traits and len(signature.operands) == 1
        and not signature.operands[0].variadic
    )


def users_in(rule: ir.CheckedRule) -> dict[int, set[int]]:
    """Each node of a source with those right above it."""
    above: dict[int, set[int]] = {number: set() for number in range(len(rule.nodes))}
    for number, node in enumerate(rule.nodes):
        for below in node.below:
            above[below].add(number)
    return above


def has_rank_of(rule: ir.CheckedRule, operand: int, node: int) -> bool:
    """True if an operand has the rank of a node in every match: it is computed from that, and what is
    computed from the operand has no other rank by a condition; or so are all operands that it is made of.
    """
    parts = _data_operands(rule.nodes[operand])
    if operand == node or parts and all(has_rank_of(rule, part, node) for part in parts):
        return True
    if node not in _always_below(rule, operand):
        return False
    return any(
        side.name in ("ndim", "shape") and is_field(other, side.name) and other.node == node
        and _stands_over(rule, side.node, operand)
        for side, other in equations(conjuncts(rule.where, rule.lets))
    )


def _always_below(rule: ir.CheckedRule, number: int) -> set[int]:
    """The nodes that one is computed from whatever alternatives are taken: its rank is at least theirs."""
    node = rule.nodes[number]
    if isinstance(node, ir.AltNode):
        return set.intersection(*({k, *_always_below(rule, k)} for k in node.branches))
    data = [k for k in _data_operands(node) if not rule.nodes[k].optional]
    return set(data).union(*(_always_below(rule, k) for k in data))


def _data_operands(node: ir.Pattern) -> list[int]:
    if isinstance(node, ir.CallNode) and set(node.operators) & REDUCTIONS:
        return [node.operands[0]] if isinstance(node.operands[0], int) else []
    return list(node.below)


def _stands_over(rule: ir.CheckedRule, top: int, number: int) -> bool:
    """True if each way up from a node leads through `top`, over operands whose rank the result has."""
    above = users_in(rule)
    met = reachable([number], lambda k: () if k == top else above[k])
    passed = [k for k in met if k != top]
    return top in met and all(
        k not in rule.outputs and above[k]
        and all(k in _data_operands(rule.nodes[user]) for user in above[k])
        for k in passed
    )
