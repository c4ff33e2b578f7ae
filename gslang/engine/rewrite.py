"""One application of a rule, the readable way: build the target, let it take the source's place.

Atomic: until the types of all new nodes are known and fit, the graph is only appended to; a failure takes
that back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.engine.build import build_or_undo
from gslang.engine.conditions import bound_slots, input_slots, output_slots
from gslang.engine.edits import Edits
from gslang.engine.scope import Scope

Rewriter = Callable[[int, list[int]], Any]
"""Applies a rule at the first match that begins at a node, adding where to look next to `seeds`: True, or a
record of that; a `Failure`; None where nothing was done."""


@dataclass(frozen=True, slots=True)
class Application:
    """The record of one application. `replaced`: old output → its replacement. `bindings`: the user's names →
    nodes."""

    rule: str
    outputs: tuple[int, ...]
    added: tuple[int, ...]
    added_operators: tuple[str, ...]
    removed: tuple[int, ...]
    replaced: dict[int, int]
    bindings: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """An application that was undone: the rule's target does not fit here."""

    rule: str
    node: str
    message: str


def apply_match(
    scope: Scope, edits: Edits, seeds: list[int], traced: bool = False
) -> Application | Failure | bool | None:
    """Rewrite the graph at a valid match. None: a value that the target needs is not known, so this is no
    match.

    With `traced` the application tells what the match bound and what went; else it is only True.
    """
    rule, graph = scope.rule, scope.graph
    sources = output_slots(scope)
    first_new = scope.first_new = len(graph.op)
    targets = build_or_undo(graph, scope)
    if targets is None:
        return None
    if isinstance(targets, str):
        return Failure(rule.name, graph.label(sources[0]), targets)
    if why := edits.type_mismatch(sources, targets):
        graph.discard_from(first_new)
        return Failure(rule.name, graph.label(sources[0]), why)
    if all(source == target for source, target in zip(sources, targets)):
        graph.discard_from(first_new)
        return None  # nothing would change
    slots = {slot for _, slot in bound_slots(scope) if slot >= 0}
    if rule.output_block is None and len(sources) == 1:
        removed = edits.replace_one(sources[0], targets[0], first_new, None, True, seeds)
    else:
        removed = edits.replace(
            sources, targets, first_new, None, True, slots - set(input_slots(scope)), seeds
        )
    return record(scope, first_new, sources, targets, removed) if traced else True


def record(
    scope: Scope, first_new: int, sources: Sequence[int], targets: Sequence[int], removed: Sequence[int]
) -> Application:
    """The effect of an application: `targets` replace `sources`, new nodes begin at `first_new`, and
    `removed` are gone."""
    graph, dead = scope.graph, set(removed)
    added = [node for node in range(first_new, len(graph.op)) if node not in dead]
    return Application(
        scope.rule.name,
        outputs=tuple(sources),
        added=tuple(added),
        added_operators=tuple(graph.op[node] for node in added),
        removed=tuple(node for node in removed if node < first_new),
        replaced={old: now for old, now in zip(sources, targets) if old != now},
        bindings=describe(scope, lambda node: node),
    )


def describe(scope: Scope, label: Callable[[int], object]) -> dict[str, Any]:
    """User's names → `label` of what they matched; blocks as lists of such tables."""
    rule = scope.rule
    result: dict[str, object] = {}
    for number, slot in enumerate(scope.slots):
        name = rule.nodes[number].name
        if name is not None and slot >= 0 and rule.nodes[number].block is None:
            result[name] = label(slot)
    for block, instances in zip(rule.blocks, scope.instances):
        result[block.name] = [
            {
                str(rule.nodes[number].name): label(slot)
                for number, slot in instance.slots.items()
                if slot >= 0 and rule.nodes[number].name is not None
            }
            for instance in instances
        ]
    return result
