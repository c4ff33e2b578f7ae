"""The longest way down a deep pattern: whether a graph goes on as far is seen sooner than it is matched.

A pattern of a thousand levels, tried at each node of a chain, would fail after as many steps as there are
levels below the node. Patterns of few levels have no spine.
"""

from __future__ import annotations

from typing import Final

from gslang.check.checked import CheckedRule
from gslang.check.walks import heights
from gslang.graph.graph import Graph

DEEP: Final = 20  # levels; of fewer, matching finds as soon that there are not as many

Spine = tuple[tuple["int | None", frozenset[str]], ...]
"""From the first output down: the operand that is next, None for one of two that may be swapped, and the
operators that it may have."""


def spine_of(rule: CheckedRule) -> Spine:
    """That of a rule's first output, as far as operators follow one another; none if they are few."""
    nodes = rule.nodes
    if len(nodes) <= DEEP or not rule.outputs:
        return ()
    lengths = heights(range(len(nodes)), lambda number: nodes[number].below)
    found: list[tuple[int | None, frozenset[str]]] = []
    node = nodes[rule.outputs[0]]
    while node.operators and node.count is not None:
        ways = [
            (lengths[part], place, nodes[part])
            for place, part in enumerate(node.parts)
            if isinstance(part, int) and nodes[part].operators
        ]
        if not ways:
            break
        _, place, below = max(ways, key=lambda way: way[0])
        found.append((None if node.swappable else place, frozenset(below.operators)))
        node = below
    return tuple(found) if len(found) > DEEP else ()


def goes_down(spine: Spine, graph: Graph, node: int) -> bool:
    """False if a pattern with this spine cannot match at a node."""
    ops, operands = graph.op, graph.operands
    for place, operators in spine:
        below = operands[node]
        if place is None:
            fitting = {operand for operand in below if operand >= 0 and ops[operand] in operators}
            if len(fitting) != 1:
                return bool(fitting)  # either may be the one
            node = fitting.pop()
        elif place >= len(below) or (node := below[place]) < 0 or ops[node] not in operators:
            return False
    return True
