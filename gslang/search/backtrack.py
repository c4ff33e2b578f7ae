"""Search over whole graphs: backtracking with a priority queue as in MetaFlow and TASO, and rewriting to a
fixed point.

TASO (SOSP 2019): the cheapest graph of the queue is expanded by every application of every rule; a new graph
is kept if it costs less than α times the best so far. The budget bounds how many graphs are expanded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush, nsmallest
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.engine.dispatch import can_ever_match
from gslang.engine.edits import edits_of
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.program import MatchProgram
from gslang.engine.rewrite import Application, apply_match
from gslang.engine.worklist import Ways, affected, ways_of
from gslang.graph.graph import CONST, INPUT, PARAM, Graph

Accept = Callable[[CheckedRule], bool]


def rewrite_greedily(
    graph: Graph, rules: Sequence[CheckedRule], accept: Accept
) -> tuple[Graph, list[Application]]:
    """A copy of the graph, rewritten by rules in their order until none matches, or as often as the graph has
    nodes and 100 times more (rules that lead to and fro never end), and what was applied.

    Judging a rule may take seconds, and most of those whose operators occur match nowhere. So only rules that
    were applied are asked for; if one of them is not accepted, the run starts again without it.
    """
    usable = [plan.rule for plan in _usable(graph, rules)]
    while True:
        result, done = graph.copy(), list[Application]()

        def observe(_: int, what: Application | str, done: list[Application] = done) -> None:
            if not isinstance(what, str):
                done.append(what)

        run_to_fixed_point(result, usable, Limits(len(graph) + 100), observe=observe)
        applied = {what.rule for what in done}
        refused = {rule.name for rule in usable if rule.name in applied and not accept(rule)}
        if not refused:
            return result, done
        usable = [rule for rule in usable if rule.name not in refused]


def _usable(graph: Graph, rules: Sequence[CheckedRule]) -> list[MatchProgram]:
    able = can_ever_match([rule for rule in rules if not rule.disconnected], graph.op)
    return [program_of(rule) for rule in able]


@dataclass(frozen=True, slots=True)
class _Way:
    """The way to a graph: its last application, the number of its match among those at its node, and what was
    before.
    """

    last: Application
    match: int
    before: _Way | None


@dataclass(frozen=True, slots=True)
class _State:
    """A graph of the queue. `sites`: for each rule, the nodes where it may match; it matches nowhere else."""

    graph: Graph
    sites: tuple[frozenset[int], ...]
    way: _Way | None = None


@dataclass(frozen=True, slots=True)
class _Rules:
    plans: Sequence[MatchProgram]
    ways: Ways
    accept: Accept


def backtrack(
    graph: Graph,
    dialect: Dialect,
    rules: Sequence[CheckedRule],
    cost_of: Callable[[Graph], float | None],
    cost: float,
    alpha: float,
    budget: int,
    accept: Accept,
) -> tuple[Graph, float, dict[str, int], list[tuple[Application, int]]]:
    """The cheapest graph found, its cost, how often each rule was applied on the way to any graph, and the
    applications that lead to this one, each with the number of its match among those at its node.
    """
    plans = _usable(graph, rules)
    usable = _Rules(plans, ways_of(plans), accept)
    best, least, applications = _State(graph, ()), cost, dict[str, int]()
    texts: Texts = {}
    seen = {fingerprint(graph, texts)}
    queue: list[tuple[float, int, _State]] = [
        (cost, 0, _State(graph, (frozenset(graph.nodes()),) * len(plans)))
    ]
    expanded = number = 0
    while queue and expanded < budget:
        cost, _, state = heappop(queue)
        if cost >= alpha * least and expanded:
            continue
        expanded += 1
        for name, after in _neighbours(state, dialect, usable):
            mark = fingerprint(after.graph, texts)
            if mark in seen:
                continue
            seen.add(mark)
            applications[name] = applications.get(name, 0) + 1
            price = cost_of(after.graph)
            if price is None:
                continue
            if price < least:
                best, least = after, price
            if price < alpha * least:
                number += 1
                heappush(queue, (price, number, after))
        if len(queue) > budget - expanded:
            # no other will be expanded: the smallest comes first, and a sorted list is a heap
            queue = nsmallest(budget - expanded, queue)
    return best.graph, least, applications, _steps(best.way)


def _steps(way: _Way | None) -> list[tuple[Application, int]]:
    """The applications of a way, in order."""
    found = []
    while way is not None:
        found.append((way.last, way.match))
        way = way.before
    return found[::-1]


def _neighbours(state: _State, dialect: Dialect, rules: _Rules) -> Iterator[tuple[str, _State]]:
    """Each graph that one application leads to, with the rule.

    Where a rule did not match before, it matches only near what changed.
    """
    graph, order = state.graph, state.graph.in_order()
    made: list[tuple[Graph, list[int], _Way]] = []
    sites: list[frozenset[int]] = []
    for plan, known in zip(rules.plans, state.sites):
        starts, matching = set(plan.starts), set()
        for node in order:
            if node not in known or graph.op[node] not in starts:
                continue
            for number, scope in enumerate(matches(plan, graph, node)):
                if not rules.accept(plan.rule):
                    break
                matching.add(node)
                after, seeds = graph.copy(), list[int]()
                moved = copy.copy(scope)
                moved.graph = after
                done = apply_match(moved, edits_of(after, dialect), seeds, traced=True)
                if isinstance(done, Application):
                    made.append((after, seeds, _Way(done, number, state.way)))
        sites.append(frozenset(matching))
    for after, seeds, way in made:
        near = frozenset(affected(after, seeds, rules.ways, after.blocked))
        yield way.last.rule, _State(after, tuple([known | near for known in sites]), way)


def neighbours(
    graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], accept: Accept = lambda rule: True
) -> Iterator[tuple[str, Graph]]:
    """Each graph that one application of a rule leads to, with the rule's name."""
    plans = _usable(graph, rules)
    state = _State(graph, (frozenset(graph.nodes()),) * len(plans))
    for name, after in _neighbours(state, dialect, _Rules(plans, ways_of(plans), accept)):
        yield name, after.graph


Texts = dict[int, tuple[Any, str]]
"""Attributes as text by identity, with the attributes themselves, so that they stay alive: graphs share them.
"""


def fingerprint(graph: Graph, texts: Texts) -> int:
    """A number that graphs have in common that are equal up to names and order of nodes (inputs and
    parameters aside).
    """
    found: dict[int, int] = {}
    for node in graph.reverse_post_order():
        op = graph.op[node]
        if op in (INPUT, PARAM) or op is CONST and node in graph.values:
            found[node] = hash((op, graph.names[node] or node))
        else:
            found[node] = hash((
                op, attributes_text(graph.attrs[node], texts),
                tuple([found.get(o, o) for o in graph.operands[node]]),
            ))
    return hash(tuple([found[node] for node in graph.outputs]))


def attributes_text(attrs: Any, texts: Texts) -> str:
    known = texts.get(id(attrs))
    if known is None:
        text = repr(sorted(attrs.items(), key=lambda item: str(item[0])))
        known = texts[id(attrs)] = (attrs, text)
    return known[1]
