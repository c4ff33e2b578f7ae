"""A brute-force matcher, written from the five conditions of docs/semantics.md §2 and nothing else of the engine.

Rules are plain data here (see `random_case`): pattern nodes are ("input",) or (op, operands); every injective assignment
of the non-input nodes is tried on a small graph.
"""

from __future__ import annotations

from itertools import permutations, product

Pattern = list[tuple]  # node k: ("input",) or (operator, (operands…))


def has_match(pattern: Pattern, outputs: list[int], keep: set[int], graph: list[tuple], graph_outputs: list[int], start: int) -> bool:
    """Whether some assignment maps outputs[0] to `start` and meets conditions 1–5. `graph` is data of the same shape."""
    inner = [k for k, node in enumerate(pattern) if node[0] != "input"]
    candidates = [[g for g, node in enumerate(graph) if node[0] == pattern[k][0]] for k in inner]
    for k, choice in zip(inner, candidates):
        if k == outputs[0]:
            choice[:] = [start] if start in choice else []
    for slots in product(*candidates):
        f = dict(zip(inner, slots))
        for orders in product(*[_orders(pattern[k]) for k in inner]):
            full = _inputs(pattern, graph, f, dict(zip(inner, orders)))
            if full is not None and _conditions(pattern, outputs, keep, graph, graph_outputs, full):
                return True
    return False


def _orders(node: tuple) -> list[tuple[int, ...]]:
    count = len(node[1])
    return list(permutations(range(count))) if node[0] in ("add", "multiply", "maximum") else [tuple(range(count))]


def _inputs(pattern: Pattern, graph: list[tuple], f: dict[int, int], order: dict[int, tuple[int, ...]]) -> dict[int, int] | None:
    """Condition 2, which also says what inputs map to."""
    full = dict(f)
    for k, slot in f.items():
        operands = graph[slot][1]
        if len(operands) != len(pattern[k][1]):
            return None
        for position, child in enumerate(pattern[k][1]):
            found = operands[order[k][position]]
            if full.setdefault(child, found) != found:
                return None
    return full


def _conditions(pattern: Pattern, outputs: list[int], keep: set[int], graph: list[tuple], graph_outputs: list[int], f: dict[int, int]) -> bool:
    inner = [k for k, node in enumerate(pattern) if node[0] != "input"]
    interior = [k for k in inner if k not in outputs and k not in keep]
    apart = [f[k] for k in inner if k in outputs or k in interior]
    if len(set(apart)) != len(apart):  # 3
        return False
    matched = set(f.values())
    for k in interior:  # 4
        if f[k] in graph_outputs or any(f[k] in node[1] and g not in matched for g, node in enumerate(graph) if node[0] != "input"):
            return False
    targets = {f[k] for k in outputs}
    return not any(_depends(graph, f[k], targets) for k, node in enumerate(pattern) if node[0] == "input")  # 5


def _depends(graph: list[tuple], start: int, targets: set[int]) -> bool:
    stack, seen = [start], {start}
    while stack:
        node = stack.pop()
        if node in targets:
            return True
        for operand in graph[node][1] if graph[node][0] != "input" else ():
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return False
