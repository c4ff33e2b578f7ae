"""Search over whole graphs: backtracking with a priority queue as in MetaFlow and TASO, and rewriting to a fixed point.

TASO (SOSP 2019): the cheapest graph of the queue is expanded by every application of every rule; a new graph is kept if it
costs less than α times the best so far. The budget bounds how many graphs are expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.engine.edits import edits_of
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Failure, apply_match
from gslang.graph.graph import CONST, INPUT, PARAM, Graph

Accept = Callable[[CheckedRule], bool]


def rewrite_greedily(graph: Graph, rules: Sequence[CheckedRule], accept: Accept) -> Graph:
    """A copy of the graph, rewritten by rules in their order until none matches or the usual limit of applications is reached."""
    result = graph.copy()
    usable = [rule for rule in rules if not rule.disconnected and _matches_somewhere(rule, graph) and accept(rule)]
    run_to_fixed_point(result, usable, Limits(len(graph) + 100))
    return result


def _matches_somewhere(rule: CheckedRule, graph: Graph) -> bool:
    program = program_of(rule)
    starts = set(program.starts)
    return any(graph.op[node] in starts for node in graph.nodes())


def backtrack(
    graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], cost_of: Callable[[Graph], float | None], cost: float,
    alpha: float, budget: int, accept: Accept,
) -> tuple[Graph, float, dict[str, int]]:  # fmt: skip
    """The cheapest graph found, its cost, and how often each rule was applied on the way to any graph."""
    best, least, applications = graph, cost, dict[str, int]()
    seen = {fingerprint(graph)}
    queue: list[tuple[float, int, Graph]] = [(cost, 0, graph)]
    expanded = number = 0
    while queue and expanded < budget:
        cost, _, now = heappop(queue)
        if cost >= alpha * least and expanded:
            continue
        expanded += 1
        for name, after in neighbours(now, dialect, rules, accept):
            mark = fingerprint(after)
            if mark in seen:
                continue
            seen.add(mark)
            applications[name] = applications.get(name, 0) + 1
            price = cost_of(after)
            if price is None:
                continue
            if price < least:
                best, least = after, price
            if price < alpha * least:
                number += 1
                heappush(queue, (price, number, after))
    return best, least, applications


def neighbours(graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], accept: Accept) -> Iterator[tuple[str, Graph]]:
    """Each graph that one application leads to, with the rule."""
    for rule in rules:
        if rule.disconnected:
            continue
        program = program_of(rule)
        starts = set(program.starts)
        for node in list(graph.in_order()):
            if graph.op[node] not in starts or next(matches(program, graph, node), None) is None or not accept(rule):
                continue
            after = graph.copy()
            scope = next(matches(program, after, node))
            done = apply_match(scope, edits_of(after, dialect), [])
            if done is not None and not isinstance(done, Failure):
                yield rule.name, after


def fingerprint(graph: Graph) -> int:
    """A number that graphs have in common that are equal up to names and order of nodes (inputs and parameters aside)."""
    found: dict[int, int] = {}
    for node in graph.reverse_post_order():
        op = graph.op[node]
        if op in (INPUT, PARAM) or op is CONST and node in graph.values:
            found[node] = hash((op, graph.names[node] or node))
        else:
            found[node] = hash((op, _attributes(graph.attrs[node]), tuple([found.get(o, o) for o in graph.operands[node]])))
    return hash(tuple([found[node] for node in graph.outputs]))


def _attributes(attrs: Any) -> str:
    return repr(sorted(attrs.items(), key=lambda item: str(item[0])))
