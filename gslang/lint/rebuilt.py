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
    if isinstance(made, ir.SourceNode):
        return made.node == k
    if (
        not isinstance(made, ir.NewNode) or len(made.parts) != len(pattern.parts)
        or pattern.operators != (made.operator,) and made.operator != ("variable", pattern.variable)
    ):
        return False
    orders = [pattern.parts, pattern.parts[::-1]] if pattern.swappable else [pattern.parts]
    operands = any(
        all(isinstance(p, int) and rebuilt(rule, p, m) for p, m in zip(order, made.parts)) for order in orders
    )
    return operands and _same_attributes(rule, k, pattern, made)


def _same_attributes(rule: ir.CheckedRule, k: int, pattern: ir.Pattern, made: ir.NewNode) -> bool:
    signature = rule.dialect.get(pattern.operators[0])
    demanded = {c.field: c.test for c in pattern.tests}
    given = dict(made.attributes)
    if signature is None:  # a tuple or a projection
        return demanded == {name: ir.Equals(value) for name, value in given.items()}
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
