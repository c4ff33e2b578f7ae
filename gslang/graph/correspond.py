"""Correspondence between the nodes of two graphs: first upwards from equal leaves, then downwards from the
outputs, then by name.

Two calls correspond without doubt if operator, attributes and corresponding operands are equal. Others are
paired if both are the same operand of paired nodes (or the same output), or have one name, and their
operators are equal; such pairs differ in what they read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from gslang.graph.compare import same_array, same_attribute
from gslang.graph.graph import CONST, LEAVES, VARIABLES, Graph
from gslang.graph.known_calls import true_name

_MOST_TRIED = 32  # constants of one shape that are compared in full


def correspondence(a: Graph, b: Graph) -> dict[int, int]:
    """Node of `a` → node of `b`, one to one. Nodes that no output reads take part too."""
    pairs = _Pairs(a, b)
    _from_leaves(pairs)
    _from_outputs(pairs)
    _by_name(pairs)
    return pairs.to_b


class _Pairs:
    def __init__(self, a: Graph, b: Graph) -> None:
        self.a, self.b = a, b
        self.to_b: dict[int, int] = {}
        self.to_a: dict[int, int] = {}

    def add(self, x: int, y: int) -> bool:
        """Pair two nodes if both are free."""
        if x in self.to_b or y in self.to_a:
            return False
        self.to_b[x], self.to_a[y] = y, x
        return True


def _from_leaves(pairs: _Pairs) -> None:
    a, b = pairs.a, pairs.b
    variables = {a.names[n]: n for n in a.nodes() if a.op[n] in VARIABLES}
    constants: dict[object, list[int]] = {}
    for n in a.nodes():
        if a.op[n] is CONST:
            constants.setdefault(a.types[n], []).append(n)
    calls: dict[object, list[int]] = {}
    for n in a.in_order():
        if a.op[n] not in LEAVES:
            calls.setdefault((true_name(a.op[n]), a.operands[n]), []).append(n)
    for y in b.in_order():
        if b.op[y] in VARIABLES:
            if (x := variables.get(b.names[y], -1)) >= 0:
                pairs.add(x, y)
        elif b.op[y] is CONST:
            near = constants.get(b.types[y], [])[:_MOST_TRIED]
            for x in sorted(near, key=lambda x: a.label(x) != b.label(y)):
                if x not in pairs.to_b and _same_value(a, x, b, y):
                    pairs.add(x, y)
                    break
        else:
            operands = tuple(pairs.to_a.get(o, -2) if o >= 0 else -1 for o in b.operands[y])
            for x in calls.get((true_name(b.op[y]), operands), ()) if -2 not in operands else ():
                if x not in pairs.to_b and _same_attributes(a, x, b, y):
                    pairs.add(x, y)
                    break


def _same_value(a: Graph, x: int, b: Graph, y: int) -> bool:
    if x not in a.values or y not in b.values:
        return x not in a.values and y not in b.values and a.label(x) == b.label(y)
    return a.values[x] is b.values[y] or same_array(a.value(x), b.value(y))


def _same_attributes(a: Graph, x: int, b: Graph, y: int) -> bool:
    left, right = a.attrs[x], b.attrs[y]
    return (
        left is right or left.keys() == right.keys()
        and all(same_attribute(left[name], right[name]) for name in left)
    )


def _from_outputs(pairs: _Pairs) -> None:
    a, b = pairs.a, pairs.b
    todo = deque(zip(a.outputs, b.outputs))
    seen = set()
    while todo:
        x, y = todo.popleft()
        if x < 0 or y < 0 or (x, y) in seen:
            continue
        seen.add((x, y))
        if (
            pairs.to_b.get(x) == y or true_name(a.op[x]) == true_name(b.op[y]) and a.op[x] not in LEAVES
            and pairs.add(x, y)
        ):
            todo.extend(zip(a.operands[x], b.operands[y]))


def _by_name(pairs: _Pairs) -> None:
    a, b = pairs.a, pairs.b
    free = {(true_name(op), name): n for n, op, name in _named(a) if n not in pairs.to_b}
    for y, op, name in _named(b):
        if y not in pairs.to_a and (x := free.get((true_name(op), name), -1)) >= 0:
            pairs.add(x, y)


def _named(graph: Graph) -> Iterator[tuple[int, str, str]]:
    return (
        (n, graph.op[n], name)
        for n in graph.nodes() if (name := graph.names[n]) is not None and graph.op[n] not in LEAVES
    )
