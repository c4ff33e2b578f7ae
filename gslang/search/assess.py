"""The cost and the fingerprint of a graph, computed anew only where one application changed it; the cost that
an application would lead to.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from math import fsum, inf

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.engine.build import build_or_undo
from gslang.engine.conditions import bound_slots, input_slots, output_slots
from gslang.engine.scope import Scope
from gslang.graph.graph import CONST, DEAD, INPUT, LEAVES, PARAM, Graph
from gslang.search.cost.graph_cost import Prices, fixed_operands, is_weight

Texts = dict[int, tuple[Attrs, str]]
"""Attributes as text by identity, with the attributes themselves, so that they stay alive: graphs share them.
"""


@dataclass(frozen=True, slots=True)
class Assessment:
    """`marks`: for each node that the outputs need, a number that equal expressions share; `constant`: those
    that depend on parameters and constants only; `prices` of calls, None where a call has none. `mark`: a
    number that graphs have in common that are equal up to names and order of nodes (inputs and parameters
    aside).
    """

    marks: dict[int, int]
    constant: set[int]
    prices: dict[int, float | None]
    mark: int
    whole: bool  # no node is there that the outputs do not need
    cost: float | None  # None if a call has none


def _assessment(
    graph: Graph, marks: dict[int, int], constant: set[int], prices: dict[int, float | None], whole: bool
) -> Assessment:
    mark = hash(tuple([marks[node] for node in graph.outputs]))
    costs = prices.values()
    cost = None if None in costs else fsum([cost for cost in costs if cost is not None])
    return Assessment(marks, constant, prices, mark, whole, cost)


def assess(graph: Graph, prices: Prices, texts: Texts) -> Assessment:
    """The assessment of a graph."""
    order = graph.reverse_post_order()
    marks: dict[int, int] = {}
    constant: set[int] = set()
    costs: dict[int, float | None] = {}
    for node in order:
        marks[node] = _mark(graph, node, marks, texts)
        if is_weight(graph, node, constant):
            constant.add(node)
        if graph.is_call(node):
            costs[node] = prices.price(graph, node, fixed_operands(graph, node, constant))
    needed = set(order)
    whole = all(node in needed or graph.op[node] in LEAVES for node in graph.nodes())
    return _assessment(graph, marks, constant, costs, whole)


def assess_after(
    graph: Graph, before: Assessment, removed: Iterable[int], seeds: Iterable[int], prices: Prices,
    texts: Texts,
) -> Assessment:  # fmt: skip
    """The assessment of a graph, from that of the one which an application changed: nodes `removed`, and new
    or changed ones among `seeds`.
    """
    if not before.whole:
        return assess(graph, prices, texts)
    marks, constant, costs = before.marks.copy(), before.constant.copy(), before.prices.copy()
    for node in removed:
        marks.pop(node, None)
        constant.discard(node)
        costs.pop(node, None)
    label, op, users = graph.ordered().label, graph.op, graph.users
    repriced = {node for node in seeds if op[node] is not DEAD}
    waiting = [(label[node], node) for node in repriced]
    heapify(waiting)
    queued = set(repriced)
    while waiting:
        _, node = heappop(waiting)
        mark = _mark(graph, node, marks, texts)
        changed = marks.get(node) != mark
        marks[node] = mark
        if node in repriced:
            is_constant = is_weight(graph, node, constant)
            if is_constant != (node in constant):
                (constant.add if is_constant else constant.discard)(node)
                repriced.update(users[node])
                changed = True
            if graph.is_call(node):
                costs[node] = prices.price(graph, node, fixed_operands(graph, node, constant))
        for user in users[node] if changed else ():
            if user not in queued:
                queued.add(user)
                heappush(waiting, (label[user], user))
    return _assessment(graph, marks, constant, costs, True)


def cost_after(graph: Graph, known: Assessment, scope: Scope, prices: Prices) -> float | None:
    """The cost that applying a rule at a match would lead to, up to rounding; infinite if that is impossible
    or a new call has no cost; None if only doing it can tell. The graph stays as it is.
    """
    cost = known.cost
    if cost is None or not known.whole:
        return None
    first = scope.first_new = len(graph.op)
    targets = build_or_undo(graph, scope)
    if not isinstance(targets, list):
        return inf
    try:
        sources = output_slots(scope)
        if len(sources) != len(targets) or min(targets) < 0:
            return inf
        moved = {old: now for old, now in zip(sources, targets) if old != now}
        added = _added(graph, known, first, targets, prices)
        if added is None or not all(_alike(graph, known, added, *pair) for pair in moved.items()):
            return None
        gone = _gone(graph, moved, set(added), first, scope)
        if gone is None:
            return None
        costs = [price for _, price in added.values()]
        if None in costs:
            return inf
        spared = fsum(known.prices.get(node) or 0.0 for node in gone)
        return cost + fsum(price for price in costs if price is not None) - spared
    finally:
        graph.discard_from(first)


def _added(
    graph: Graph, known: Assessment, first: int, targets: list[int], prices: Prices
) -> dict[int, tuple[bool, float | None]]:
    """The nodes from `first` on that a target needs: True for a constant one, and its price."""
    needed = set(targets)
    for node in range(len(graph.op) - 1, first - 1, -1):
        if node in needed:
            needed.update(graph.operands[node])
    found: dict[int, tuple[bool, float | None]] = {}
    constant = set[int]()
    for node in range(first, len(graph.op)):
        if node in needed:
            fixed = tuple([o < 0 or o in known.constant or o in constant for o in graph.operands[node]])
            if graph.op[node] in (PARAM, CONST) or all(fixed):
                constant.add(node)
            price = prices.price(graph, node, fixed) if graph.is_call(node) else 0.0
            found[node] = (node in constant, price)
    return found


def _alike(
    graph: Graph, known: Assessment, added: dict[int, tuple[bool, float | None]], old: int, now: int
) -> bool:
    """True if the readers of a node cost the same when they read another one."""
    constant = added[now][0] if now in added else now in known.constant
    return graph.types[old] is graph.types[now] and (old in known.constant) == constant


def _gone(
    graph: Graph, moved: dict[int, int], added: set[int], first: int, scope: Scope
) -> set[int] | None:
    """The nodes that nobody would need any more; None if that is not plain."""
    nows, gone = set(moved.values()), set[int]()
    if not nows.isdisjoint(moved):
        return None
    if len(moved) > 1:
        staying = {slot for _, slot in bound_slots(scope)} - set(input_slots(scope))
        if any(user in staying for old in moved for user in graph.users[old]):
            return None
    stack = list(moved)
    while stack:
        node = stack.pop()
        if node in gone or node in nows or graph.op[node] is INPUT:
            continue
        if any(
            user in added or user < first and node not in moved and user not in gone
            for user in graph.users[node]
        ) or node in graph.output_uses and node not in moved:
            continue
        gone.add(node)
        stack += [o for o in graph.operands[node] if o >= 0]
    return gone


def _mark(graph: Graph, node: int, marks: dict[int, int], texts: Texts) -> int:
    """A number for a node, from those of its operands."""
    op = graph.op[node]
    if op in (INPUT, PARAM) or op is CONST and node in graph.values:
        return hash((op, graph.names[node] or node))
    attrs = graph.attrs[node]
    text = texts.get(id(attrs))
    if text is None:
        text = texts[id(attrs)] = (attrs, repr(sorted(attrs.items(), key=lambda item: str(item[0]))))
    return hash((op, text[1], tuple([marks.get(o, o) for o in graph.operands[node]])))
