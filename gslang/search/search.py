"""Searching for the cheapest graph that rules lead to: equality saturation, backtracking, or plain rewriting
kept where it pays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from math import inf, isfinite
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.check.opsets import why_unfit
from gslang.dialect.dialect import Dialect
from gslang.engine.rewrite import Application
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.search.backtrack import backtrack, rewrite_greedily
from gslang.search.cost.graph_cost import Prices, graph_cost, price
from gslang.search.cost.tables import CostTable
from gslang.search.cost.work import UnknownCost
from gslang.search.egraph import EGraph
from gslang.search.extract.exact import exact, solver_is_installed
from gslang.search.extract.greedy import cheapest_below
from gslang.search.extract.improve import improve
from gslang.search.extract.problem import Infeasible, Problem, Solution, make_problem, needed
from gslang.search.saturate import Limits, Saturation, saturate

METHODS = ("eqsat", "backtrack", "greedy")


@dataclass(frozen=True)
class Settings:
    """`alpha`, `budget`: of backtracking; `weights`: what work on weights only costs (None: as the table
    says); `exact`: extract by integer programming where HiGHS is installed, for at most `seconds`.
    """

    method: str = "eqsat"
    limits: Limits = Limits()
    alpha: float = 1.05
    budget: int = 100
    weights: str | None = None
    exact: bool = True
    seconds: float = 60.0


@dataclass
class Found:
    """`graph` with its `cost`; `before`: the cost of the graph searched from (infinite if it has none).
    `applications`: of rules during the search; `led`: rule → how many nodes of the result it made. `bound`:
    nothing in the e-graph costs less; `egraph` what was extracted from, with the choice.
    """

    graph: Graph
    cost: float
    before: float
    applications: dict[str, int]
    led: dict[str, int] = field(default_factory=dict)
    bound: float | None = None
    nodes: int = 0
    rounds: int = 0
    stopped: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    egraph: tuple[EGraph, Extractable] | None = None

    def report(self) -> dict[str, Any]:
        """Costs, counts and rules, as values that JSON has."""
        return {
            "cost": {
                "before": self.before if isfinite(self.before) else None,
                "after": self.cost,
                "bound": self.bound,
            },
            "applications": dict(sorted(self.applications.items())),
            "rules_of_result": dict(sorted(self.led.items())),
            "refused": dict(sorted(self.refused.items())),
            "e_nodes": self.nodes,
            "rounds": self.rounds,
            "stop_reason": self.stopped,
        }


@dataclass(frozen=True, slots=True)
class Extractable:
    """An e-graph as an extraction problem: e-nodes of the store by their numbers in `problem`, and leaders of
    classes.
    """

    problem: Problem
    nodes: list[int]
    classes: list[int]


def search(
    graph: Graph,
    dialect: Dialect,
    rules: Sequence[CheckedRule],
    table: CostTable,
    settings: Settings = Settings(),
    progress: Saturation | None = None,
    accept: Callable[[CheckedRule], bool] = lambda rule: True,
) -> Found:
    """The cheapest graph found, never dearer than the given one (whose cost is infinite if a call of it has
    none).

    `accept` is asked before a rule is applied for the first time. Raises `UnknownCost` if nothing that was
    found has a cost.
    """
    try:
        before = graph_cost(graph, dialect, table, settings.weights).cost
    except UnknownCost as error:  # rules may lead to calls that have one
        if settings.method != "eqsat":
            raise
        before, unpriced = inf, error
    fitting = [rule for rule in rules if not why_unfit(rule, graph.meta)]
    asked: dict[str, bool] = {}

    def allowed(rule: CheckedRule) -> bool:
        if rule.name not in asked:
            asked[rule.name] = accept(rule)
        return asked[rule.name]

    cost_of = Prices(dialect, table, settings.weights).total
    if settings.method == "backtrack":
        best, cost, applications = backtrack(
            graph, dialect, fitting, cost_of, before, settings.alpha, settings.budget, allowed
        )
        return Found(best, cost, before, applications, stopped="searched")
    rewritten, applied = rewrite_greedily(graph, fitting, allowed)
    simple = cost_of(rewritten)
    if settings.method == "greedy":
        better = simple is not None and simple < before
        return Found(
            rewritten if better else graph, simple if better and simple is not None else before, before,
            Counter(what.rule for what in applied), _led(rewritten, applied) if better else {},
            stopped="fixed point",
        )
    try:
        found = _by_saturation(graph, dialect, fitting, table, settings, progress, allowed, before)
    except Infeasible:
        raise unpriced from None
    if simple is not None and simple < found.cost * (1 - 1e-12):
        found.graph, found.cost, found.led = rewritten, simple, _led(rewritten, applied)
    if found.cost > before:
        found.graph, found.cost, found.led = graph, before, {}
    return found


def _led(result: Graph, applied: Sequence[Application]) -> dict[str, int]:
    """The number of nodes of a rewritten graph that each rule made."""
    made = {node: what.rule for what in applied for node in what.added}
    return Counter(made[node] for node in result.nodes() if node in made)


def _by_saturation(
    graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], table: CostTable, settings: Settings,
    progress: Saturation | None, accept: Callable[[CheckedRule], bool], before: float,
) -> Found:  # fmt: skip
    egraph = EGraph(graph, dialect)
    done = saturate(egraph, rules, settings.limits, progress, accept)
    extractable = as_problem(egraph, table, settings.weights or table.weights)
    chosen = _extract(extractable.problem, settings)
    result, led = _as_graph(graph, egraph, extractable, chosen)
    cost = graph_cost(result, dialect, table, settings.weights).cost
    return Found(
        result, cost, before, done.applications, led, chosen.bound, done.nodes, done.rounds, done.stopped,
        done.refused, (egraph, extractable),
    )


def _extract(problem: Problem, settings: Settings) -> Solution:
    if settings.exact and solver_is_installed():
        return exact(problem, settings.seconds)
    return improve(problem, cheapest_below(problem))


def as_problem(egraph: EGraph, table: CostTable, weights: str) -> Extractable:
    """The e-nodes that outputs may be made of, with costs; those without a cost are left out unless they are
    of the given graph."""
    store = egraph.store
    order, constant = _reachable(egraph)
    number = {of: k for k, of in enumerate(order)}
    nodes: list[int] = []
    owner: list[int] = []
    children: list[list[int]] = []
    costs: list[float] = []
    for of in order:
        for node in egraph.members[of]:
            below = [egraph.find(o) for o in store.operands[node] if o >= 0]
            try:
                fixed = tuple([o < 0 or egraph.find(o) in constant for o in store.operands[node]])
                cost = price(store, egraph.dialect, table, node, fixed, weights)
            except UnknownCost:
                continue
            nodes.append(node)
            owner.append(number[of])
            children.append([number[o] for o in below])
            costs.append(cost)
    roots = [number[egraph.find(output)] for output in egraph.outputs]
    return Extractable(make_problem(owner, children, costs, roots, len(order)), nodes, order)


def _reachable(egraph: EGraph) -> tuple[list[int], set[int]]:
    """Classes below the outputs, each after all that it may read, and those that can be computed from weights
    only.
    """
    store = egraph.store
    order: list[int] = []
    state: dict[int, bool] = {}
    for output in egraph.outputs:
        stack = [egraph.find(output)]
        while stack:
            of = stack[-1]
            if of not in state:
                state[of] = False
                stack += [
                    c
                    for n in egraph.members[of]
                    for o in store.operands[n] if o >= 0 and (c := egraph.find(o)) not in state
                ]
                continue
            stack.pop()
            if not state[of]:
                state[of] = True
                order.append(of)
    constant: set[int] = set()
    for of in order:
        for node in egraph.members[of]:
            op = store.op[node]
            if (
                op in (PARAM, CONST) or op is not INPUT
                and all(o < 0 or egraph.find(o) in constant for o in store.operands[node])
            ):
                constant.add(of)
                break
    return order, constant


def _as_graph(
    graph: Graph, egraph: EGraph, extractable: Extractable, chosen: Solution
) -> tuple[Graph, dict[str, int]]:
    """The chosen e-nodes as a graph with the inputs and the names of the outputs of the given one; rules that
    made them.
    """
    store, problem = egraph.store, extractable.problem
    result = Graph(graph.dialect, graph.name)
    result.meta = dict(graph.meta)
    came = {made: node for node, made in reversed(egraph.node_of.items())}
    there: dict[int, int] = {}
    for node in graph.nodes():  # inputs are the interface, also those that nobody reads
        if graph.op[node] is INPUT:
            made = result.add_input(graph.names[node] or "", graph.types[node])
            if node in graph.extras:
                result.extras[made] = dict(graph.extras[node])
            if node in egraph.node_of:
                there[egraph.find(egraph.node_of[node])] = made
    outputs = {
        egraph.find(made): graph.names[node]
        for node, made in reversed(list(zip(graph.outputs, egraph.outputs)))
    }
    led: dict[str, int] = {}
    for of in needed(problem, chosen.choice):
        node, leader = extractable.nodes[chosen.choice[of]], extractable.classes[of]
        if leader in there:
            continue
        origin = came.get(node)
        name = outputs.get(leader) or (
            graph.names[origin] if origin is not None and graph.names[origin] not in outputs.values()
            else None
        )
        operands = [there[egraph.find(o)] if o >= 0 else o for o in store.operands[node]]
        there[leader] = made = result.add(
            store.op[node], operands, store.attrs[node], store.types[leader], name
        )
        if node in store.values:
            result.values[made] = store.values[node]
        if origin is not None and origin in graph.extras:
            result.extras[made] = dict(graph.extras[origin])
        if node in egraph.origin:
            led[egraph.origin[node]] = led.get(egraph.origin[node], 0) + 1
    result.set_outputs([there[egraph.find(output)] for output in egraph.outputs])
    return result, led
