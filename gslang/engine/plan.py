"""What matching a rule needs to know beforehand: where it can start, which nodes are distinct, how far it reaches.

Computed once per rule. Both matchers (`interpret`, `generate`) and the sweeps read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from gslang.check import checked as ir
from gslang.graph.graph import PROJ, TUPLE


@dataclass(frozen=True, slots=True, eq=False)
class MatchPlan:
    """`starts`: values of the `op` column that the first output can have. `distinct`: pattern nodes that need graph nodes of
    their own. `up`: how many steps from a changed node towards users the first output can be; `reach`: the same in any
    direction, for rules whose match goes forward (several outputs)."""

    rule: ir.CheckedRule
    starts: tuple[str, ...]
    distinct: frozenset[int]
    up: int
    reach: int
    forward: bool
    deferred: frozenset[int]  # template nodes with a constraint that reads `first`


@cache
def plan_of(rule: ir.CheckedRule) -> MatchPlan:
    return make_plan(rule)


def make_plan(rule: ir.CheckedRule) -> MatchPlan:
    nodes = rule.nodes
    if rule.output_block is not None:
        outputs: tuple[int, ...] = (rule.blocks[rule.output_block].root,)
    else:
        outputs = rule.outputs
    distinct = set(rule.interior)
    for output in outputs:
        distinct.update(_without_alternatives(nodes, output))
    distance = _distances(rule, outputs[0])
    up = _depth(rule, outputs[0])
    deferred = frozenset(k for k, node in enumerate(nodes) if any(mentions_first(c) for c in node.constraints))
    forward = rule.output_block is not None or len(outputs) > 1
    return MatchPlan(
        rule,
        starts=tuple(sorted(_start_operators(nodes, outputs[0]))),
        distinct=frozenset(k for k in distinct if not isinstance(nodes[k], (ir.LeafNode, ir.AltNode))),
        up=up,
        reach=max(distance.values(), default=0) + 1,
        forward=forward,
        deferred=deferred,
    )


def children(node: ir.Pattern) -> tuple[int, ...]:
    """The pattern nodes right below a node."""
    match node:
        case ir.CallNode(operands=parts) | ir.TupleNode(fields=parts):
            return tuple(p.node if isinstance(p, ir.Splice) else p for p in parts if p is not None)
        case ir.ProjNode(base=base):
            return (base,)
        case ir.AltNode(branches=branches):
            return branches
    return ()


def _without_alternatives(nodes: tuple[ir.Pattern, ...], node: int) -> Iterator[int]:
    pattern = nodes[node]
    if isinstance(pattern, ir.AltNode):
        for branch in pattern.branches:
            yield from _without_alternatives(nodes, branch)
    else:
        yield node


def _start_operators(nodes: tuple[ir.Pattern, ...], output: int) -> set[str]:
    result: set[str] = set()
    for node in _without_alternatives(nodes, output):
        match nodes[node]:
            case ir.CallNode(operators=operators):
                result.update(operators)
            case ir.TupleNode():
                result.add(TUPLE)
            case ir.ProjNode():
                result.add(PROJ)
    return result


def _distances(rule: ir.CheckedRule, start: int) -> dict[int, int]:
    """Steps along edges, in either direction, from the first output to each pattern node it is connected with."""
    neighbours: dict[int, list[int]] = {k: [] for k in range(len(rule.nodes))}
    for k, node in enumerate(rule.nodes):
        for child in children(node):
            neighbours[k].append(child)
            neighbours[child].append(k)
    distance, queue = {start: 0}, [start]
    for near in queue:
        for other in neighbours[near]:
            if other not in distance:
                distance[other] = distance[near] + 1
                queue.append(other)
    return distance


def _depth(rule: ir.CheckedRule, start: int) -> int:
    """The longest way from the first output down to a leaf."""
    depth: dict[int, int] = {}
    stack = [start]
    while stack:
        node = stack[-1]
        below = children(rule.nodes[node])
        missing = [child for child in below if child not in depth]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        depth[node] = 1 + max((depth[child] for child in below), default=-1)
    return depth[start]


def mentions_first(item: Any) -> bool:
    """True if a constraint or value reads the first instance of its own block."""
    if isinstance(item, ir.First):
        return True
    if is_dataclass(item) and not isinstance(item, type):
        return any(mentions_first(getattr(item, f.name)) for f in fields(item) if f.name != "span")
    return isinstance(item, tuple) and any(mentions_first(part) for part in item)
