"""The last part of an attempt (`near_miss`): the conditions on a match as a whole, and whether its target can be built."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.engine.build import build
from gslang.engine.conditions import bound_slots, input_slots, late_contradiction, output_slots, shared_output
from gslang.engine.edits import BuildError, edits_of
from gslang.engine.near_miss_operands import instance_holds
from gslang.engine.obstacles import failing_part, nodes_read, path_between, where_obstacle
from gslang.engine.values import FAILURES, holds

if TYPE_CHECKING:
    from gslang.engine.near_miss import Attempt

_KNOWN = "types come from the graph file or from inference; only what is known to be true matches"
_WHERE = "leave this condition out, or allow for these values, if the rule holds without it"
_ONE_EACH = "the outputs of the source are nodes of their own"
_KEEP = "mark it `keep` in the source if it may stay in the graph"


def keep_hint(span: Span) -> str:
    """What to do about an interior node that is needed elsewhere; `keep` binds tighter than `+` and looser than `.0`."""
    call = re.match(r"[\w.]+\(", span.text)
    depth, end = 1, call.end() if call else 0
    while call and depth and end < len(span.text):
        depth += {"(": 1, ")": -1}.get(span.text[end], 0)
        end += 1
    alone = call and end == len(span.text) and not span.source.text[span.end :].startswith((".", "["))
    return _KEEP if alone else f"{_KEEP}: `keep (…)`"


def first_output(rule: ir.CheckedRule) -> int:
    return rule.outputs[0] if rule.output_block is None else rule.blocks[rule.output_block].root


def whole_is_valid(attempt: Attempt) -> bool:
    """Whether a complete match is one, and its target can be built; what is in the way is noted."""
    return _instances(attempt) and _distinct(attempt) and _private(attempt) and _convex(attempt) and _conditions(attempt) and _target(attempt)


def failing_parts(attempt: Attempt) -> int:
    """How many of the conditions on a whole match do not hold, the target aside; all are asked, and noted."""
    checks = (_instances, _distinct, _private, _convex)
    return sum(not check(attempt) for check in checks) + sum(not _condition(attempt, k) for k in range(len(attempt.plan.rule.where)))


def _instances(attempt: Attempt) -> bool:
    found = late_contradiction(attempt.plan, attempt.scope)
    if found is None:
        return True
    block, attempt.scope.current = found
    instance_holds(attempt, block)
    attempt.scope.current = None
    return False


def _distinct(attempt: Attempt) -> bool:
    found = shared_output(attempt.plan, attempt.scope)
    if found is None:
        return True
    node, slot = attempt.plan.rule.nodes[found[0]], found[1]
    attempt.note("not-distinct", node.span, slot, "a node that nothing else of the pattern has matched", f"{attempt.label(slot)} is matched already", _ONE_EACH)
    return False


def _private(attempt: Attempt) -> bool:
    rule, graph, scope = attempt.plan.rule, attempt.graph, attempt.scope
    bound = list(bound_slots(scope))
    matched = {slot for _, slot in bound}
    outputs = set(output_slots(scope))
    for number, slot in bound:
        if number not in rule.interior or slot < 0 or slot in outputs:
            continue
        span = rule.nodes[number].span
        if slot in graph.output_uses:
            attempt.note("graph-output", span, slot, "a node that only the pattern uses", f"{attempt.label(slot)} is an output of the graph", keep_hint(span))
            return False
        others = list(islice((u for u in graph.users[slot] if u not in matched), 4))
        if others:
            found = f"{attempt.label(slot)} is also used by {', '.join(map(attempt.label, others[:3]))}{' …' if len(others) > 3 else ''}"
            attempt.note("used-outside", span, slot, "a node that only the pattern uses", found, keep_hint(span))
            return False
    return True


def _convex(attempt: Attempt) -> bool:
    rule, scope = attempt.plan.rule, attempt.scope
    outputs, inputs = output_slots(scope), input_slots(scope)
    if len(outputs) < 2 and not set(outputs) & set(inputs):
        return True
    return not note_path(attempt, rule.nodes[first_output(rule)].span, inputs, outputs)


def note_path(attempt: Attempt, span: Span, inputs: list[int], outputs: list[int]) -> bool:
    """Whether an input depends on an output; the path is noted."""
    seen: dict[int, int | None] = {}
    path = path_between(attempt.graph, inputs, outputs, seen)
    attempt.spent += len(seen) // 8
    attempt.steps -= len(seen) // 8
    if path is None:
        return False
    way = " → ".join(map(attempt.graph.label, path))
    attempt.note("not-convex", span, path[0], "inputs that do not depend on outputs", f"a path leads from an output back to an input: {way}",
              "replacing all outputs at once would make a cycle", passed=1)  # fmt: skip
    return True


def _conditions(attempt: Attempt) -> bool:
    return all(_condition(attempt, number) for number in range(len(attempt.plan.rule.where)))


def _condition(attempt: Attempt, number: int) -> bool:
    rule = attempt.plan.rule
    if holds(rule.where[number], attempt.scope):
        return True
    expected, found, reason = where_obstacle(rule.where[number], attempt.scope)
    read = set(nodes_read(failing_part(rule.where[number], attempt.scope), attempt.scope).values())
    node = read.pop() if len(read) == 1 else attempt.start
    attempt.note(reason, rule.where_spans[number], node, expected, found, _KNOWN if reason == "where-unknown" else _WHERE, 2 + number)
    return False


def _target(attempt: Attempt) -> bool:
    """Whether the target can be built here; what is built is taken back at once."""
    rule, graph, scope = attempt.plan.rule, attempt.graph, attempt.scope
    span, passed = rule.target.spans[rule.target.outputs[0]] if rule.target.spans else rule.span, attempt.total
    edits = edits_of(graph, rule.dialect)
    first, scope.memo = len(graph.op), {}
    try:
        nows = build(graph, rule.dialect, rule.target, scope)
        why = edits.misfit(output_slots(scope), nows)
        if why is None:
            return True
        attempt.note(
            "target-type", span, attempt.start, "a target of the source's type", why, "the rule needs a condition that rules this case out", passed
        )
    except BuildError as error:
        attempt.note(
            "target-type",
            span,
            attempt.start,
            "a target that type-checks",
            str(error),
            "the rule needs a condition that rules this case out",
            passed,
        )
    except FAILURES as error:
        attempt.note("target-value", span, attempt.start, "known values for the target", str(error) or type(error).__name__, _KNOWN, passed)
    finally:
        scope.memo = None
        graph.discard_from(first)
    return False
