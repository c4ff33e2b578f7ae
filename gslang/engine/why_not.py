"""Why a rule did not match: the nearest misses over a graph, best first.

Every place where the first output's operator stands is looked at shortly, and then, as far as a fixed amount
of work goes, the most promising of those that were not settled thoroughly (`explain`). What is reported is
settled: a place where the rule does match is never called a miss, and one that takes too long to tell is said
to be that. The nearest are looked at once more, leniently: where one obstacle is the only one, it comes
first. So do places where only the first output's own operator is another one.
"""

from __future__ import annotations

from gslang.check.checked import AltNode
from gslang.check.footprint import operators_at
from gslang.check.opsets import why_unfit
from gslang.engine.conditions import output_slots
from gslang.engine.effort import Effort, EffortSpent, matches_within
from gslang.engine.explain import Attempt
from gslang.engine.match_failures import described, shown_operators
from gslang.engine.miss import ONLY_TARGET, Miss, parts_of
from gslang.engine.program import MatchProgram
from gslang.engine.step_words import first_output
from gslang.engine.worklist import affected, ways_of
from gslang.graph.graph import Graph

# in visits of a pattern node, of which there are about 100,000 in a second
_ALL = 420_000  # a third for the first look, half of what that leaves for the second
_GLANCE = 40  # for the first look at one place
_THOROUGH = 3_000  # for the second
_LENIENT = 600  # for the lenient look
_MATCH = 60_000  # steps of the machine for a match at one place, where all that did not suffice


def why_not(
    plan: MatchProgram, graph: Graph, node: int | None = None, limit: int = 5, effort: Effort | None = None
) -> list[Miss]:
    """The nearest misses of a rule, best first; of matches that `node` takes part in, if one is given.

    A place where the rule matches comes first, with reason "matches" (of the whole graph only one). Places
    for which the `effort`, in visits of pattern nodes, does not suffice are left out (`Effort.stopped`).
    """
    effort = effort or Effort(_ALL)
    if why := why_unfit(plan.rule, graph.meta):
        help = "convert the model with `onnx.version_converter`, or write the rule for older operators"
        return [Miss(
            plan.rule.name, -1, -1, 0, parts_of(plan), "opset", plan.rule.span,
            "an operator set that the rule can be applied in", why, help,
        )]
    starts = graph.in_order_of(plan.starts)
    if node is not None:
        near = set(affected(graph, [node], ways_of([plan]), ()))
        starts = [n for n in starts if n in near or n == node]
    misses = _settled(plan, graph, starts, limit, effort, node is None)
    matching = [miss for miss in misses if miss.reason == "matches"]
    rest = [miss for miss in misses if miss.reason != "matches"]
    rest.sort(key=lambda miss: -miss.matched)
    rest = _nearest(
        plan, graph, rest,
        [n for n in _other_starts(plan, graph) if node is None or n == node or node in graph.operands[n]],
        effort,
    )
    if not matching and not rest:
        return [_no_start(plan, graph, node)]
    return [*(matching[:1] if node is None else matching), *rest][: max(limit, 1)]


def _settled(
    plan: MatchProgram, graph: Graph, starts: list[int], limit: int, effort: Effort, once: bool
) -> list[Miss]:
    """The misses that are certain: of as many locations as there is work left for, but at least of the
    `limit` best; in their order.

    `once`: places that are outputs of a match found already are not looked at.
    """
    memo: dict[object, object] = {}
    settled: list[tuple[int, Miss]] = []
    open_ones: list[tuple[int, Miss]] = []
    end = effort.taken + effort.left // 3
    for place, start in enumerate(starts):
        if effort.taken >= end:
            effort.stopped = True
            break
        attempt = Attempt(plan, graph, start, _GLANCE, True, memo)
        miss = attempt.run()
        effort.taken += attempt.spent
        (open_ones if attempt.cut else settled).append((place, miss))
    open_ones.sort(key=lambda item: -item[1].matched)
    end = effort.taken + effort.left // 2
    matched: set[int] = set()
    for done, (place, miss) in enumerate(open_ones):
        if effort.taken >= end and done >= limit:
            effort.stopped = True
            break
        if not once or miss.start not in matched:
            attempt = Attempt(plan, graph, miss.start, _THOROUGH, False, memo)
            settled.append((place, _thorough(attempt, effort)))
            matched.update(attempt.outputs)
    settled.sort(key=lambda item: item[0])
    return [miss for _, miss in settled]


def _thorough(attempt: Attempt, effort: Effort) -> Miss:
    """The miss or match of an attempt; where that is cut, of the machine alone."""
    miss = attempt.run()
    effort.taken += attempt.spent
    if attempt.cut:
        steps = Effort(min(_MATCH, effort.left))
        try:
            for scope in matches_within(steps, attempt.program, attempt.graph, attempt.start):
                miss, attempt.outputs = attempt.matching(), output_slots(scope)
                break
        except EffortSpent:
            miss, effort.stopped = attempt.gave_up(), True
        effort.taken += steps.taken
    return miss


def _nearest(
    plan: MatchProgram, graph: Graph, misses: list[Miss], others: list[int], effort: Effort
) -> list[Miss]:
    """The misses after a lenient look, best first, and those at the `others`, whose operator is not that of
    the first output.
    """
    memo: dict[object, object] = {}
    found: list[Miss] = []
    places: list[tuple[int, Miss | None]] = [(miss.start, miss) for miss in misses]
    for start, best in [*places, *((start, None) for start in others)]:
        if not effort.left:
            effort.stopped = True
        elif best is None or best.reason not in (*ONLY_TARGET, "gave-up"):
            attempt = Attempt(plan, graph, start, _LENIENT, True, memo, lenient=True)
            lenient = attempt.run()
            effort.taken += attempt.spent
            if lenient.reason != "gave-up" and lenient.matched > (0 if best is None else best.matched):
                best = lenient
        if best is not None:
            found.append(best)
    label = graph.ordered().label
    found.sort(key=lambda miss: (-miss.matched, label[miss.start]))
    return found


def _other_starts(plan: MatchProgram, graph: Graph) -> list[int]:
    """Calls of other operators, with an operand whose operator is one that the first output's operand can
    have, in order.
    """
    nodes, op = plan.rule.nodes, graph.op
    roots = [first_output(plan.rule)]
    for root in roots:
        roots += nodes[root].below if isinstance(nodes[root], AltNode) else ()
    below = {name for root in roots for k in nodes[root].below for name in operators_at(nodes, k)}
    found = {user: None for n in graph.nodes() if op[n] in below for user in graph.users[n]} if below else {}
    label = graph.ordered().label
    return sorted((n for n in found if op[n] not in plan.starts and graph.is_call(n)), key=label.__getitem__)


def _no_start(plan: MatchProgram, graph: Graph, node: int | None) -> Miss:
    rule = plan.rule
    root = first_output(rule)
    there = sorted({graph.op[n] for n in graph.nodes() if graph.is_call(n)})
    if node is not None:
        found, help = (
            f"{described(graph, node)} takes part in no such pattern",
            "omit the node to see the nearest misses in the whole graph",
        )
    else:
        found = f"the graph has no such node; it has {shown_operators(there) or 'no calls'}"
        help = "does the rule mean another operator, or does the graph come from another dialect?"
    return Miss(
        rule.name, -1, -1 if node is None else node, 0, parts_of(plan), "no-candidate", rule.nodes[root].span,
        f"a node that can be the first output: {shown_operators(plan.starts)}", found, help,
    )  # fmt: skip
