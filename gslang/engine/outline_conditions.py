"""When outlines (`generate_outline`) may be laid down: only where no rule of the step could tell them from
what they stand for.
"""

from __future__ import annotations

from functools import cache

from gslang.check import checked as ir
from gslang.check.walks import reverse_post_order, walk


@cache
def reads_kinds(rule: ir.CheckedRule) -> bool:
    """True if a rule asks of what may be an input what kind of node it is, other than by its declaration, or
    counts users."""
    if any(node.asked(name) for node in rule.nodes if not node.operators for name in ("op", "kind")):
        return True
    groups = (rule.nodes, rule.where, rule.blocks, rule.lets, rule.target.targets)
    return any(
        isinstance(part, ir.Uses)
        or isinstance(part, ir.NodeAttr) and part.name in ("op", "kind")
        and not rule.nodes[part.node].operators
        for group in groups for item in group for part in walk(item)
    )


@cache
def can_match_within(rule: ir.CheckedRule, operators: frozenset[str]) -> bool:
    """True if some node of the pattern could match a call of `operators` below which there are only such
    calls and leaves."""
    within: dict[int, bool] = {}
    for k in reverse_post_order(rule.nodes, range(len(rule.nodes))):
        node = rule.nodes[k]
        if isinstance(node, ir.LeafNode):
            within[k] = node.kind != "input"
        elif isinstance(node, ir.CallNode):
            below = [within[child] for child in node.below]
            within[k] = not operators.isdisjoint(node.operators) and all(below)
        else:
            within[k] = any(within[part] for part in node.stands_for)
    return any(within[k] for k, node in enumerate(rule.nodes) if isinstance(node, ir.CallNode))
