"""The attributes that the values of a rule read, by node: in conditions, constraints, templates, lets and
targets."""

from __future__ import annotations

from functools import lru_cache

from gslang.check import checked as ir


@lru_cache(maxsize=4)
def attributes_read(rule: ir.CheckedRule) -> frozenset[tuple[int, str]]:
    """(pattern node, attribute) of all that is read, an alternation's also as those of its branches."""
    found: set[tuple[int, str]] = set()
    stack: list[object] = [*rule.where, *rule.lets, *rule.target.targets, *rule.blocks]
    stack += [c for node in rule.nodes for c in node.constraints]
    while stack:
        item = stack.pop()
        if isinstance(item, ir.NodeAttr):
            nodes = [item.node]
            while nodes:
                k = nodes.pop()
                found.add((k, item.name))
                node = rule.nodes[k]
                if isinstance(node, ir.AltNode):
                    nodes += node.branches
        if isinstance(item, (tuple, list)):
            stack.extend(item)
        elif hasattr(item, "__dataclass_fields__") and not isinstance(item, type):
            stack.extend(
                getattr(item, name) for name in item.__dataclass_fields__ if not name.endswith("span")
            )
    return frozenset(found)


def nodes_read(rule: ir.CheckedRule, attribute: str) -> frozenset[int]:
    """The nodes of which an attribute is read."""
    return frozenset(node for node, name in attributes_read(rule) if name == attribute)
