"""The worklist of a later sweep: first outputs of matches that a change may have made possible.

A match that was not there before has a changed node at some place of its pattern (not a leaf: what changes at
a leaf changes what reads it). From each place of each pattern a fixed way leads to the first output, over
operands and users with given operators. So a change costs as many steps as there are patterns that have its
operator, and nothing else of the graph is seen. A changed node whose operands rule out each of its places
begins none (`fitting`).

Where a rule counts users, a match may also be new because a node has got or lost a user: a new node, an
operand of one, what a node that is gone has read, what stands for an output now. From there the same ways
lead on, from leaves too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.footprint import admitted, counted, footprint
from gslang.engine.program import MatchProgram
from gslang.graph.graph import DEAD, TUPLE, Graph

_UP, _DOWN = True, False
_TUPLES = frozenset({TUPLE})


@dataclass(frozen=True, slots=True)
class Move:
    """One step: to users with one of these operators, or to operands with one of them (None: any).

    `place`: to that operand only.
    """

    up: bool
    operators: frozenset[str] | None
    place: int | None = None


Way = tuple[Move, ...]
Ways = dict[str, list[Way]]

EVERYWHERE = "%everywhere"
"""In place of an operator: as one move, the operators of first outputs that any change may concern, however
far away: a run is any length.
"""

USED = ""
"""In place of an operator: the ways from nodes whose users some rule counts."""


def ways_of(plans: Sequence[MatchProgram]) -> Ways:
    """Operator → the ways from a changed node with it to first outputs; equal ways of several rules count
    once.
    """
    table: dict[str, dict[Way, None]] = {}
    for plan in plans:
        for operator, way in _ways(plan):
            table.setdefault(operator, {})[way] = None
    return {operator: list(ways) for operator, ways in table.items()}


@cache
def _ways(plan: MatchProgram) -> tuple[tuple[str, Way], ...]:
    return tuple(_find_ways(plan))


def _find_ways(plan: MatchProgram) -> Iterable[tuple[str, Way]]:
    rule = plan.rule
    if any(isinstance(node, ir.ChainNode) for node in rule.nodes):
        yield EVERYWHERE, (Move(_UP, frozenset(plan.starts)),)
        return
    first = rule.outputs[0] if rule.output_block is None else rule.blocks[rule.output_block].root
    parents: dict[int, list[int]] = {}
    for k, node in enumerate(rule.nodes):
        for child in node.below:
            parents.setdefault(child, []).append(k)
    # From the first output backwards over the pattern's edges: the ways from each node to it.
    ways = _ways_back(rule, first, parents)
    for k, found in ways.items():
        for operator in sorted(set(rule.nodes[k].operators)):
            for way in found:
                yield operator, way
    counting = counted(rule) if footprint(rule).counts_users else frozenset()
    for k in counting:
        yield from ((USED, way) for way in ways.get(k, ()))
    block = rule.output_block
    if block is None:
        return
    # from a node of a further instance to what the instances share, then to the first one's root
    for shared in ways:
        if rule.nodes[shared].block is None:
            for k, found in _ways_back(rule, shared, parents, block).items():
                if k != shared:
                    for operator in (
                        *sorted(set(rule.nodes[k].operators)), *((USED,) if k in counting else ()),
                    ):
                        yield from ((operator, (*down, *way)) for down in found for way in ways[shared])


_Choices = frozenset[tuple[int, int]]  # (alternation, branch)


def _ways_back(
    rule: ir.CheckedRule, first: int, parents: dict[int, list[int]], block: int | None = None
) -> dict[int, list[Way]]:
    """Node → ways from it to `first`, shortest first: whatever branches are chosen, one of them is there.
    `block`: only inside it.

    A way holds for some branches: of `f?(p) + q`, `p` is an operand of the sum, or of `f`. It is left out if
    a shorter one holds wherever it does.
    """
    ways: dict[int, list[tuple[Way, _Choices]]] = {first: [((), frozenset())]}
    queue: list[tuple[int, Way, _Choices]] = [(first, (), frozenset())]
    for through_absent in (False, True):  # an operand that may be absent is no way where there is another one
        if through_absent:
            queue = [(k, *found) for k, all_found in ways.items() for found in all_found]
        for k, way, choices in queue:
            if not through_absent and rule.nodes[k].optional:
                continue
            for other, up in [
                *((child, _UP) for child in rule.nodes[k].below),
                *((p, _DOWN) for p in parents.get(k, ())),
            ]:
                if block is not None and rule.nodes[other].block != block:
                    continue
                chosen = _chosen(rule, choices, k if up else other, other if up else k)
                known = ways.setdefault(other, [])
                if chosen is None or any(less <= chosen for _, less in known) or len(known) >= _MOST_WAYS:
                    continue
                known.append(((*_move(rule, other, k, up), *way), chosen))
                queue.append((other, *known[-1]))
    return {k: [way for way, _ in found] for k, found in ways.items() if found}


_MOST_WAYS = 64  # six alternatives one below the other; further ways are forgotten


def _chosen(rule: ir.CheckedRule, choices: _Choices, above: int, under: int) -> _Choices | None:
    """The branches for which a way holds that goes on between these two; None if there are none."""
    node = rule.nodes[above]
    if not isinstance(node, ir.AltNode):
        return choices
    branch = node.branches.index(under)
    if any(alternation == above and other != branch for alternation, other in choices):
        return None
    return choices | {(above, branch)}


def _move(rule: ir.CheckedRule, start: int, end: int, up: bool) -> Way:
    """The step from `start` to its neighbour `end`; alternatives are the node that they stand for, so they
    take no step.
    """
    above, under = (end, start) if up else (start, end)
    if isinstance(rule.nodes[above], ir.AltNode):
        return ()
    place = None if up else _place(rule.nodes[above], under)
    return (Move(up, admitted(rule.nodes, above if up else under), place),)


def _place(above: ir.Pattern, under: int) -> int | None:
    """The one place among the operands where a pattern node stands; None if there may be another one."""
    parts = above.parts
    if isinstance(above, ir.ProjNode) or above.swappable and len(parts) == 2:
        return None
    places = [k for k, part in enumerate(parts) if part == under]
    alone = len(places) == 1 and not any(isinstance(part, ir.Splice) for part in parts[: places[0] + 1])
    return places[0] if alone else None


Demands = tuple[tuple[int, frozenset[str], "Demands"], ...]
"""Operands, the values of the `op` column that each can have, and what the fields of one that must be a tuple
must be, since a tuple by itself tells little apart.
"""


def demands_of(plans: Sequence[MatchProgram]) -> dict[str, list[Demands]] | None:
    """Operator → what its operands must be, for each pattern node that it can stand at (just one of them
    where that is nothing). None where a node may matter for other reasons: to a rule that counts users, or
    with runs of any length.
    """
    table: dict[str, dict[Demands, None]] = {}
    for plan in plans:
        places = _places(plan)
        if places is None:
            return None
        for operator, demands in places:
            table.setdefault(operator, {})[demands] = None
    return {op: [()] if () in demands else list(demands) for op, demands in table.items()}


@cache
def _places(plan: MatchProgram) -> tuple[tuple[str, Demands], ...] | None:
    rule = plan.rule
    if footprint(rule).counts_users or any([isinstance(node, ir.ChainNode) for node in rule.nodes]):
        return None
    return tuple([
        (operator, tuple(_demands(rule, node))) for node in rule.nodes for operator in node.operators
    ])


def _demands(rule: ir.CheckedRule, node: ir.Pattern) -> Iterable[tuple[int, frozenset[str], Demands]]:
    for part in node.parts:
        if isinstance(part, int) and (place := _place(node, part)) is not None:
            wanted = admitted(rule.nodes, part)
            if wanted is not None:
                yield place, wanted, tuple(_demands(rule, rule.nodes[part])) if wanted == _TUPLES else ()


def fitting(graph: Graph, seeds: list[int], table: dict[str, list[Demands]] | None) -> list[int]:
    """The changed nodes that have an operator of some pattern node, and operands as it demands
    (`demands_of`).

    What is left out is part of no match, unless an operand of it changes, and with it the node, once more.
    """
    if table is None:
        return seeds
    op, operands, found = graph.op, graph.operands, []
    for node in [node for node in seeds if op[node] in table]:
        below = operands[node]
        for demands in table[op[node]]:
            if _met(op, operands, below, demands):
                found.append(node)
                break
    return found


Made = tuple[tuple[str, tuple["int | frozenset[str] | None", ...]], ...]
"""The nodes of a target: the value of the `op` column, and operands, each a position among these nodes, or
the values that an old node can have (None: any).
"""


def can_fit(made: Made, number: int, table: dict[str, list[Demands]]) -> bool:
    """True if a new node of a target may be `fitting`, as far as the rule tells."""
    operator, operands = made[number]
    return any(_can_be_met(made, operands, demands) for demands in table.get(operator, ()))


def _can_be_met(made: Made, below: tuple[int | frozenset[str] | None, ...], demands: Demands) -> bool:
    for place, wanted, fields in demands:
        if place >= len(below):
            return False
        operand = below[place]
        if isinstance(operand, int):
            operator, operands = made[operand]
            if operator not in wanted or not _can_be_met(made, operands, fields):
                return False
        elif operand is not None and wanted.isdisjoint(operand):
            return False
    return True


def _met(op: list[str], operands: list[tuple[int, ...]], below: tuple[int, ...], demands: Demands) -> bool:
    for k, wanted, fields in demands:
        if k >= len(below) or op[below[k]] not in wanted:
            return False
        if fields and not _met(op, operands, operands[below[k]], fields):
            return False
    return True


def affected(graph: Graph, seeds: Iterable[int], ways: Ways, blocked: Iterable[int]) -> list[int]:
    """Nodes at which a match may start because of the changes, in order.

    `blocked`: outputs of matches that a path through other nodes forbade; the path may be gone.
    """
    op, users, operands = graph.op, graph.users, graph.operands
    found = dict.fromkeys(blocked)
    for way in ways.get(EVERYWHERE, ()):
        found.update((node, None) for node in graph.nodes() if op[node] in (way[0].operators or ()))
    changed: dict[str, dict[int, None]] = {}  # by operator, of those that some pattern has
    for node in seeds:
        operator = op[node]
        if operator in ways:
            if operator not in changed:
                changed[operator] = {}
            changed[operator][node] = None
    if USED in ways:
        seeds = list(seeds)
        changed[USED] = dict.fromkeys(
            [*seeds, *[o for node in seeds for o in operands[node] if o >= 0], *graph.outputs]
        )
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
            if not frontier:  # ways of a deep pattern are long
                break
            rest = way[step:]
            visited = seen.setdefault(rest, set())
            place = move.place
            following: dict[int, None] = {}
            for node in frontier:
                if node in visited:
                    continue
                visited.add(node)
                for other in (
                    users[node] if move.up
                    else operands[node] if place is None
                    else operands[node][place : place + 1]
                ):
                    if other >= 0 and (move.operators is None or op[other] in move.operators):
                        following[other] = None
            frontier = following
        found.update(frontier)
    label = graph.ordered().label
    return sorted([node for node in found if op[node] is not DEAD], key=label.__getitem__)
