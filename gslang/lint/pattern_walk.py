"""The order in which pattern nodes are matched, and the nodes that stay in the graph."""

from __future__ import annotations

from gslang.base.reachable import reachable
from gslang.check import checked as ir

_MOST_NODES = 200


def is_run(rule: ir.CheckedRule) -> bool:
    """True if lints run a rule on small graphs: one that sweeps, and that is no giant."""
    return (
        not rule.disconnected and len(rule.nodes) <= _MOST_NODES and len(rule.target.targets) <= _MOST_NODES
    )


def match_order(rule: ir.CheckedRule) -> dict[int, int]:
    """Pattern node → its place in the order of matching: operands first, left to right."""
    place: dict[int, int] = {}
    for root in rule.roots:
        stack = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                place.setdefault(node, len(place))
            elif node not in place:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(rule.nodes[node].below))
    return place


def staying_nodes(rule: ir.CheckedRule) -> set[int]:
    """Pattern nodes that the target uses, or that something uses that stays."""
    used = [
        target.node
        for target in rule.target.targets if isinstance(target, (ir.SourceNode, ir.SpliceInstances))
    ]
    kept = [k for k, node in enumerate(rule.nodes) if node.keep and k not in rule.outputs]
    return set(reachable([*used, *kept], lambda node: rule.nodes[node].below))
