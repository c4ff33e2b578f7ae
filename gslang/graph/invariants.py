"""What holds of every graph at every moment; a violation is a bug in gslang."""

from __future__ import annotations

from gslang.graph.graph import DEAD, Graph


def violations(graph: Graph) -> list[str]:
    """Broken invariants, empty if there are none: users are the inverse of operands, the order is topological,
    dead nodes are unused, outputs are counted right, no cycle."""
    found: list[str] = []
    expected: dict[int, set[int]] = {node: set() for node in graph.nodes()}
    for node in graph.nodes():
        for operand in graph.operands[node]:
            if operand >= 0:
                if graph.op[operand] is DEAD:
                    found.append(f"{node} uses the dead node {operand}")
                else:
                    expected[operand].add(node)
    for node, users in expected.items():
        if set(graph.users[node]) != users:
            found.append(f"users of {node} are {sorted(graph.users[node])}, should be {sorted(users)}")
    counts: dict[int, int] = {}
    for node in graph.outputs:
        counts[node] = counts.get(node, 0) + 1
        if graph.op[node] is DEAD:
            found.append(f"output {node} is dead")
    if counts != graph.output_uses:
        found.append("the count of outputs is wrong")
    if len(graph) != len(expected):
        found.append(f"{len(expected)} nodes live, {len(graph)} counted")
    if graph.order is not None:
        label = graph.order.label
        for node in expected:
            if node >= len(label) or label[node] < 0:
                found.append(f"{node} is not in the order")
                continue
            for operand in graph.operands[node]:
                if operand >= 0 and not label[operand] < label[node]:
                    found.append(f"{node} stands before its operand {operand}")
    return found
