"""Random patterns of plain calls and graphs that nearly match them: small, so that rules often match what
other rules made.

A pattern is a list of `("input",)` or `(operator, operands)`, a graph too. `random_rules` has the whole
language.
"""

from __future__ import annotations

from random import Random

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import Graph

UNARY, BINARY = ("exp", "tanh", "abs"), ("add", "multiply", "subtract")
TYPE = TensorType((2, 2), "float32")


def random_pattern(random: Random) -> tuple[list[tuple], list[int], set[int]]:
    """Pattern nodes, outputs (connected, in any order), and nodes marked `keep`."""
    while True:
        pattern: list[tuple] = [("input",) for _ in range(random.randint(1, 2))]
        for _ in range(random.randint(1, 5)):
            if random.random() < 0.5:
                pattern.append((random.choice(UNARY), (random.randrange(len(pattern)),)))
            else:
                pattern.append(
                    (random.choice(BINARY), (random.randrange(len(pattern)), random.randrange(len(pattern))))
                )
        used = {o for node in pattern if node[0] != "input" for o in node[1]}
        inner = [k for k, node in enumerate(pattern) if node[0] != "input"]
        outputs = [k for k in inner if k not in used] + [
            k for k in inner if k in used and random.random() < 0.15
        ]
        random.shuffle(outputs)
        if len(outputs) > 4 or any(k not in used for k, node in enumerate(pattern) if node[0] == "input"):
            continue
        below = [_below(pattern, k) for k in outputs]
        if all(any(below[k] & b for b in below[:k]) for k in range(1, len(outputs))):
            return pattern, outputs, {k for k in inner if k not in outputs and random.random() < 0.15}


def _below(pattern: list[tuple], node: int) -> set[int]:
    found, stack = {node}, [node]
    while stack:
        entry = pattern[stack.pop()]
        for operand in entry[1] if entry[0] != "input" else ():
            if operand not in found:
                found.add(operand)
                stack.append(operand)
    return found


def rule_text(pattern: list[tuple], outputs: list[int], keep: set[int]) -> str:
    inputs = [f"p{k}" for k, node in enumerate(pattern) if node[0] == "input"]
    lines = []
    for k, node in enumerate(pattern):
        if node[0] != "input":
            call = f"{node[0]}({', '.join(f'p{o}' for o in node[1])})"
            lines.append(f"p{k} = {'keep ' if k in keep else ''}{call};")
    targets = ", ".join(f"negative({inputs[0]})" for _ in outputs)
    return (
        f"rule r({', '.join(inputs)}) {{ {' '.join(lines)} {', '.join(f'p{k}' for k in outputs)} => "
        f"{targets} }}"
    )


def random_graph(random: Random, pattern: list[tuple], outputs: list[int]) -> tuple[list[tuple], list[int]]:
    """A copy or two of the pattern, permuted and damaged, with other nodes in between."""
    graph: list[tuple] = [("input",), ("input",), ("input",)]
    for _ in range(random.randint(1, 2)):
        place: dict[int, int] = {}
        todo = list(range(len(pattern)))
        while todo:
            ready = [k for k in todo if pattern[k][0] == "input" or all(o in place for o in pattern[k][1])]
            k = random.choice(ready)
            todo.remove(k)
            if pattern[k][0] == "input":
                place[k] = random.randrange(len(graph))
                continue
            op, operands = pattern[k]
            slots = [place[o] for o in operands]
            if random.random() < 0.08:
                slots[random.randrange(len(slots))] = random.randrange(len(graph))
            if op != "subtract" and random.random() < 0.5:
                slots.reverse()
            if random.random() < 0.05:
                op = random.choice(UNARY if len(slots) == 1 else BINARY)
            graph.append((op, tuple(slots)))
            place[k] = len(graph) - 1
            if random.random() < 0.12:
                graph.append((random.choice(UNARY), (random.randrange(len(graph)),)))
    used = {o for node in graph if node[0] != "input" for o in node[1]}
    ends = [g for g, node in enumerate(graph) if node[0] != "input" and g not in used]
    ends += [g for g, node in enumerate(graph) if node[0] != "input" and g in used and random.random() < 0.05]
    random.shuffle(ends)
    return graph, ends


def as_graph(data: list[tuple], ends: list[int]) -> Graph:
    graph = Graph()
    for k, node in enumerate(data):
        if node[0] == "input":
            graph.add_input(f"x{k}", TYPE)
        else:
            graph.add(node[0], node[1], {}, TYPE)
    graph.set_outputs(ends)
    return graph
