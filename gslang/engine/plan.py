"""What matching a rule needs to know beforehand: where it can start, which nodes are distinct, how far it reaches.

Computed once per rule. Both matchers (`interpret`, `generate`) and the sweeps read it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Union

from gslang.check import checked as ir
from gslang.check.found import Reads, children, found_before, found_with, parts, reverse_post_order, walk
from gslang.graph.graph import PROJ, TUPLE

Constraint = Union[ir.Constraint, ir.SameAttributes]


@dataclass(frozen=True, slots=True)
class MaybeOutput:
    """A node that stays in the graph, and is an output if one of `ways` was chosen: branches of alternations, as (node, branch).
    Then it is none of `others`."""

    node: int
    ways: tuple[tuple[tuple[int, int], ...], ...]
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MatchPlan:
    """`starts`: values of the `op` column that the first output can have. `distinct`: pattern nodes that need graph nodes of
    their own, whatever is chosen. `up`: how many steps from a changed node towards users the first output can be; `reach`: the same in any
    direction, for rules whose match goes forward (several outputs)."""

    rule: ir.CheckedRule
    starts: tuple[str, ...]
    distinct: frozenset[int]
    maybe_outputs: tuple[MaybeOutput, ...]
    up: int
    reach: int
    forward: bool
    deferred: dict[int, tuple[Constraint, ...]]  # template node → its constraints that read `first`, or a capture of one that does
    late_blocks: frozenset[int]  # blocks whose own conditions can only be tested on the whole match


@cache
def plan_of(rule: ir.CheckedRule) -> MatchPlan:
    return make_plan(rule)


def make_plan(rule: ir.CheckedRule) -> MatchPlan:
    nodes = rule.nodes
    if rule.output_block is not None:
        outputs: tuple[int, ...] = (rule.blocks[rule.output_block].root,)
    else:
        outputs = rule.outputs
    distinct = {k for k in rule.interior if not isinstance(nodes[k], (ir.LeafNode, ir.AltNode))}
    ways: dict[int, list[tuple[tuple[int, int], ...]]] = {}
    for output in outputs:
        for node, way in _without_alternatives(nodes, output):
            if not isinstance(nodes[node], ir.LeafNode):
                ways.setdefault(node, []).append(way)
    distinct.update(k for k in ways if () in ways[k])
    distance = _distances(rule, outputs[0])
    up = _depth(rule, outputs[0])
    forward = rule.output_block is not None or len(outputs) > 1
    return MatchPlan(
        rule,
        starts=tuple(sorted(_start_operators(nodes, outputs[0]))),
        distinct=frozenset(distinct),
        maybe_outputs=tuple(_maybe_outputs(nodes, {k: tuple(w) for k, w in ways.items() if k not in distinct}, distinct)),
        up=up,
        reach=max(distance.values(), default=0) + 1,
        forward=forward,
        deferred=_deferred(nodes, rule.lets),
        late_blocks=frozenset(k for k in range(len(rule.blocks)) if k != rule.output_block and _is_late(rule, k)),
    )


def _is_late(rule: ir.CheckedRule, number: int) -> bool:
    """Whether an instance that has been matched as a field may not tell yet: another sequence has more of it, or `where` reads later nodes."""
    block = rule.blocks[number]
    sequences = {k for k, node in enumerate(rule.nodes) for part in parts(node) if isinstance(part, ir.Splice) and part.block == number}
    if len(sequences) > 1:
        return True
    if not block.where:
        return False
    starts = rule.outputs or (rule.blocks[rule.output_block or 0].root,)
    order = reverse_post_order(rule.nodes, starts)
    found = found_with(rule.nodes, order)
    known = found_before(rule.nodes, starts, order, found)[block.root] | found[block.root]
    reads = Reads(rule.nodes, rule.lets, rule.target.targets, rule.target.spans, found)
    return any(True for _ in reads.by(block.where, known, rule.span))


def _without_alternatives(nodes: tuple[ir.Pattern, ...], node: int) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """What an output is in the end, with the branches that lead there."""
    pattern = nodes[node]
    if isinstance(pattern, ir.AltNode):
        for k, branch in enumerate(pattern.branches):
            for end, way in _without_alternatives(nodes, branch):
                yield end, ((node, k), *way)
    else:
        yield node, ()


def _maybe_outputs(
    nodes: tuple[ir.Pattern, ...], ways: dict[int, tuple[tuple[tuple[int, int], ...], ...]], distinct: set[int]
) -> Iterator[MaybeOutput]:
    """Only where two nodes can be one: not if one lies below the other, or their operators differ."""
    below = {k: _surely_below(nodes, k) for k in {*ways, *distinct}} if ways else {}
    for node in sorted(ways):
        many = nodes[node].block is not None  # and another instance's may be the same
        others = [k for k in sorted({*ways, *distinct}) if (many or k not in below[node] and node not in below[k]) and may_coincide(nodes[node], nodes[k])]
        if others:
            yield MaybeOutput(node, ways[node], tuple(others))


def _surely_below(nodes: tuple[ir.Pattern, ...], node: int) -> set[int]:
    """A node, and what is matched below it whatever is chosen: graph nodes that differ from its own."""
    found: set[int] = set()
    stack = [node]
    while stack:
        k = stack.pop()
        if k not in found:
            found.add(k)
            stack.extend(() if isinstance(nodes[k], ir.AltNode) else children(nodes[k]))
    return found


def may_coincide(left: ir.Pattern, right: ir.Pattern) -> bool:
    """Whether one graph node can match both."""
    if isinstance(left, ir.CallNode) and isinstance(right, ir.CallNode):
        return not set(left.operators).isdisjoint(right.operators)
    return type(left) is type(right)


def _start_operators(nodes: tuple[ir.Pattern, ...], output: int) -> set[str]:
    result: set[str] = set()
    for node, _ in _without_alternatives(nodes, output):
        match nodes[node]:
            case ir.CallNode(operators=operators):
                result.update(operators)
            case ir.TupleNode():
                result.add(TUPLE)
            case ir.ProjNode():
                result.add(PROJ)
    return result


def _deferred(nodes: tuple[ir.Pattern, ...], lets: tuple[ir.Value, ...]) -> dict[int, tuple[Constraint, ...]]:
    """Constraints that read what is complete only with the first instance, directly or by a capture."""
    templates = [(k, node) for k, node in enumerate(nodes) if node.block is not None]
    late: set[int] = set()  # captures
    found: dict[int, tuple[Constraint, ...]] = {}
    number = -1
    while number != len(late):
        number = len(late)
        for k, node in templates:
            waiting = tuple(c for c in node.constraints if mentions_first(c, lets, late))
            if waiting:
                found[k] = waiting
                late.update(p.capture for p in walk(waiting) if isinstance(p, ir.Capture))
    return found


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


@cache
def reads_kinds(rule: ir.CheckedRule) -> bool:
    """Whether a rule asks of what may be an input what kind of node it is, other than by its declaration."""
    groups = (rule.nodes, rule.where, rule.blocks, rule.lets, rule.target.targets)
    for part in (part for group in groups for item in group for part in walk(item)):
        match part:
            case ir.NodeAttr(_, node, "op" | "kind") if isinstance(rule.nodes[node], (ir.LeafNode, ir.AltNode)):
                return True
            case ir.LeafNode(constraints=constraints) | ir.AltNode(constraints=constraints):
                if any(isinstance(c, ir.Constraint) and c.field in ("op", "kind") for c in constraints):
                    return True
    return False


@cache
def can_match_within(rule: ir.CheckedRule, operators: frozenset[str]) -> bool:
    """Whether some node of the pattern could match a call of `operators` below which there are only such calls and leaves."""
    within: dict[int, bool] = {}
    for k in reverse_post_order(rule.nodes, range(len(rule.nodes))):
        match rule.nodes[k]:
            case ir.LeafNode(kind=kind):
                within[k] = kind != "input"
            case ir.CallNode(operators=names):
                within[k] = not operators.isdisjoint(names) and all(within[child] for child in children(rule.nodes[k]))
            case ir.AltNode(branches=branches):
                within[k] = any(within[branch] for branch in branches)
            case _:
                within[k] = False
    return any(within[k] for k, node in enumerate(rule.nodes) if isinstance(node, ir.CallNode))


def mentions_first(item: Any, lets: tuple[ir.Value, ...], captures: Collection[int] = ()) -> bool:
    """True if a constraint or value reads the first instance of its own block, or one of `captures`."""
    stack, seen = [item], set()
    while stack:
        for part in walk(stack.pop()):
            if isinstance(part, ir.First) or isinstance(part, ir.Captured) and part.capture in captures:
                return True
            if isinstance(part, ir.Let) and part.let not in seen:
                seen.add(part.let)
                stack.append(lets[part.let])
    return False
