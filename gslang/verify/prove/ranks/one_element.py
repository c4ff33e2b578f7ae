"""Constants that have a single element whatever their rank: what is read of them does not depend on it."""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.walks import against_constant, walk
from gslang.verify.prove.operators.onnx_operands import asked_to_be_single


def _is_single(rule: ir.CheckedRule, node: int) -> bool:
    """True if the rule, or each call that takes a constant, says that it has a single element."""
    if node in asked_to_be_single(rule):
        return True
    said = [part for condition in rule.where for part in _conjuncts(condition)]
    return isinstance(rule.nodes[node], ir.LeafNode) and one_element(node) in said


def is_about_one_number(rule: ir.CheckedRule, condition: ir.Value) -> bool:
    """True if a decision only asks for the rank of a constant that has a single element, to read that
    element.
    """
    match against_constant(condition):
        case ir.NodeAttr(_, node, "ndim"), _, int():
            return _is_single(rule, node) or _is_single_here(rule, node, condition)
    return False


def _is_single_here(rule: ir.CheckedRule, node: int, condition: ir.Value) -> bool:
    """True if a condition stands behind one by which a constant has a single element: `numel(c.shape) == 1
    and …`.
    """
    wanted = one_element(node)
    for part in walk((rule.where, rule.lets)):
        if isinstance(part, ir.AllOf) and wanted in part.items:
            behind = part.items[part.items.index(wanted) + 1 :]
            if any(inner is condition for item in behind for inner in walk(item)):
                return True
    return False


def one_element(node: int) -> ir.CompareValue:
    """The condition that a constant has a single element."""
    elements = ir.Builtin("numel", (ir.NodeAttr(ir.OWN, node, "shape"),))
    return ir.CompareValue("==", elements, ir.Const(1))


def _conjuncts(condition: ir.Value) -> list[ir.Value]:
    """The parts of a condition that hold wherever a number in it is read."""
    match condition:
        case ir.AllOf(items):
            return [part for item in items for part in _conjuncts(item)]
        case ir.SelectValue(arms=arms):
            return [part for arm in arms if arm is not None for part in _conjuncts(arm)]
    return [condition]
