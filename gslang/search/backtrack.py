"""Search over whole graphs: backtracking with a priority queue as in MetaFlow and TASO, and rewriting to a
fixed point.

TASO (SOSP 2019): the cheapest graph of the queue is expanded by every application of every rule; a new graph
is kept if it costs less than α times the best so far. The budget bounds how many graphs are expanded.
"""

from __future__ import annotations

import copy
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from math import inf

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
from gslang.graph.graph import Graph
from gslang.search.assess import Assessment, Texts, assess, assess_after, cost_after
from gslang.search.cost.graph_cost import Prices

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
    """A graph of the queue. `sites`: for each rule, the nodes where it may match, those near `changed` aside;
    the list is that of the graph which this one was made from, complete once all its neighbours are made.
    """

    graph: Graph
    known: Assessment
    sites: list[frozenset[int]]
    changed: list[int]
    way: _Way | None = None


@dataclass(frozen=True, slots=True)
class _Rules:
    plans: Sequence[MatchProgram]
    ways: Ways
    accept: Accept
    prices: Prices
    texts: Texts


def _rules(graph: Graph, rules: Sequence[CheckedRule], accept: Accept, prices: Prices) -> _Rules:
    plans = _usable(graph, rules)
    return _Rules(plans, ways_of(plans), accept, prices, {})


def _start(graph: Graph, rules: _Rules) -> _State:
    """The state of a graph of which nothing is known."""
    every = [frozenset(graph.nodes())] * len(rules.plans)
    return _State(graph, assess(graph, rules.prices, rules.texts), every, [])


def backtrack(
    graph: Graph,
    dialect: Dialect,
    rules: Sequence[CheckedRule],
    prices: Prices,
    cost: float,
    alpha: float,
    budget: int,
    accept: Accept,
) -> tuple[Graph, float, dict[str, int], list[tuple[Application, int]]]:
    """The cheapest graph found, its cost, how often each rule was applied on the way to any graph, and the
    applications that lead to this one, each with the number of its match among those at its node.
    """
    usable = _rules(graph, rules, accept, prices)
    best = _start(graph, usable)
    least, applications = cost, dict[str, int]()
    seen = {best.known.mark}
    queue: list[tuple[float, int, _State]] = [(cost, 0, best)]
    expanded = number = 0

    def limit() -> float:
        """No graph that costs as much is the best, or will be expanded: so many others are, the cheapest
        first.
        """
        if expanded == budget:
            return least
        full = len(queue) == budget - expanded
        return min(alpha * least, queue[-1][0]) if full else alpha * least
    while queue and expanded < budget:
        cost, _, state = queue.pop(0)
        if cost >= alpha * least and expanded:
            continue
        expanded += 1
        for name, after in _neighbours(state, dialect, usable, limit):
            if after.known.mark in seen:
                continue
            seen.add(after.known.mark)
            applications[name] = applications.get(name, 0) + 1
            price = after.known.cost
            if price is None:
                continue
            if price < least:
                best, least = after, price
            if price < limit():
                number += 1
                insort(queue, (price, number, after))
                del queue[budget - expanded :]
    return best.graph, least, applications, _steps(best.way)


def _steps(way: _Way | None) -> list[tuple[Application, int]]:
    """The applications of a way, in order."""
    found = []
    while way is not None:
        found.append((way.last, way.match))
        way = way.before
    return found[::-1]


def _neighbours(
    state: _State, dialect: Dialect, rules: _Rules, limit: Callable[[], float] = lambda: inf
) -> Iterator[tuple[str, _State]]:
    """Each graph that one application leads to, with the rule; those that cost as much as the limit may be
    left out.

    Where a rule did not match before, it matches only near what changed.
    """
    graph = state.graph
    order = graph.in_order()
    near = frozenset(affected(graph, state.changed, rules.ways, graph.blocked))
    sites: list[frozenset[int]] = []
    for plan, known in zip(rules.plans, state.sites):
        starts, matching = set(plan.starts), set()
        for node in order:
            if node not in known and node not in near or graph.op[node] not in starts:
                continue
            for number, scope in enumerate(matches(plan, graph, node)):
                if not rules.accept(plan.rule):
                    break
                matching.add(node)
                moved = copy.copy(scope)
                price = cost_after(graph, state.known, moved, rules.prices)
                if price is not None and price >= limit() * (1 - 1e-12):
                    continue
                moved.graph, seeds = graph.copy(), list[int]()
                after = moved.graph
                done = apply_match(moved, edits_of(after, dialect), seeds, traced=True)
                if isinstance(done, Application):
                    known_after = assess_after(
                        after, state.known, done.removed, seeds, rules.prices, rules.texts
                    )
                    way = _Way(done, number, state.way)
                    yield done.rule, _State(after, known_after, sites, seeds, way)
        sites.append(frozenset(matching))


def neighbours(
    graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], prices: Prices
) -> Iterator[tuple[str, Graph]]:
    """Each graph that one application of a rule leads to, with the rule's name."""
    usable = _rules(graph, rules, lambda rule: True, prices)
    for name, after in _neighbours(_start(graph, usable), dialect, usable):
        yield name, after.graph
