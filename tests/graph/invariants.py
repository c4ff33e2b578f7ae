"""The invariants of a graph, checked from scratch."""

from __future__ import annotations

from collections import Counter

from gslang.graph.graph import ABSENT, DEAD, LEAVES, PROJ, Graph


def check_invariants(graph: Graph) -> list[str]:
    """Every broken invariant, as a sentence; empty if all hold.

    Checked: columns of equal length; operands that exist; no cycle; users the inverse of operands; the
    maintained order (if there is one) complete, labels rising along every edge; names unique; removed nodes
    not used, not in the order, not outputs and without data; `output_uses` and `dead` right; leaves without
    operands, projections with one.
    """
    found = _columns(graph)
    if found:
        return found
    found += _operands(graph)
    if found:
        return found
    return (
        found + _cycle(graph) + _users(graph) + _order(graph) + _names(graph) + _counts(graph) + _data(graph)
    )


def _columns(graph: Graph) -> list[str]:
    size = len(graph.op)
    columns = ("operands", "attrs", "types", "names", "users")
    return [
        f"column `{name}` has {len(getattr(graph, name))} rows, not {size}"
        for name in columns
        if len(getattr(graph, name)) != size
    ]


def _operands(graph: Graph) -> list[str]:
    found, size = [], len(graph.op)
    for node in graph.nodes():
        for operand in graph.operands[node]:
            if operand != ABSENT and not 0 <= operand < size:
                found.append(f"{node} has operand {operand}, which does not exist")
            elif operand >= 0 and graph.op[operand] is DEAD:
                found.append(f"{node} has operand {operand}, which was removed")
        count = len(graph.operands[node])
        if graph.op[node] in LEAVES and count:
            found.append(f"{node} is a leaf with {count} operands")
        if graph.op[node] is PROJ and (count != 1 or "index" not in graph.attrs[node]):
            found.append(f"{node} is a projection without operand or index")
    for node in graph.outputs:
        if not 0 <= node < size:
            found.append(f"output {node} does not exist")
        elif graph.op[node] is DEAD:
            found.append(f"output {node} was removed")
    return found


def _cycle(graph: Graph) -> list[str]:
    """Kahn's algorithm over the operands alone: users and order are not trusted here."""
    waiting = {node: len({o for o in graph.operands[node] if o >= 0}) for node in graph.nodes()}
    users: dict[int, list[int]] = {}
    for node in graph.nodes():
        for operand in dict.fromkeys(graph.operands[node]):
            if operand >= 0:
                users.setdefault(operand, []).append(node)
    ready = [node for node, count in waiting.items() if not count]
    done = 0
    while ready:
        node = ready.pop()
        done += 1
        for user in users.get(node, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    if done == len(waiting):
        return []
    stuck = [node for node, count in waiting.items() if count > 0]
    return [f"a cycle through some of the nodes {stuck[:5]}"]


def _users(graph: Graph) -> list[str]:
    expected: list[set[int]] = [set() for _ in graph.op]
    for node in graph.nodes():
        for operand in graph.operands[node]:
            if operand >= 0:
                expected[operand].add(node)
    found = []
    for node, users in enumerate(graph.users):
        if not isinstance(users, tuple | dict):
            found.append(f"{node} has its users in a {type(users).__name__}")
        if len(users) != len(set(users)):
            found.append(f"{node} has a user twice: {list(users)}")
        if set(users) != expected[node]:
            found.append(f"{node} has users {sorted(users)}, by operands {sorted(expected[node])}")
    return found


def _order(graph: Graph) -> list[str]:
    if graph.order is None:
        return []
    found: list[str] = []
    label = graph.order.label
    for node in range(len(graph.op)):
        at = label[node] if node < len(label) else -1
        if graph.op[node] is DEAD:
            if at >= 0:
                found.append(f"the order holds the removed node {node}")
            continue
        if at < 0:
            found.append(f"the order lacks {node}")
        found += [
            f"the order has {node} before its operand {operand}"
            for operand in graph.operands[node]
            if operand >= 0 and label[operand] >= at
        ]
    return found


def _names(graph: Graph) -> list[str]:
    names = Counter(name for node in graph.nodes() if (name := graph.names[node]) is not None)
    return [f"the name `{name}` is used {count} times" for name, count in names.items() if count > 1]


def _counts(graph: Graph) -> list[str]:
    found = []
    dead = sum(op is DEAD for op in graph.op)
    if graph.dead != dead:
        found.append(f"`dead` is {graph.dead}, counted {dead}")
    uses: dict[int, list[int]] = {}
    for position, node in enumerate(graph.outputs):
        uses.setdefault(node, []).append(position)
    if {node: sorted(places) for node, places in graph.output_uses.items()} != uses:
        found.append(f"`output_uses` is {graph.output_uses}, found {uses}")
    return found


def _data(graph: Graph) -> list[str]:
    found = []
    for node in range(len(graph.op)):
        if graph.op[node] is DEAD and (graph.operands[node] or node in graph.values):
            found.append(f"the removed node {node} still has operands or a value")
    found += [f"node {node} of `values` is neither a constant nor a parameter" for node in graph.values
              if not 0 <= node < len(graph.op) or graph.op[node] not in LEAVES]  # fmt: skip
    return found
