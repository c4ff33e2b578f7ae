"""Targets that rebuild a matched node: the same operator on the same nodes with the same attributes."""

from __future__ import annotations

from gslang.check import checked as ir

_MOST_NODES = 200  # of larger rules nothing is said: each node is one level of recursion


def is_small(rule: ir.CheckedRule) -> bool:
    """True if `rebuilt` may be asked about a rule."""
    return max(len(rule.nodes), len(rule.target.targets)) <= _MOST_NODES


def rebuilds_itself(rule: ir.CheckedRule) -> bool:
    """True if each output of the target is that of the source again."""
    outputs, target = rule.outputs, rule.target
    return (
        is_small(rule) and bool(outputs) and len(outputs) == len(target.outputs)
        and all(rebuilt(rule, k, t) for k, t in zip(outputs, target.outputs))
    )


def rebuilt(rule: ir.CheckedRule, k: int, t: int) -> bool:
    """True if a target is what a pattern node matched, over again."""
    pattern, made = rule.nodes[k], rule.target.targets[t]
    match made, pattern:
        case ir.SourceNode(node=node), _:
            return node == k
        case ir.MakeCall(), ir.CallNode():
            same_operator = (
                pattern.operators == (made.operator,) or isinstance(made.operator, tuple)
                and made.operator[1] == pattern.variable
            )
            if not same_operator or len(made.operands) != len(pattern.operands):
                return False
            orders = [pattern.operands, pattern.operands[::-1]] if pattern.swappable else [pattern.operands]
            operands = any(
                all(isinstance(p, int) and rebuilt(rule, p, m) for p, m in zip(order, made.operands))
                for order in orders
            )
            return operands and _same_attributes(rule, k, pattern, made)
        case (ir.MakeTuple(), ir.TupleNode()) | (ir.MakeProj(), ir.ProjNode()):
            given = (ir.Equals(made.index),) if isinstance(made, ir.MakeProj) else ()
            return pattern.asked("index") == given and len(made.parts) == len(pattern.parts) and all(
                isinstance(p, int) and rebuilt(rule, p, f) for p, f in zip(pattern.parts, made.parts)
            )
    return False


def _same_attributes(rule: ir.CheckedRule, k: int, pattern: ir.CallNode, made: ir.MakeCall) -> bool:
    signature = rule.dialect.get(pattern.operators[0])
    if signature is None:
        return False
    demanded = {c.field: c.test for c in pattern.tests}
    given = dict(made.attributes)
    copied = [spread for spread in made.spreads if spread.node == k]
    for name, spec in signature.attributes.items():
        if name in given:
            same = given[name] == ir.NodeAttr(ir.OWN, k, name) or demanded.get(name) == ir.Equals(given[name])
        elif any(name not in spread.without for spread in copied):
            same = True
        else:
            same = not made.spreads and demanded.get(name) == ir.Equals(ir.Const(spec.default))
        if not same:
            return False
    return True
