"""The words for each step of a match program that has failed: what was expected, what was found, and what to
do about it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.footprint import operators_at
from gslang.engine import program as mp
from gslang.engine.conditions import bound_slots, input_slots, late_contradiction, output_slots, shared_output
from gslang.engine.machine import Machine
from gslang.engine.match_failures import (
    also_used,
    constraint_obstacle,
    described,
    failing_parts,
    nodes_read,
    path_between,
    shown_operators,
    where_obstacle,
)
from gslang.engine.own_steps import At, Link, Linked, Whole
from gslang.engine.scope import Instance, holds
from gslang.graph.graph import ABSENT, TUPLE

_NAMED = 4  # users that are told one by one
KNOWN = "types come from the graph file or from inference; a condition must be known to be true"
_WHERE = "remove this condition, or admit these values, if the rule holds without it"
_ONE_EACH = "the outputs of the source must be distinct nodes"
_KEEP = "mark it `keep` in the source if it may stay in the graph"
_ALL_OUTPUTS = "the rule needs all its outputs; a rule with fewer outputs would match here"
_ONLY_PATTERN = "a node that only the pattern uses"
_ONLY_RUN = "a node that only the run uses"


@dataclass(frozen=True, slots=True)
class Words:
    """A failed step: where the pattern says it, the graph node, what was expected and found.

    `passed`: conditions on the whole that hold; `others`: what else of them fails.
    """

    reason: str
    span: Span
    node: int
    expected: str = ""
    found: str = ""
    help: str = ""
    passed: int = 0
    others: tuple[str, ...] = ()


def first_output(rule: ir.CheckedRule) -> int:
    return rule.outputs[0] if rule.output_block is None else rule.blocks[rule.output_block].root


def words_for(machine: Machine, step: object, slot: int) -> Words:
    """The words for a step that has just failed.

    `slot`: what its register held, where that was not what it demands.
    """
    match step:
        case mp.Operand(register, of, index):
            return _another_node(machine, register, machine.operands(of)[index])
        case At(register, other):
            return _another_node(machine, register, other)
        case mp.IsKind(register):
            return _kind(machine, register, slot)
        case mp.IsOp(register):
            return _operator(machine, step, slot)
        case mp.Distinct(register):
            return Words(
                "not-distinct", machine.program.registers[register].span, slot,
                "a node that no other part of the pattern has matched",
                f"{described(machine.graph, slot)} is matched already",
                "each call of the source matches a separate node; to use one node twice, name it",
            )
        case mp.Operands(register) | mp.Absent(register):
            return _operand_count(machine, register)
        case mp.Attr(register, constraint):
            held = machine.held(register)
            reason, expected, found, help = constraint_obstacle(
                constraint, machine.program.rule.nodes[register], held, machine.scope
            )
            return Words(reason, constraint.span, held, expected, found, help)
        case mp.Users(register):
            return _no_further_output(machine, register)
        case mp.Bounds(block, count, of):
            return _bounds(machine, block, count or 0, of)
        case mp.Holds(block):
            return _instance(machine, block)
        case Linked(link, instance):
            return _linked(machine, link, instance)
        case Whole(link):
            return _run_too_short(machine, link)
        case mp.Valid(block):
            return _newest_instance(machine, block)
        case mp.Late():
            return _late(machine)
        case mp.Apart():
            shared = shared_output(machine.program, machine.scope)
            assert shared is not None
            return _shared(machine, *shared)
        case mp.Private():
            return _not_private(machine)
        case mp.Convex():
            path = _path(machine, machine.program.rule.nodes[first_output(machine.program.rule)].span)
            assert path is not None
            return path
        case mp.Guard():
            return _guard(machine, step)
    raise AssertionError(f"no words for {step!r}: this is a bug in gslang")


# ── one node ────────────────────────────────────────────────────────────────────────────────────────────────


def _another_node(machine: Machine, register: int, slot: int) -> Words:
    node = machine.program.registers[register]
    name = f"`{node.name}`" if node.name else "this node"
    return Words(
        "another-node", node.span, slot,
        f"{name} once more, which is {described(machine.graph, machine.held(register))}",
        described(machine.graph, slot),
        "a name used twice is one node; use a second name if the nodes may differ",
    )


def _kind(machine: Machine, register: int, slot: int) -> Words:
    node = machine.program.rule.nodes[register]
    assert isinstance(node, ir.LeafNode)
    if slot == ABSENT:
        return Words(
            "operand-missing", node.span, machine.start, "an operand", "it is omitted",
            f"`{node.name or 'x'}: {node.kind}?` may be absent",
        )
    help = f"`{node.name}: any` accepts any node" if node.name else "`any` accepts any node"
    wanted = f"a node of kind `{node.kind}`" + (
        "" if node.name or node.span.text == node.kind else f", `{node.span.text}`"
    )
    return Words("kind", node.span, slot, wanted, described(machine.graph, slot), help)


def _operator(machine: Machine, step: mp.IsOp, slot: int) -> Words:
    span, graph = machine.program.registers[step.register].span, machine.graph
    wanted = shown_operators(sorted(step.operators))
    if slot == ABSENT:
        return Words(
            "operand-missing", span, machine.start, wanted, "the operand is omitted",
            "write `none` or an optional input",
        )
    op = graph.op[slot]
    if op in step.operators and step.variable is not None:
        return Words(
            "operator-variable", span, slot,
            f"`{machine.scope.variables[step.variable]}`, to which `{step.variable}` is bound here",
            described(graph, slot),
            "an operator variable is the same operator in the whole match; two variables may differ",
        )
    alternative = (
        f"`({wanted.split(',')[0].strip('`')}(…) | {op}(…))` accepts both" if graph.is_call(slot) else ""
    )
    return Words("operator", span, slot, wanted, described(graph, slot), alternative)


def _operand_count(machine: Machine, register: int) -> Words:
    node, slot = machine.program.rule.nodes[register], machine.held(register)
    instances = next((part for part in node.parts if isinstance(part, ir.Splice)), None)
    count = sum(operand >= 0 for operand in machine.graph.operands[slot])
    wanted = str(len(node.below))
    if instances is not None:
        if len(machine.graph.operands[slot]) < len(node.parts) - 1:
            return _bounds(machine, instances.block, 0, register)
        wanted = "fewer"
    what = "fields" if node.operators == (TUPLE,) else "operands"
    found = f"{described(machine.graph, slot)} has {count}"
    return Words(
        "operand-count", node.span, slot, f"{wanted} {what}", found, _how_to_allow(machine, register)
    )


def _how_to_allow(machine: Machine, register: int) -> str:
    """A suggestion for a pattern to take more operands: by naming one that it leaves out, or with a
    template."""
    pattern = machine.program.rule.nodes[register]
    signature = (
        machine.program.rule.dialect.get(pattern.operators[0]) if isinstance(pattern, ir.CallNode) else None
    )
    declared = signature.operands if signature is not None else ()
    behind = declared[len(pattern.operands) :] if isinstance(pattern, ir.CallNode) else ()
    if behind and not any(operand.variadic for operand in declared):
        return f"an omitted operand must be absent; `{behind[0].name} = _` matches any"
    return "`*` of an `each` template takes any number"


def _no_further_output(machine: Machine, register: int) -> Words:
    rule, graph, slots = machine.program.rule, machine.graph, machine.scope.slots
    span = rule.nodes[register].span
    if slots[register] == ABSENT:
        return Words(
            "no-further-output", span, machine.start, "a node as an output", "an operand that is absent",
            _ALL_OUTPUTS,
        )
    base = next(
        (slots[child] for child in rule.nodes[register].below if slots[child] >= 0), machine.start
    )
    wanted = shown_operators(sorted(operators_at(rule.nodes, register)))
    expected = f"another user that can be output {rule.outputs.index(register) + 1}: {wanted}"
    users = graph.users[base]
    told = (
        ", ".join(described(graph, u) for u in users) if len(users) <= _NAMED
        else shown_operators(graph.op[u] for u in users)
    )
    return Words(
        "no-further-output", span, base, expected, f"{described(graph, base)} is used by {told or 'nothing'}",
        _ALL_OUTPUTS,
    )


# ── instances ───────────────────────────────────────────────────────────────────────────────────────────────


def _bounds(machine: Machine, number: int, count: int, of: int | None) -> Words:
    block, slot = machine.program.rule.blocks[number], machine.start if of is None else machine.held(of)
    return Words(
        "too-few-instances", block.span, slot, f"as many instances of `{block.name}` as `each` allows",
        f"{described(machine.graph, slot)} leaves {count}", "the numbers after `in` are the bounds",
    )  # fmt: skip


def _instance(machine: Machine, number: int) -> Words:
    """The demand that the current instance contradicts."""
    block, scope = machine.program.rule.blocks[number], machine.scope
    for k, (condition, span) in enumerate(zip(block.where, block.where_spans)):
        if not holds(condition, scope):
            expected, found, reason = where_obstacle(condition, scope)
            return Words(
                reason, span, machine.start, expected, found,
                "the block's `where` determines which candidates are instances", k,
            )
    return Words(
        "attribute", block.span, machine.start, "what `first` has", "the first instance contradicts itself"
    )


def _newest_instance(machine: Machine, number: int) -> Words:
    """A node of the newest instance with another user, or a path by which an instance depends on another
    one."""
    rule, scope = machine.program.rule, machine.scope
    block, newest = rule.blocks[number], scope.instances[number][-1]
    matched = {*newest.slots.values(), *scope.slots}
    for register, slot in newest.slots.items():
        if register in rule.interior and slot >= 0 and slot != newest.slots[block.root]:
            if words := _used_outside(
                machine, register, slot, matched, "an instance that nothing outside uses"
            ):
                return words
    shared = shared_output(machine.program, scope)
    return _path(machine, block.span) or (
        _shared(machine, *shared) if shared else Words("not-valid", block.span, machine.start)
    )


# ── runs ────────────────────────────────────────────────────────────────────────────────────────────────────


def _linked(machine: Machine, link: Link, instance: Instance) -> Words:
    """Why this is no instance of a run, or not the last one."""
    rule, scope, run = machine.program.rule, machine.scope, link.run
    block, end = rule.blocks[run.block], link.slot
    scope.current = instance
    for conditions, following in ((run.own, None), (run.linked, link.following)):
        scope.current = following or instance
        for condition in conditions if conditions is run.own or following is not None else ():
            if not holds(condition, scope):
                expected, found, reason = where_obstacle(condition, scope)
                span = block.where_spans[block.where.index(condition)]
                return Words(
                    reason, span, end, expected, found,
                    "the block's `where` determines which candidates are instances",
                )
    for register, slot in instance.slots.items():
        if register in rule.interior and slot >= 0 and (slot != end or link.following is not None):
            around = {
                *instance.slots.values(), *[scope.slots[k] for k in run.outside],
                *(link.following.slots.values() if link.following is not None and slot == end else ()),
            }
            if words := _used_outside(machine, register, slot, around, _ONLY_RUN):
                return words
    if link.following is None and (words := _not_longest(machine, link.run, instance, end)):
        return words
    return Words(
        "attribute", block.span, end, "what `prev` has", f"{described(machine.graph, end)} has something else"
    )


def _not_longest(machine: Machine, run: mp.Run, last: Instance, end: int) -> Words | None:
    block, further = machine.program.rule.blocks[run.block], machine.next_instance(run, last)
    if further is None:
        return None
    found = f"{described(machine.graph, further)} continues from {described(machine.graph, end)}"
    return Words(
        "not-longest", block.span, end, f"the end of a run of `{block.name}`", found,
        "a chain matches a complete run, from its end",
    )


def _run_too_short(machine: Machine, link: Link) -> Words:
    run = link.run
    block, instances = machine.program.rule.blocks[run.block], machine.scope.instances[run.block]
    if (
        instances and block.maximum is not None and machine.may_grow(run)
        and (words := _not_longest(machine, run, instances[0], machine.start))
    ):
        return words
    count = len(instances)
    return Words(
        "too-few-instances", block.bounds_span, machine.start,
        f"a run of as many instances of `{block.name}` as `chain` allows", f"it has {count}",
        f"`chain {block.name} in {max(count, 1)}..` would accept it, if the rule holds for so few instances",
    )


# ── the whole ───────────────────────────────────────────────────────────────────────────────────────────────


def _late(machine: Machine) -> Words:
    found = late_contradiction(machine.program, machine.scope)
    assert found is not None
    block, machine.scope.current = found
    words = _instance(machine, machine.program.rule.blocks.index(block))
    machine.scope.current = None
    return words


def _guard(machine: Machine, step: mp.Guard) -> Words:
    """A condition that fails, and those behind it that fail too: all of them are in the way."""
    guards = [guard for guard in machine.program.steps if isinstance(guard, mp.Guard)]
    failing = [guard for guard in guards if not holds(guard.condition, machine.scope)]
    others = tuple([
        f"`{guard.span.text}`" + where_obstacle(guard.condition, machine.scope)[1].removeprefix("it")
        for guard in failing if guard.number > step.number
    ])
    expected, text, reason = where_obstacle(step.condition, machine.scope)
    read = set(nodes_read(failing_parts(step.condition, machine.scope), machine.scope).values())
    node = read.pop() if len(read) == 1 else machine.start
    help = KNOWN if reason == "where-unknown" else _WHERE
    return Words(
        reason, step.span, node, expected, text, help, 2 + len(guards) - len(failing), others
    )


def _shared(machine: Machine, register: int, slot: int) -> Words:
    span = machine.program.registers[register].span
    found = f"{described(machine.graph, slot)} is matched already"
    return Words(
        "not-distinct", span, slot, "a node that no other part of the pattern has matched", found, _ONE_EACH
    )


def _not_private(machine: Machine) -> Words:
    bound, outputs = list(bound_slots(machine.scope)), set(output_slots(machine.scope))
    matched, interior = {slot for _, slot in bound}, machine.program.rule.interior
    return next(
        words
        for register, slot in bound if register in interior and slot >= 0 and slot not in outputs
        if (words := _used_outside(machine, register, slot, matched, _ONLY_PATTERN))
    )


def _used_outside(
    machine: Machine, register: int, slot: int, matched: set[int], expected: str
) -> Words | None:
    graph, span = machine.graph, machine.program.registers[register].span
    if slot in graph.output_uses:
        return Words(
            "graph-output", span, slot, expected, f"{described(graph, slot)} is an output of the graph",
            keep_hint(span),
        )
    others = list(islice((user for user in graph.users[slot] if user not in matched), 4))
    return (
        Words("used-outside", span, slot, expected, also_used(graph, slot, others), keep_hint(span)) if others
        else None
    )


def _path(machine: Machine, span: Span) -> Words | None:
    """The path by which an input depends on an output, if there is one."""
    path: Sequence[int] | None = path_between(
        machine.graph, input_slots(machine.scope), output_slots(machine.scope), {}
    )
    if path is None:
        return None
    way = " → ".join(map(machine.graph.label, path))
    return Words(
        "not-convex", span, path[0], "inputs that do not depend on outputs",
        f"a path leads from an output back to an input: {way}",
        "replacing all outputs at once would create a cycle", 1,
    )


def keep_hint(span: Span) -> str:
    """A suggestion for an interior node that is needed elsewhere; `keep` binds tighter than `+` and looser
    than `.0`."""
    call = re.match(r"[\w.]+\(", span.text)
    depth, end = 1, call.end() if call else 0
    while call and depth and end < len(span.text):
        depth += {"(": 1, ")": -1}.get(span.text[end], 0)
        end += 1
    alone = call and end == len(span.text) and not span.source.text[span.end :].startswith((".", "["))
    return _KEEP if alone else f"{_KEEP}: `keep (…)`"

