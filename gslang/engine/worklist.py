"""What a later sweep has to look at: first outputs of matches that a change may have made possible.

A match that was not there before has a changed node at some place of its pattern (not a leaf: what changes at a leaf changes
what reads it). From each place of each pattern a fixed way leads to the first output, over operands and users with given
operators. So a change costs as many steps as there are patterns that have its operator, and nothing else of the graph is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from gslang.check import checked as ir
from gslang.check.found import children
from gslang.engine.generate_forward import operators_of
from gslang.engine.plan import MatchPlan
from gslang.graph.graph import DEAD, Graph

_UP, _DOWN = True, False


@dataclass(frozen=True, slots=True)
class Move:
    """One step: to users with one of these operators, or to operands with one of them (None: any). `place`: to that operand only."""

    up: bool
    operators: frozenset[str] | None
    place: int | None = None


Way = tuple[Move, ...]
Ways = dict[str, list[Way]]


def ways_of(plans: Sequence[MatchPlan]) -> Ways:
    """Operator → the ways from a changed node with it to first outputs; equal ways of several rules count once."""
    table: dict[str, dict[Way, None]] = {}
    for plan in plans:
        for operator, way in _ways(plan):
            table.setdefault(operator, {})[way] = None
    return {operator: list(ways) for operator, ways in table.items()}


@cache
def _ways(plan: MatchPlan) -> tuple[tuple[str, Way], ...]:
    return tuple(_find_ways(plan))


def _find_ways(plan: MatchPlan) -> Iterable[tuple[str, Way]]:
    rule = plan.rule
    first = rule.outputs[0] if rule.output_block is None else rule.blocks[rule.output_block].root
    parents: dict[int, list[int]] = {}
    for k, node in enumerate(rule.nodes):
        for child in children(node):
            parents.setdefault(child, []).append(k)
    # From the first output backwards over the pattern's edges: the way from each node to it.
    ways: dict[int, Way] = {first: ()}
    for through_absent in (False, True):  # an operand that may be absent is no way where there is another one
        queue = list(ways)
        for k in queue:
            if not through_absent and isinstance(leaf := rule.nodes[k], ir.LeafNode) and leaf.optional:
                continue
            for other, up in [*((child, _UP) for child in children(rule.nodes[k])), *((p, _DOWN) for p in parents.get(k, ()))]:
                if other not in ways:
                    ways[other] = (*_move(rule, other, k, up), *ways[k])
                    queue.append(other)
    for k in ways:
        for operator in sorted(operators_of(rule.nodes[k])):
            yield operator, ways[k]
            if rule.output_block is not None and rule.nodes[k].block == rule.output_block:
                for shared in ways:  # a node of a further instance: to what the instances share, then to the first one's root
                    if rule.nodes[shared].block is None and (down := _down(rule, k, shared)) is not None:
                        yield operator, (*down, *ways[shared])


def _move(rule: ir.CheckedRule, start: int, end: int, up: bool) -> Way:
    """The step from `start` to its neighbour `end`; alternatives are the node that they stand for, so they take no step."""
    above, under = (end, start) if up else (start, end)
    if isinstance(rule.nodes[above], ir.AltNode):
        return ()
    return (Move(up, _admitted(rule, above if up else under), None if up else _place(rule.nodes[above], under)),)


def _place(above: ir.Pattern, under: int) -> int | None:
    """The one place among the operands where a pattern node stands; None if there may be another one."""
    match above:
        case ir.CallNode(operands=parts, swappable=swappable) if not (swappable and len(parts) == 2):
            pass
        case ir.TupleNode(fields=parts):
            pass
        case _:
            return None
    places = [k for k, part in enumerate(parts) if part == under]
    alone = len(places) == 1 and not any(isinstance(part, ir.Splice) for part in parts[: places[0] + 1])
    return places[0] if alone else None


def _admitted(rule: ir.CheckedRule, k: int) -> frozenset[str] | None:
    node = rule.nodes[k]
    if isinstance(node, ir.LeafNode):
        return None
    if isinstance(node, ir.AltNode):
        parts = [_admitted(rule, branch) for branch in node.branches]
        return None if None in parts else frozenset().union(*(part for part in parts if part is not None))
    return operators_of(node)


def _down(rule: ir.CheckedRule, start: int, end: int) -> Way | None:
    """The way over operands from a template's node to one outside."""
    ways: dict[int, Way] = {start: ()}
    queue = [start]
    for k in queue:
        for child in children(rule.nodes[k]):
            if child not in ways:
                ways[child] = (*ways[k], *_move(rule, k, child, _DOWN))
                queue.append(child)
    if end in ways:
        return ways[end]
    parents = [k for k, node in enumerate(rule.nodes) if start in children(node) and node.block == rule.nodes[start].block]
    for parent in parents:  # up inside the instance, then down
        if (way := _down(rule, parent, end)) is not None:
            return (*_move(rule, start, parent, _UP), *way)
    return None


def affected(graph: Graph, seeds: Iterable[int], ways: Ways, blocked: Iterable[int]) -> list[int]:
    """Nodes at which a match may start because of the changes, in order.

    `blocked`: outputs of matches that a path through other nodes forbade; the path may be gone.
    """
    op, users, operands = graph.op, graph.users, graph.operands
    found = dict.fromkeys(blocked)
    changed: dict[str, dict[int, None]] = {}  # by operator, of those that some pattern has
    for node in seeds:
        operator = op[node]
        if operator in ways:
            if operator not in changed:
                changed[operator] = {}
            changed[operator][node] = None
    starts: dict[Way, dict[int, None]] = {}
    for operator, nodes in changed.items():
        for way in ways[operator]:
            if way in starts:
                starts[way] = starts[way] | nodes
            else:
                starts[way] = nodes
    seen: dict[Way, set[int]] = {}
    for way, nodes in starts.items():
        frontier = nodes
        for step, move in enumerate(way):
            rest = way[step:]
            visited = seen.setdefault(rest, set())
            place = move.place
            following: dict[int, None] = {}
            for node in frontier:
                if node in visited:
                    continue
                visited.add(node)
                for other in users[node] if move.up else operands[node] if place is None else operands[node][place : place + 1]:
                    if other >= 0 and (move.operators is None or op[other] in move.operators):
                        following[other] = None
            frontier = following
        found.update(frontier)
    label = graph.ordered().label
    return sorted([node for node in found if op[node] is not DEAD], key=label.__getitem__)
