"""One application of a rule: build the target, let it take the source's place, remove what nobody uses any more.

Atomic: until the types of all new nodes are known and fit, the graph is only appended to; a failure takes that back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gslang.engine.build import BuildError, build
from gslang.engine.conditions import bound_slots, input_slots, output_slots
from gslang.engine.scope import Scope
from gslang.engine.values import FAILURES
from gslang.graph.graph import Graph, ancestors_after
from gslang.graph.inference import contradiction, refine


@dataclass(frozen=True, slots=True)
class Application:
    """What one application did. `replaced`: old output → what stands for it now. `changed`: users that read something new.

    `touched`: matched nodes that stay and have lost or gained users.
    """

    rule: str
    outputs: tuple[int, ...]
    added: tuple[int, ...]
    added_operators: tuple[str, ...]
    removed: tuple[int, ...]
    removed_operators: tuple[str, ...]
    replaced: dict[int, int]
    changed: tuple[int, ...]
    touched: tuple[int, ...]
    bindings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """An application that was undone: the rule's target does not fit here."""

    rule: str
    node: str
    message: str


def apply_match(scope: Scope, traced: bool = False) -> Application | Failure | None:
    """Rewrite the graph at a valid match. None: a value that the target needs is not known, so this is no match.

    With `traced` the application tells what the match bound and which operators went.
    """
    rule, graph = scope.rule, scope.graph
    sources = output_slots(scope)
    graph.ordered()
    first_new = len(graph.op)
    scope.memo = {}
    try:
        targets = build(graph, rule.dialect, rule.target, scope)
    except FAILURES:
        graph.discard_from(first_new)
        return None
    except BuildError as error:
        graph.discard_from(first_new)
        return Failure(rule.name, graph.label(sources[0]), str(error))
    finally:
        scope.memo = None
    if why := _misfit(graph, sources, targets):
        graph.discard_from(first_new)
        return Failure(rule.name, graph.label(sources[0]), why)
    if all(source == target for source, target in zip(sources, targets)):
        graph.discard_from(first_new)
        return None  # nothing would change
    return _replace(scope, sources, targets, first_new, traced)


def _misfit(graph: Graph, sources: list[int], targets: list[int]) -> str | None:
    if len(sources) != len(targets):
        return f"the source has {len(sources)} outputs here, the target {len(targets)}"
    for source, target in zip(sources, targets):
        if target < 0:
            return "an absent operand cannot replace an output"
        if why := contradiction(graph.types[source], graph.types[target]):
            return f"the target's type does not fit: {why}"
    return None


def _replace(scope: Scope, sources: list[int], targets: list[int], first_new: int, traced: bool) -> Application:
    graph = scope.graph
    new = range(first_new, len(graph.op))
    slots = {slot for _, slot in bound_slots(scope) if slot >= 0}
    staying = (slots - set(input_slots(scope))) | set(new)  # matched nodes that stay keep what they read
    replaced = {old: now for old, now in zip(sources, targets) if old != now}
    bindings = describe(scope) if traced else {}
    _place(graph, sources, targets, first_new)
    for old, now in replaced.items():
        graph.types[now] = refine(graph.types[now], graph.types[old])
        _pass_on_name(graph, old, now, first_new)
    old_slots = sorted(slots)
    users_before = [len(graph.users[slot]) for slot in old_slots]
    operators = {slot: graph.op[slot] for slot in old_slots} if traced else {}
    changed = graph.replace_uses(replaced, staying)
    removed = graph.remove_dead([*old_slots, *new])
    dead = set(removed)
    return Application(
        scope.rule.name,
        outputs=tuple(sources),
        added=tuple(node for node in new if node not in dead),
        added_operators=tuple(graph.op[node] for node in new if node not in dead) if traced else (),
        removed=tuple(node for node in removed if node < first_new),
        removed_operators=tuple(operators.get(node, "") for node in removed if node < first_new) if traced else (),
        replaced=replaced,
        changed=tuple(changed),
        touched=tuple(s for s, n in zip(old_slots, users_before) if s not in dead and len(graph.users[s]) != n),
        bindings=bindings,
    )


def _place(graph: Graph, sources: list[int], targets: list[int], first_new: int) -> None:
    """Put new nodes into the order: behind the first source output, and so before all that uses the outputs.

    What they depend on and what stands for an output may stand later (with several outputs); it moves there first. By
    convexity none of that depends on a user of an output.
    """
    order = graph.ordered()
    anchor = min(sources, key=order.label.__getitem__)
    if len(sources) > 1:
        needed = dict.fromkeys(node for node in targets if node < first_new)
        for node in range(first_new, len(graph.op)):
            needed.update(dict.fromkeys(o for o in graph.operands[node] if 0 <= o < first_new))
        for node in ancestors_after(graph, needed, anchor):
            order.move_after(node, anchor)
            anchor = node
    for node in range(first_new, len(graph.op)):
        order.place_after(node, anchor)
        anchor = node


def _pass_on_name(graph: Graph, old: int, now: int, first_new: int) -> None:
    """The name of a replaced output survives on the new node that stands for it."""
    if now >= first_new and graph.names[old] is not None and graph.names[now] is None:
        graph.names[now] = graph.names[old]
        graph.names[old] = None


def describe(scope: Scope) -> dict[str, Any]:
    """User's names → ids of what they matched; blocks as lists of such tables."""
    rule, graph = scope.rule, scope.graph
    result: dict[str, Any] = {}
    for number, slot in enumerate(scope.slots):
        name = rule.nodes[number].name
        if name is not None and slot >= 0 and rule.nodes[number].block is None:
            result[name] = graph.label(slot)
    for block, instances in zip(rule.blocks, scope.instances):
        result[block.name] = [
            {
                str(rule.nodes[number].name): graph.label(slot)
                for number, slot in instance.slots.items()
                if slot >= 0 and rule.nodes[number].name is not None
            }
            for instance in instances
        ]
    return result

