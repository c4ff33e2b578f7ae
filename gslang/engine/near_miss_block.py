"""The part of an attempt (`near_miss`) that collects the instances of a variadic output, and tells why there are not more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gslang.check import checked as ir
from gslang.engine import interpret
from gslang.engine.conditions import input_slots, instance_is_valid, output_slots
from gslang.engine.near_miss_operands import instance
from gslang.engine.near_miss_whole import keep_hint, note_path

if TYPE_CHECKING:
    from gslang.engine.near_miss import Attempt, Miss

_FEW = 8  # candidates for further instances that a glance looks at, and that are looked at to tell why they are none
_INSTANCE = "an instance that nothing outside uses"


def output_block(attempt: Attempt, number: int) -> Iterator[None]:
    """The ways to match the output block: the first instance at the start, and then all others that there are."""
    plan, scope = attempt.plan, attempt.scope
    block = plan.rule.blocks[number]
    for _ in instance(attempt, number, block.root, 0, attempt.start):
        if attempt.passed_over is not None:
            attempt.note("gap", block.span, attempt.start, "", "")
            continue
        if not instance_is_valid(plan, scope, number):
            _not_valid(attempt, block)
            continue
        others = attempt.candidates(block.root, template=True)
        attempt.spent_on_whole(len(others))
        if attempt.glance and len(others) > _FEW:
            attempt.note("gave-up", block.span, attempt.start, "a match", "there are too many ways to try them all here", passed=1)
            attempt.cut = True
            return
        state = (scope.slots[:], dict(scope.chosen), dict(scope.captures), dict(scope.variables), set(scope.taken), dict(scope.inner_inputs))
        interpret._extend(plan, scope, number, block, attempt.start)
        if interpret._bounds_allow(scope, block, len(scope.instances[number])):
            yield
        else:
            _too_few(attempt, number, others)
        del scope.instances[number][1:]
        scope.slots[:], scope.chosen, scope.captures, scope.variables, scope.taken, scope.inner_inputs = state


def _not_valid(attempt: Attempt, block: ir.Block) -> None:
    """Which node of the newest instance has which other user."""
    plan, graph = attempt.plan, attempt.graph
    newest = attempt.scope.instances[plan.rule.output_block or 0][-1]
    matched = {*newest.slots.values(), *attempt.scope.slots}
    for number, slot in newest.slots.items():
        if number in plan.rule.interior and slot >= 0 and slot != newest.slots[block.root]:
            span = plan.rule.nodes[number].span
            if slot in graph.output_uses:
                attempt.note("graph-output", span, slot, _INSTANCE, f"{attempt.label(slot)} is an output of the graph", keep_hint(span))
                return
            others = [user for user in graph.users[slot] if user not in matched]
            if others:
                users = f"{', '.join(map(attempt.label, others[:3]))}{' …' if len(others) > 3 else ''}"
                attempt.note("used-outside", span, slot, _INSTANCE, f"{attempt.label(slot)} is also used by {users}", keep_hint(span))
                return
    note_path(attempt, block.span, input_slots(attempt.scope), output_slots(attempt.scope))


def _too_few(attempt: Attempt, number: int, candidates: list[int]) -> None:
    """How many instances there are, and what is in the way of the nearest other one."""
    block = attempt.plan.rule.blocks[number]
    count = len(attempt.scope.instances[number])
    node, found = attempt.start, f"there are {count}" if count != 1 else "there is 1"
    nearest = _nearest_other(attempt, number, [n for n in candidates if n not in attempt.scope.taken][:_FEW])
    if nearest is not None:
        node = nearest.node
        found += f"; {attempt.label(nearest.start)} is none: expected {nearest.expected}, found {nearest.found}"
    elif others := _other_users(attempt, candidates):
        found += f"; {others}"
    attempt.note(
        "too-few-instances", block.span, node, f"as many instances of `{block.name}` as `each` allows", found,
        f"`each {block.name} in {count}..` would take them, if the rule holds for so few",
    )  # fmt: skip


def _nearest_other(attempt: Attempt, number: int, candidates: list[int]) -> Miss | None:
    """The obstacle to one more instance at the candidate that comes furthest. `start` is that candidate."""
    block, kept, start = attempt.plan.rule.blocks[number], (attempt.best, attempt.latest), attempt.start
    nearest: Miss | None = None
    for candidate in candidates:
        attempt.best, attempt.start = None, candidate
        for _ in instance(attempt, number, block.root, len(attempt.scope.instances[number]), candidate):
            if attempt.passed_over is None:
                _not_valid(attempt, block)
        best: Miss | None = attempt.best
        if best is not None and (nearest is None or best.matched > nearest.matched):
            nearest = best
    (attempt.best, attempt.latest), attempt.start = kept, start
    return nearest


def _other_users(attempt: Attempt, candidates: list[int]) -> str:
    """What else uses the node that all instances share and that could have more of them, if there is one with few users."""
    rule, graph, scope = attempt.plan.rule, attempt.graph, attempt.scope
    for number, slot in enumerate(scope.slots):
        if slot >= 0 and isinstance(rule.nodes[number], ir.LeafNode):
            others = [user for user in graph.users[slot] if user not in candidates]
            if 0 < len(others) <= _FEW:
                return f"{attempt.label(slot)} is also used by {', '.join(map(attempt.label, others[:3]))}{' …' if len(others) > 3 else ''}"
    return ""
