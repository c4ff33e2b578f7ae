"""The part of an attempt (`near_miss`) that sets patterns against operands: one by one, and instances of a template as a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Union

from gslang.check import checked as ir
from gslang.engine import interpret
from gslang.engine.conditions import instance_holds as conditions_hold
from gslang.engine.generate_nodes import may_be_absent
from gslang.engine.obstacles import where_obstacle
from gslang.engine.scope import Instance
from gslang.engine.values import holds
from gslang.graph.graph import ABSENT

if TYPE_CHECKING:
    from gslang.engine.near_miss import Attempt

Ways = Iterator[None]
Operands = tuple[Union[int, None, ir.Splice], ...]


def align(
    attempt: Attempt, node: ir.Pattern, slot: int, parts: Operands, operands: tuple[int, ...]
) -> list[Callable[[], Ways]] | None:
    """Which patterns have to match, in turn; None, with a note, if their number is not that of the operands."""
    splice = next((k for k, part in enumerate(parts) if isinstance(part, ir.Splice)), None)
    if splice is not None:
        return _sequence(attempt, node, slot, parts, operands, splice)
    given = operands + (ABSENT,) * (len(parts) - len(operands))
    missing = any(isinstance(p, int) and not may_be_absent(attempt.plan.rule, p) for p in parts[len(operands) :])
    if missing or any(o != ABSENT for o in given[len(parts) :]) or any(p is None and o != ABSENT for p, o in zip(parts, given)):
        _count(attempt, node, slot, str(sum(p is not None for p in parts)))
        return None
    return [lambda p=p, o=o: attempt.match(p, o) for p, o in zip(parts, given) if isinstance(p, int)]  # type: ignore[misc]


def _count(attempt: Attempt, node: ir.Pattern, slot: int, wanted: str) -> None:
    count = sum(o >= 0 for o in attempt.graph.operands[slot])
    what = "fields" if isinstance(node, ir.TupleNode) else "operands"
    attempt.note(
        "operand-count", node.span, slot, f"{wanted} {what}", f"{attempt.label(slot)} has {count}", "`*` of an `each` template takes any number"
    )


def _sequence(
    attempt: Attempt, node: ir.Pattern, slot: int, parts: Operands, operands: tuple[int, ...], at: int
) -> list[Callable[[], Ways]] | None:
    sequence = parts[at]
    assert isinstance(sequence, ir.Splice)
    behind = len(parts) - at - 1
    count = len(operands) - at - behind
    block = attempt.plan.rule.blocks[sequence.block]

    def bounds() -> Ways:  # once the operands before it are matched: a bound may read them
        if count >= 0 and (fields and attempt.scope.instances[sequence.block] or interpret._bounds_allow(attempt.scope, block, count)):
            yield
            return
        attempt.note(
            "too-few-instances", block.span, slot, f"as many instances of `{block.name}` as `each` allows",
            f"{attempt.label(slot)} leaves {max(count, 0)}", "the numbers behind `in` are the bounds",
        )  # fmt: skip
        yield from attempt.over(attempt.latest)

    fields = operands[at : at + max(count, 0)]
    if count < 0:
        return [bounds]
    rest = operands[len(operands) - behind :]
    if any(p is None and o != ABSENT for p, o in [*zip(parts, operands[:at]), *zip(parts[at + 1 :], rest)]):
        _count(attempt, node, slot, "fewer")
        return None
    before = [lambda p=p, o=o: attempt.match(p, o) for p, o in zip(parts[:at], operands) if isinstance(p, int)]  # type: ignore[misc]
    middle = [lambda k=k, o=o: instance(attempt, sequence.block, sequence.node, k, o) for k, o in enumerate(fields)]  # type: ignore[misc]
    after = [lambda p=p, o=o: attempt.match(p, o) for p, o in zip(parts[at + 1 :], rest) if isinstance(p, int)]  # type: ignore[misc]
    return [*before, bounds, *middle, *after]


def instance(attempt: Attempt, block: int, root: int, k: int, slot: int) -> Ways:
    """The ways to match instance `k` of a block, with its node `root` at `slot`."""
    scope, template = attempt.scope, attempt.plan.rule.blocks[block]
    known = scope.instances[block]
    before = scope.current
    fresh = k >= len(known)
    scope.current = Instance(k) if fresh else known[k]
    mine = scope.current
    for _ in attempt.match(root, slot):
        fits = not fresh or block in attempt.plan.late_blocks or instance_holds(attempt, template)
        for _ in (None,) if fits else attempt.over(attempt.latest):
            if fresh:
                known.append(mine)
            scope.current = before
            yield
            scope.current = mine
            if fresh:
                known.pop()
    scope.current = before


def instance_holds(attempt: Attempt, template: ir.Block) -> bool:
    """Whether the conditions of the block hold for the current instance; what does not is noted."""
    if conditions_hold(attempt.plan, attempt.scope, template):
        return True
    for number, (condition, span) in enumerate(zip(template.where, template.where_spans)):
        if not holds(condition, attempt.scope):
            expected, found, reason = where_obstacle(condition, attempt.scope)
            attempt.note(reason, span, attempt.start, expected, found, "the block's `where` decides what an instance is", passed=number)
            return False
    attempt.note("attribute", template.span, attempt.start, "what `first` has", "the first instance contradicts itself")
    return False

