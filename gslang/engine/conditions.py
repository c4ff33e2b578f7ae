"""Conditions on a match as a whole: no interior node is used outside (4), convexity (5), and `where`
(semantics.md §2).

Conditions 1 to 3 hold of what the matchers hand over. The tests here look at the graph as it is now, so that
they can be asked again right before a match is applied.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gslang.check import checked as ir
from gslang.engine.constraints import satisfied
from gslang.engine.program import MatchProgram, Run
from gslang.engine.scope import UNBOUND, Instance, Scope, holds
from gslang.graph.graph import Graph


def shared_output(plan: MatchProgram, scope: Scope) -> tuple[int, int] | None:
    """Condition 3 for nodes that are outputs only if some branch was chosen: such a node, and the slot that
    another one has matched too.
    """
    if not plan.maybe_outputs:
        return None
    outputs: dict[int, list[tuple[int, int]]] = {}  # nodes that are, with (instance, slot)
    for maybe in plan.maybe_outputs:
        found = [
            (k, slot)
            for k, chosen, slot in _matched(scope, maybe.node)
            if any(all(chosen.get(a) == b for a, b in way) for way in maybe.paths)
        ]
        if found:
            outputs[maybe.node] = found
    taken: dict[int, dict[int, list[int]]] = {}  # node of its own → slot → instances
    for maybe in plan.maybe_outputs:
        for other in maybe.others if maybe.node in outputs else ():
            if other not in taken:
                theirs = (
                    [(k, slot) for k, _, slot in _matched(scope, other)] if other in plan.distinct
                    else outputs.get(other, [])
                )
                taken[other] = {}
                for k, slot in theirs:
                    taken[other].setdefault(slot, []).append(k)
            for k, slot in outputs[maybe.node]:
                if any(other != maybe.node or instance != k for instance in taken[other].get(slot, ())):
                    return maybe.node, slot
    return None


def _matched(scope: Scope, node: int) -> Iterator[tuple[int, dict[int, int], int]]:
    """(instance, chosen branches, slot) of each time that a node is matched; instance -1 outside of
    templates.
    """
    block = scope.rule.nodes[node].block
    if block is None:
        if scope.slots[node] != UNBOUND:
            yield -1, scope.chosen, scope.slots[node]
        return
    for instance in scope.instances[block]:
        if node in instance.slots and instance.slots[node] != UNBOUND:
            yield instance.index, instance.chosen, instance.slots[node]


def late_contradiction(plan: MatchProgram, scope: Scope) -> tuple[ir.Block, Instance] | None:
    """The first instance that does not hold, of the blocks that can be judged only now."""
    for number in sorted(plan.late_blocks):
        for scope.current in scope.instances[number]:
            if not instance_holds(plan, scope, plan.rule.blocks[number]):
                refused, scope.current = scope.current, None
                return plan.rule.blocks[number], refused
    scope.current = None
    return None


def is_deferred(plan: MatchProgram, scope: Scope, number: int) -> bool:
    """True if constraints of template node `number` that read `first` wait until the current instance is
    judged: what they read may not be matched yet.
    """
    if number not in plan.deferred or scope.current is None:
        return False
    block = plan.rule.nodes[number].block
    return (
        scope.current.index <= 0 or block in plan.late_blocks or block is not None
        and plan.rule.blocks[block].previous is not None
    )


def deferred_hold(plan: MatchProgram, scope: Scope, block: ir.Block) -> bool:
    """The constraints that have waited for what they read, of the current instance."""
    instance = scope.current
    assert instance is not None
    for number in block.nodes:
        if is_deferred(plan, scope, number):
            slot = instance.slots.get(number, UNBOUND)
            if slot >= 0:
                node = plan.rule.nodes[number]
                if not all(satisfied(c, node, slot, scope) for c in plan.deferred[number]):
                    return False
    return True


def instance_holds(plan: MatchProgram, scope: Scope, block: ir.Block) -> bool:
    """The `where` of a block for the current instance, and the constraints that have waited."""
    return deferred_hold(plan, scope, block) and all(holds(condition, scope) for condition in block.where)


def keeps_to_itself(
    plan: MatchProgram, scope: Scope, run: Run, instance: Instance, following: Instance | None
) -> bool:
    """Condition 4 within a run: what goes away of an instance is used by what it matches, its root by the
    following one too.

    Without a following instance the root is what the rest of the match says.
    """
    graph, end = scope.graph, instance.slots.get(run.root, UNBOUND)
    inside = {*instance.slots.values(), *[scope.slots[k] for k in run.outside]}
    for number, slot in instance.slots.items():
        if number in plan.rule.interior and slot >= 0 and (slot != end or following is not None):
            around = (
                inside.union(following.slots.values()) if following is not None and slot == end else inside
            )
            if slot in graph.output_uses or any(user not in around for user in graph.users[slot]):
                return False
    return True


def output_slots(scope: Scope) -> list[int]:
    rule = scope.rule
    if rule.output_block is None:
        return [scope.slots[node] for node in rule.outputs]
    root = rule.blocks[rule.output_block].root
    return [instance.slots[root] for instance in scope.instances[rule.output_block]]


def input_slots(scope: Scope) -> list[int]:
    """Graph nodes of all leaves of the source, each once."""
    found: dict[int, None] = {}
    for number, slot in bound_slots(scope):
        if slot >= 0 and isinstance(scope.rule.nodes[number], ir.LeafNode):
            found[slot] = None
    return list(found)


def bound_slots(scope: Scope) -> Iterator[tuple[int, int]]:
    """(pattern node, slot) of all that is matched, instances included; slots of absent inputs too."""
    for number, slot in enumerate(scope.slots):
        if slot != UNBOUND:
            yield number, slot
    for instances in scope.instances:
        for instance in instances:
            for number, slot in instance.slots.items():
                if slot != UNBOUND:
                    yield number, slot


def interior_is_private(plan: MatchProgram, scope: Scope) -> bool:
    """Condition 4.

    An interior node of an alternative may be the output itself (`relu?(p)`); then it is not interior.
    """
    interior = plan.rule.interior
    if not interior:
        return True
    bound = list(bound_slots(scope))
    matched = {slot for _, slot in bound}
    outputs = set(output_slots(scope))
    graph = scope.graph
    for number, slot in bound:
        if number in interior and slot >= 0 and slot not in outputs:
            if slot in graph.output_uses or any(user not in matched for user in graph.users[slot]):
                return False
    return True


def convex(graph: Graph, inputs: Collection[int], outputs: Collection[int]) -> bool:
    """Condition 5: no input is an output or depends on one."""
    wanted = set(outputs)
    if any(node in wanted for node in inputs):
        return False
    if len(wanted) < 2:
        return True  # all inputs lie below the only output
    return not is_blocked(graph, inputs, wanted, next(iter(outputs)))


def is_blocked(graph: Graph, inputs: Collection[int], outputs: Collection[int], start: int) -> bool:
    """True if an input depends on an output. If so, the first output `start` is noted: a rewrite on the path
    may undo it."""
    if not depends(graph, inputs, outputs):
        return False
    graph.blocked[start] = None
    return True


def depends(graph: Graph, starts: Collection[int], targets: Collection[int]) -> bool:
    """True if a start is a target or depends on one. Looks only at nodes behind the first target in the
    order."""
    operands = graph.operands
    label = graph.ordered().label
    bound = min(label[node] for node in targets)
    stack = [node for node in starts if label[node] >= bound]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node in targets:
            return True
        for operand in operands[node]:
            if operand >= 0 and operand not in seen and label[operand] >= bound:
                seen.add(operand)
                stack.append(operand)
    return False


def instance_is_valid(plan: MatchProgram, scope: Scope, block: int) -> bool:
    """True if the newest instance of the output block keeps the match valid: 3 and 5 for all so far, 4 for
    its own interior."""
    rule, graph = plan.rule, scope.graph
    instances = scope.instances[block]
    newest = instances[-1]
    template = rule.blocks[block]
    output = newest.slots[template.root]
    matched = {slot for slot in newest.slots.values() if slot >= 0}
    for number, slot in newest.slots.items():
        if number in rule.interior and slot >= 0 and slot != output:
            if slot in graph.output_uses or any(
                u not in matched and u not in scope.slots for u in graph.users[slot]
            ):
                return False
    inner = [
        slot
        for number, slot in newest.slots.items()
        if slot >= 0 and isinstance(rule.nodes[number], ir.LeafNode) and graph.operands[slot]
    ]
    if shared_output(plan, scope) is not None:
        return False
    if len(instances) == 1:
        scope.inner_inputs = {
            slot: None
            for number, slot in enumerate(scope.slots)
            if slot >= 0 and isinstance(rule.nodes[number], ir.LeafNode) and graph.operands[slot]
        }
    if output in scope.inner_inputs or output in matched and output in inner:
        return False
    start = instances[0].slots[template.root]
    if scope.inner_inputs and is_blocked(graph, scope.inner_inputs, (output,), start):
        return False
    if inner:
        if is_blocked(graph, inner, {instance.slots[template.root] for instance in instances}, start):
            return False
        scope.inner_inputs.update(dict.fromkeys(inner))
    return True
