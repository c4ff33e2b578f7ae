"""Searching for the cheapest graph that rules lead to: equality saturation, backtracking, or plain rewriting
kept where it pays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from math import inf, isfinite

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.check.limits import counted_work, uncounted_work
from gslang.check.opsets import why_unfit
from gslang.dialect.dialect import Dialect
from gslang.engine.rewrite import Application
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.graph.known_calls import operands_to_attributes, prepared_copy
from gslang.search.backtrack import backtrack, rewrite_greedily
from gslang.search.chosen_graph import chosen_graph
from gslang.search.cost.graph_cost import Prices, graph_cost, price, with_sizes
from gslang.search.cost.tables import CostTable, MeasuringTable
from gslang.search.cost.work import UnknownCost, UnknownSize
from gslang.search.derivation import RecordedEGraph
from gslang.search.egraph import EGraph
from gslang.search.extract.exact import exact, solver_is_installed
from gslang.search.extract.greedy import cheapest_below
from gslang.search.extract.improve import improve
from gslang.search.extract.problem import Infeasible, Problem, Solution, make_problem, needed
from gslang.search.extract.split import in_parts
from gslang.search.saturate import Limits, Saturation, saturate
from gslang.search.trace import SearchTrace, trace_of_choice, trace_of_run

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
    nothing in the e-graph costs less; `egraph` what was extracted from, with the choice; `trace`, where it
    was asked for: the applications that lead to `graph`. `slower`: a cheaper graph was found, which takes so
    many times as long as a whole, and is therefore not `graph`.
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
    trace: SearchTrace | None = None
    slower: float | None = None

    def report(self) -> dict[str, object]:
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
            **({} if self.slower is None else {"slower_graph": self.slower}),
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
    sizes: Mapping[str, int] | None = None,
    traced: bool = False,
) -> Found:
    """The cheapest graph found, never dearer than the given one (whose cost is infinite if a call of it has
    none).

    `accept` is asked before a rule is applied for the first time. `sizes`: of symbolic dimensions, which the
    result has too. `traced`: keep how the result came about. Raises `UnknownCost` if nothing that was found
    has a cost.
    """
    with counted_work(len(graph)):
        return _search(
            graph, dialect, rules, table, settings, progress, accept, sizes, traced
        )


def _search(
    graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], table: CostTable, settings: Settings,
    progress: Saturation | None, accept: Callable[[CheckedRule], bool], sizes: Mapping[str, int] | None,
    traced: bool,
) -> Found:  # fmt: skip
    prepared = prepared_copy(graph, dialect)
    graph = prepared if sizes is None else with_sizes(prepared, dialect, sizes)
    before, unpriced = _cost_before(graph, dialect, table, settings)
    fitting = [rule for rule in rules if not why_unfit(rule, graph.meta)]
    asked: dict[str, bool] = {}

    def allowed(rule: CheckedRule) -> bool:
        if rule.name not in asked:
            with uncounted_work():  # a verdict has its time
                asked[rule.name] = accept(rule)
        return asked[rule.name]

    prices = Prices(dialect, table, settings.weights)
    if settings.method == "backtrack":
        found, applied = _by_backtracking(graph, dialect, fitting, prices, before, settings, allowed)
    else:
        found, applied = _by_rewriting(graph, fitting, prices, before, allowed)
    if settings.method == "eqsat":
        try:
            saturated = _by_saturation(
                graph, dialect, fitting, table, settings, progress, allowed, before, traced, sizes
            )
        except Infeasible as error:
            raise unpriced or error from None
        if found.cost < saturated.cost * (1 - 1e-12):
            saturated.graph, saturated.cost, saturated.led = found.graph, found.cost, found.led
            saturated.trace = None
        found = saturated
    method = "backtrack" if settings.method == "backtrack" else "greedy"
    if isinstance(table, MeasuringTable) and (slower := _slowdown(found, graph, dialect, table)):
        found.graph, found.cost, found.led, found.trace, found.slower = graph, before, {}, None, slower
        # the graph of saturation is the cheapest; one that backtracking finds on the way may be faster
        for alpha in dict.fromkeys((settings.alpha, 1.0) if settings.method == "eqsat" else ()):
            again = replace(settings, alpha=alpha)
            other, applied = _by_backtracking(graph, dialect, fitting, prices, before, again, allowed)
            if not _slowdown(other, graph, dialect, table):
                found.graph, found.cost, found.led, method = other.graph, other.cost, other.led, "backtrack"
                break
    if traced and found.trace is None:
        steps = applied if found.graph is not graph else ()
        found.trace = trace_of_run(graph, found.graph, steps, method, sizes)
    operands_to_attributes(found.graph, dialect)
    return found


def _cost_before(
    graph: Graph, dialect: Dialect, table: CostTable, settings: Settings
) -> tuple[float, UnknownCost | None]:
    """The cost of a graph, or infinity and why it has none, where rules may lead to calls that have one."""
    try:
        return graph_cost(graph, dialect, table, settings.weights).cost, None
    except UnknownSize:
        raise
    except UnknownCost as error:
        if settings.method != "eqsat":
            raise
        return inf, error


def _slowdown(found: Found, graph: Graph, dialect: Dialect, table: MeasuringTable) -> float | None:
    """The time of the graph found as a multiple of that of the given one, if it is slower as a whole."""
    if not found.cost < found.before < inf:
        return None
    result, given = found.graph.copy(), graph.copy()
    for whole in (result, given):
        operands_to_attributes(whole, dialect)
    return table.slowdown(given, result, dialect)


def _by_backtracking(
    graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], prices: Prices, before: float,
    settings: Settings, accept: Callable[[CheckedRule], bool],
) -> tuple[Found, list[tuple[Application, int | None]]]:  # fmt: skip
    best, cost, applications, way = backtrack(
        graph, dialect, rules, prices, before, settings.alpha, settings.budget, accept
    )
    led = _led(best, [what for what, _ in way])
    return Found(best, cost, before, applications, led, stopped="searched"), [*way]


def _by_rewriting(
    graph: Graph, rules: Sequence[CheckedRule], prices: Prices, before: float,
    accept: Callable[[CheckedRule], bool],
) -> tuple[Found, list[tuple[Application, int | None]]]:  # fmt: skip
    """The graph rewritten to a fixed point, if that is cheaper."""
    rewritten, applied = rewrite_greedily(graph, rules, accept)
    cost = prices.total(rewritten)
    if cost is None or cost >= before:
        rewritten, cost, kept = graph, before, list[Application]()
    else:
        kept = applied
    count = Counter(what.rule for what in applied)
    found = Found(rewritten, cost, before, count, _led(rewritten, kept), stopped="fixed point")
    return found, [(what, None) for what in kept]


def _led(result: Graph, applied: Sequence[Application]) -> dict[str, int]:
    """The number of nodes of a rewritten graph that each rule made."""
    made = {node: what.rule for what in applied for node in what.added}
    return Counter(made[node] for node in result.nodes() if node in made)


def _by_saturation(
    graph: Graph, dialect: Dialect, rules: Sequence[CheckedRule], table: CostTable, settings: Settings,
    progress: Saturation | None, accept: Callable[[CheckedRule], bool], before: float, traced: bool,
    sizes: Mapping[str, int] | None,
) -> Found:  # fmt: skip
    """The cheapest graph of the e-graph, or the given one if that is not cheaper. Raises `Infeasible`."""
    egraph = RecordedEGraph(graph, dialect) if traced else EGraph(graph, dialect)
    done = saturate(egraph, rules, settings.limits, progress, accept)
    extractable = as_problem(egraph, table, settings.weights or table.weights)
    solution = _extract(extractable.problem, settings)
    chosen = [
        extractable.nodes[solution.choice[of]] for of in needed(extractable.problem, solution.choice)
    ]
    result, _ = chosen_graph(graph, egraph, chosen)
    cost = graph_cost(result, dialect, table, settings.weights).cost
    led = Counter(egraph.origin[node] for node in chosen if node in egraph.origin)
    found = Found(
        result, cost, before, done.applications, led, solution.bound, done.nodes, done.rounds, done.stopped,
        done.refused, (egraph, extractable),
    )
    if cost > before:
        found.graph, found.cost, found.led = graph, before, {}
    elif isinstance(egraph, RecordedEGraph):
        found.trace = trace_of_choice(graph, egraph, chosen, result, sizes)
    return found


def _extract(problem: Problem, settings: Settings) -> Solution:
    if settings.exact and solver_is_installed():
        return exact(problem, settings.seconds)
    return in_parts(problem, lambda part: improve(part, cheapest_below(part)))


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
