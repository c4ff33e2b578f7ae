"""The readable matcher: all ways to match a rule's source with its first output at a given graph node.

Matching walks operands backward from an output; for every further output it goes forward from the matched nodes over
users and then backward again. All choices (operand orders, alternatives, users) are revisited until everything holds, so a
match that exists is found (semantics.md §2). Each step is a generator that yields once per way to succeed, with its
effects on the scope in place while it is suspended; resuming it takes them back.

Not here: what a rewrite does (`rewrite`), which nodes are tried (`fixed_point`). The generated matcher must agree with this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gslang.check import checked as ir
from gslang.check.found import children
from gslang.engine.candidates import place_in
from gslang.engine.conditions import instance_holds, instance_is_valid, is_deferred, match_is_valid
from gslang.engine.constraints import kind_fits, satisfied
from gslang.engine.program import MatchProgram
from gslang.engine.scope import UNBOUND, Instance, Scope
from gslang.engine.values import FAILURES, evaluate
from gslang.graph.graph import ABSENT, PROJ, TUPLE, Graph

Ways = Iterator[None]
_NONE_LEFT: Final = object()


def matches(plan: MatchProgram, graph: Graph, start: int) -> Iterator[Scope]:
    """All matches whose first output is `start`, best first. A scope is valid until the next one is asked for."""
    rule = plan.rule
    scope = Scope(rule, graph, [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks])
    if rule.output_block is not None:
        ways = _match_output_block(plan, scope, start)
    else:
        ways = _match_outputs(plan, scope, start)
    for _ in ways:
        if match_is_valid(plan, scope):
            yield scope


def _match_outputs(plan: MatchProgram, scope: Scope, start: int) -> Ways:
    def output(k: int) -> Callable[[], Ways]:
        return lambda: _match_output(plan, scope, plan.rule.outputs[k], start if k == 0 else None)

    return _in_turn([output(k) for k in range(len(plan.rule.outputs))])


def _match_output(plan: MatchProgram, scope: Scope, node: int, start: int | None) -> Ways:
    if start is None and scope.slots[node] != UNBOUND:
        if scope.slots[node] != ABSENT:
            yield  # another source node uses it: it is matched already
        return
    for candidate in [start] if start is not None else candidates(plan, scope, node):
        yield from _match(plan, scope, node, candidate)


def _in_turn(parts: list[Callable[[], Ways]]) -> Ways:
    """All ways to succeed with all parts, later parts varying fastest. Without recursion: there may be thousands."""
    if not parts:
        yield
        return
    running = [parts[0]()]
    while running:
        if next(running[-1], _NONE_LEFT) is _NONE_LEFT:
            running.pop()
        elif len(running) == len(parts):
            yield
        else:
            running.append(parts[len(running)]())


def _match(plan: MatchProgram, scope: Scope, number: int, slot: int) -> Ways:
    """All ways in which pattern node `number` matches graph node `slot` (or an absent operand)."""
    node = plan.rule.nodes[number]
    slots = scope.slots_of(node.block)
    bound = slots[number] if isinstance(slots, list) else slots.get(number, UNBOUND)
    if bound != UNBOUND:
        if bound == slot:
            yield
        return
    match node:
        case ir.LeafNode():
            if node.optional if slot == ABSENT else kind_fits(node.kind, scope.graph.op[slot]):
                slots[number] = slot
                if slot == ABSENT or _constraints_hold(plan, scope, number, slot):
                    yield
                slots[number] = UNBOUND
        case ir.AltNode():
            chosen = scope.chosen if node.block is None else scope.current.chosen  # type: ignore[union-attr]
            for choice, branch in enumerate(node.branches):
                chosen[number] = choice
                for _ in _match(plan, scope, branch, slot):
                    slots[number] = slot
                    if slot == ABSENT or _constraints_hold(plan, scope, number, slot):
                        yield
                    slots[number] = UNBOUND
                    chosen[number] = choice
            chosen.pop(number, None)
        case _ if slot != ABSENT:
            yield from _match_inner(plan, scope, number, slot, slots)


def _match_inner(plan: MatchProgram, scope: Scope, number: int, slot: int, slots: list[int] | dict[int, int]) -> Ways:
    """Calls, tuples and projections."""
    node, graph = plan.rule.nodes[number], scope.graph
    distinct = number in plan.distinct
    if distinct and slot in scope.taken:
        return
    op, operands = graph.op[slot], graph.operands[slot]
    variable = None
    patterns: tuple[int | None | ir.Splice, ...]
    orders: tuple[tuple[int, ...], ...] = (operands,)
    match node:
        case ir.CallNode():
            if op not in node.operators:
                return
            patterns = node.operands
            if node.variable is not None:
                known = scope.variables.get(node.variable)
                if known is None:
                    variable = node.variable
                elif known != op:
                    return
            if op in node.swappable and len(operands) == 2:
                orders = (operands, (operands[1], operands[0]))
        case ir.TupleNode():
            if op is not TUPLE:
                return
            patterns = node.fields
        case ir.ProjNode():
            if op is not PROJ:
                return
            patterns = (node.base,)
        case _:
            raise AssertionError("not an inner node: this is a bug in gslang")
    if variable is not None:
        scope.variables[variable] = op
    if distinct:
        scope.taken.add(slot)
    for order in orders:
        parts = _align(plan, scope, patterns, order)
        if parts is None:
            continue
        for _ in _in_turn(parts):
            slots[number] = slot
            if _constraints_hold(plan, scope, number, slot):
                yield
            slots[number] = UNBOUND
    if distinct:
        scope.taken.discard(slot)
    if variable is not None:
        del scope.variables[variable]


def _align(
    plan: MatchProgram, scope: Scope, patterns: tuple[int | None | ir.Splice, ...], operands: tuple[int, ...]
) -> list[Callable[[], Ways]] | None:
    """Which pattern has to match which operand, or None if their numbers do not fit."""
    splice = next((k for k, p in enumerate(patterns) if isinstance(p, ir.Splice)), None)
    if splice is None:
        if len(operands) < len(patterns):
            operands = operands + (ABSENT,) * (len(patterns) - len(operands))
        if any(o != ABSENT for o in operands[len(patterns) :]):
            return None
        return _operands(plan, scope, patterns, operands)
    sequence = patterns[splice]
    assert isinstance(sequence, ir.Splice)
    behind = len(patterns) - splice - 1
    count = len(operands) - splice - behind
    if count < 0:
        return None
    before = _operands(plan, scope, patterns[:splice], operands[:splice])
    after = _operands(plan, scope, patterns[splice + 1 :], operands[len(operands) - behind :])
    fields = operands[splice : splice + count]
    if before is None or after is None:
        return None

    def instance(k: int, field: int) -> Callable[[], Ways]:
        return lambda: _match_field(plan, scope, sequence, k, field, count)

    middle = [instance(k, field) for k, field in enumerate(fields)]
    if not fields:
        middle = [lambda: _no_instances(scope, sequence)]
    return before + middle + after


def _operands(
    plan: MatchProgram, scope: Scope, patterns: tuple[int | None | ir.Splice, ...], operands: tuple[int, ...]
) -> list[Callable[[], Ways]] | None:
    parts: list[Callable[[], Ways]] = []
    for pattern, operand in zip(patterns, operands):
        if pattern is None:
            if operand != ABSENT:
                return None
            continue
        assert isinstance(pattern, int)
        parts.append(lambda pattern=pattern, operand=operand: _match(plan, scope, pattern, operand))  # type: ignore[misc]
    return parts


# ── templates ─────────────────────────────────────────────────────────────────────────────────────────────────


def _bounds_allow(scope: Scope, block: ir.Block, count: int) -> bool:
    try:
        if count < evaluate(block.minimum, scope):
            return False
        return block.maximum is None or count <= evaluate(block.maximum, scope)
    except FAILURES:
        return False


def _no_instances(scope: Scope, splice: ir.Splice) -> Ways:
    if _bounds_allow(scope, scope.rule.blocks[splice.block], 0):
        yield


def _match_field(plan: MatchProgram, scope: Scope, splice: ir.Splice, k: int, field: int, count: int) -> Ways:
    """Instance `k` of a block that must cover exactly `count` fields; a block spliced before is matched in lock-step."""
    instances = scope.instances[splice.block]
    if k < len(instances):
        before, scope.current = scope.current, instances[k]
        for _ in _match(plan, scope, splice.node, field):
            scope.current = before
            yield
            scope.current = instances[k]
        scope.current = before
        return
    if k == 0 and not _bounds_allow(scope, scope.rule.blocks[splice.block], count):
        return
    yield from _match_instance(plan, scope, splice.block, splice.node, k, field)


def _match_instance(plan: MatchProgram, scope: Scope, block: int, root: int, k: int, slot: int) -> Ways:
    """All ways to match a new instance, number `k`, with its node `root` at `slot`; its own conditions hold."""
    template, before = plan.rule.blocks[block], scope.current
    instance = Instance(k)
    scope.current = instance
    for _ in _match(plan, scope, root, slot):
        if block in plan.late_blocks or instance_holds(plan, scope, template):
            scope.instances[block].append(instance)
            scope.current = before
            yield
            scope.current = instance
            scope.instances[block].pop()
    scope.current = before


def _constraints_hold(plan: MatchProgram, scope: Scope, number: int, slot: int) -> bool:
    node = plan.rule.nodes[number]
    waiting = plan.deferred[number] if is_deferred(plan, scope, number) else ()
    return all(satisfied(c, node, slot, scope) for c in node.constraints if c not in waiting)


def _match_output_block(plan: MatchProgram, scope: Scope, start: int) -> Ways:
    """The variadic output: the first instance at `start`, then greedily every candidate that keeps the match valid."""
    number = plan.rule.output_block
    assert number is not None
    block = plan.rule.blocks[number]
    for _ in _match_instance(plan, scope, number, block.root, 0, start):
        if not instance_is_valid(plan, scope, number):
            continue
        slots, chosen, captures = scope.slots[:], dict(scope.chosen), dict(scope.captures)
        variables, taken, inputs = dict(scope.variables), set(scope.taken), dict(scope.inner_inputs)
        _extend(plan, scope, number, block, start)
        if _bounds_allow(scope, block, len(scope.instances[number])):
            yield
        del scope.instances[number][1:]
        scope.slots[:], scope.chosen, scope.captures = slots, chosen, captures
        scope.variables, scope.taken, scope.inner_inputs = variables, taken, inputs


def _extend(plan: MatchProgram, scope: Scope, number: int, block: ir.Block, start: int) -> None:
    instances = scope.instances[number]
    try:
        most = None if block.maximum is None else evaluate(block.maximum, scope)
    except FAILURES:
        return
    for candidate in candidates(plan, scope, block.root, template=True):
        if most is not None and len(instances) >= most:
            return
        if candidate == start or candidate in scope.taken:
            continue
        for _ in _match_instance(plan, scope, number, block.root, len(instances), candidate):
            if instance_is_valid(plan, scope, number):
                break  # the generator is dropped with its effects in place


# ── going forward ─────────────────────────────────────────────────────────────────────────────────────────────


def candidates(plan: MatchProgram, scope: Scope, number: int, template: bool = False) -> list[int]:
    """Graph nodes that an unmatched pattern node may match, judged by the matched nodes below it; in `succ` order.

    None is left out: where nothing below is matched, these are all nodes with a fitting operator. With `template` the
    nodes of templates count as unmatched (a further instance is looked for).
    """
    found = _forward(plan, scope, number, template, {})
    if found is None:
        wanted = _operators(plan, number)
        op = scope.graph.op
        found = [n for n in scope.graph.nodes() if op[n] in wanted]
    return sorted(set(found), key=place_in(scope.graph))


def _operators(plan: MatchProgram, number: int) -> frozenset[str]:
    match plan.rule.nodes[number]:
        case ir.CallNode(operators=operators):
            return frozenset(operators)
        case ir.TupleNode():
            return frozenset((TUPLE,))
        case ir.ProjNode():
            return frozenset((PROJ,))
        case ir.AltNode(branches=branches):
            return frozenset().union(*(_operators(plan, branch) for branch in branches))
    return frozenset()


def _forward(
    plan: MatchProgram, scope: Scope, number: int, template: bool, memo: dict[int, list[int] | None]
) -> list[int] | None:
    """Candidates for a pattern node, or None where no matched node lies below it."""
    if number in memo:
        return memo[number]
    node, graph = plan.rule.nodes[number], scope.graph
    if node.block is None and scope.slots[number] != UNBOUND:
        slot = scope.slots[number]
        return None if slot == ABSENT else [slot]
    memo[number] = result = None
    match node:
        case ir.LeafNode():
            pass
        case ir.AltNode(branches=branches):
            parts = [_forward(plan, scope, branch, template, memo) for branch in branches]
            if all(part is not None for part in parts):
                result = [n for part in parts if part is not None for n in part]
        case ir.CallNode() | ir.TupleNode() | ir.ProjNode():
            below = [_forward(plan, scope, child, template, memo) for child in children(node)]
            known = [nodes for nodes in below if nodes is not None]
            if known:
                wanted, op, users = _operators(plan, number), graph.op, graph.users
                best = min(known, key=lambda nodes: sum(len(users[n]) for n in nodes))
                result = list(dict.fromkeys(u for n in best for u in users[n] if op[u] in wanted))
    memo[number] = result
    return result
