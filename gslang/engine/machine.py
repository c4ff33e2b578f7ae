"""The match machine: runs a match program, which is what a match of a rule is (semantics.md §2).

All matches with the first output at a given node are found, best first: all choices (operand orders,
alternatives, users) are revisited until everything holds. What is still to be done is a linked list of steps.
A step holds or fails, puts further steps before the rest, or is a choice: a generator of such lists, asked
for the next one when a later step has failed. What a step changes is noted on a trail and taken back then, so
nothing is copied and nothing recurses, however long a pattern is.

Not here: what a rewrite does (`rewrite`), which nodes are tried (`fixed_point`). The generated code must
agree with this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Any, Final

from gslang.check.limits import RuleFailed
from gslang.engine import program as mp
from gslang.engine.backtracking import FAILED, Backtracking, Outcome, Todo, before
from gslang.engine.candidates import place_in
from gslang.engine.conditions import (
    convex,
    deferred_hold,
    input_slots,
    instance_holds,
    instance_is_valid,
    interior_is_private,
    is_deferred,
    keeps_to_itself,
    late_contradiction,
    output_slots,
    shared_output,
)
from gslang.engine.constraints import kind_fits, satisfied
from gslang.engine.own_steps import At, Enter, Inside, Leave, Link, Linked, Whole
from gslang.engine.program import MatchProgram
from gslang.engine.scope import UNBOUND, Instance, Scope, evaluate, holds
from gslang.engine.spine import goes_down
from gslang.engine.tries import MOST_ON_THE_MACHINE, too_many
from gslang.engine.values import FAILURES
from gslang.graph.graph import ABSENT, Graph


def matches(program: MatchProgram, graph: Graph, start: int) -> Iterator[Scope]:
    """All matches whose first output is `start`, best first.

    A scope is valid until the next one is asked for.
    """
    if not goes_down(program.spine, graph, start):
        return iter(())
    return Machine(program, graph, start).scopes()


class Machine(Backtracking):
    """One run of a program at a node, which tries at most `most_tried` choices: outputs, orders of operands,
    alternatives in blocks.
    """

    most_tried: float = MOST_ON_THE_MACHINE

    def __init__(self, program: MatchProgram, graph: Graph, start: int) -> None:
        super().__init__()
        rule = program.rule
        self.program, self.graph, self.start = program, graph, start
        self.scope = Scope(rule, graph, [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks])
        self._orders: dict[int, tuple[int, ...]] = {}  # register → operands, in the order that was chosen
        self._counts: dict[int, int] = {}  # block → how many fields its sequences have
        self.tried = 0

    def scopes(self) -> Iterator[Scope]:
        """The same scope for each match, best first."""
        try:
            for _ in self.solve(self.program.steps):
                yield self.scope
        except RuleFailed as error:
            raise error.of(self.program.rule.name) from None

    # ── steps ──

    def perform(self, step: object, rest: Todo) -> Outcome:
        """The rest if a step holds, perhaps with further steps before it; or the ways to go on."""
        test = _TESTS.get(type(step))
        if test is not None:
            return rest if test(self, step) else FAILED
        return _MOVES[type(step)](self, step, rest)

    def held(self, register: int) -> int:
        """The content of a register, in the current instance."""
        if self.program.registers[register].block is None:
            return self.scope.slots[register]
        assert self.scope.current is not None
        return self.scope.current.slots.get(register, UNBOUND)

    def match(self, register: int, slot: int, rest: Todo) -> Outcome:
        """The register holds `slot` already, or does from now on."""
        bound = self.held(register)
        if bound != UNBOUND:
            return rest if bound == slot else FAILED
        found = self.program.registers[register]
        self.put(self.scope.slots_of(found.block), register, slot)
        return before(found.steps, rest)

    def _is_kind(self, step: mp.IsKind) -> bool:
        slot = self.held(step.register)
        return step.optional if slot == ABSENT else kind_fits(step.kind, self.graph.op[slot])

    def _is_op(self, step: mp.IsOp) -> bool:
        slot, variable = self.held(step.register), step.variable
        if slot == ABSENT or self.graph.op[slot] not in step.operators:
            return False
        if variable is None:
            return True
        if variable not in self.scope.variables:
            self.put(self.scope.variables, variable, self.graph.op[slot])
        return self.scope.variables[variable] == self.graph.op[slot]

    def _is_distinct(self, step: mp.Distinct) -> bool:
        slot, taken = self.held(step.register), self.scope.taken
        if slot in taken:
            return False
        if slot != ABSENT:
            taken.add(slot)
            self._trail.append((taken.discard, (slot,)))
        return True

    def operands(self, register: int) -> tuple[int, ...]:
        return self._orders[register]

    def _take_operands(self, step: mp.Operands, rest: Todo) -> Outcome:
        slot = self.held(step.register)
        operands = self.graph.operands[slot]
        given = operands + (ABSENT,) * (step.count - len(operands))
        if len(operands) < step.least or not step.more and any(o != ABSENT for o in given[step.count :]):
            return FAILED
        if self.graph.op[slot] in step.swappable and len(operands) == 2 and operands[0] != operands[1]:
            return self._operand_orders(step.register, (given, (operands[1], operands[0], *given[2:])), rest)
        self.put(self._orders, step.register, operands if step.more else given)
        return rest

    def _operand_orders(
        self, register: int, orders: tuple[tuple[int, ...], ...], rest: Todo
    ) -> Iterator[Todo]:
        for order in orders:
            self._count()
            self.put(self._orders, register, order)
            yield rest

    def _attribute_fits(self, step: mp.Attr) -> bool:
        register, constraint = step.register, step.constraint
        slot = self.held(register)
        if slot == ABSENT or step.waits and is_deferred(self.program, self.scope, register):
            return True
        return satisfied(constraint, self.program.rule.nodes[register], slot, self.scope)

    def _branches(self, register: int, branches: tuple[int, ...], rest: Todo) -> Iterator[Todo]:
        scope = self.scope
        slot = self.held(register)
        chosen, in_block = scope.chosen, self.program.registers[register].block is not None
        if in_block:
            assert scope.current is not None
            chosen = scope.current.chosen
        for number, branch in enumerate(branches):
            if in_block:  # the choices of all instances multiply
                self._count()
            self.put(chosen, register, number)
            yield (At(branch, slot), rest)

    # ── further outputs ──

    def _users(self, step: mp.Users, rest: Todo) -> Outcome:
        slot = self.scope.slots[step.register]
        if slot != UNBOUND:  # another source node uses it: it is matched already
            return rest if slot != ABSENT else FAILED
        found, taken = self.candidates(step.climb), self.scope.taken
        if step.register not in self.program.distinct:
            taken = set()
        if all(candidate in taken for candidate in found):
            return FAILED
        return self._each_user(step.register, found, taken, rest)

    def _each_user(self, register: int, found: list[int], taken: Set[int], rest: Todo) -> Iterator[Todo]:
        """One after the other: most of many are never looked at."""
        for candidate in found:
            if candidate not in taken:
                self._count()
                yield (At(register, candidate), rest)

    def _count(self) -> None:
        """One more choice."""
        self.tried += 1
        if self.tried > self.most_tried:
            raise too_many(self.program.rule.name, self.most_tried)

    def candidates(self, climb: mp.Climb) -> list[int]:
        """Graph nodes that a register that holds nothing may hold, judged by the matched nodes below it; in
        `succ` order.

        None is left out: where nothing below is matched, these are all nodes with a fitting operator. The
        registers of templates count as holding nothing (a further instance is looked for).
        """
        found = self._above(climb, {})
        if found is None:
            op = self.graph.op
            found = [n for n in self.graph.nodes() if op[n] in climb.operators]
        return sorted(set(found), key=place_in(self.graph))

    def _above(self, climb: mp.Climb, memo: dict[int, list[int] | None]) -> list[int] | None:
        """Candidates for a register, or None where no matched node lies below it."""
        register = climb.register
        if register in memo:
            return memo[register]
        slots = self.scope.slots
        if self.program.registers[register].block is None and slots[register] != UNBOUND:
            return None if slots[register] == ABSENT else [self._known_as(slots[register])]
        below = [self._above(child, memo) for child in climb.below]
        known = [nodes for nodes in below if nodes is not None]
        result = None
        if climb.either:
            if len(known) == len(below):
                result = [node for nodes in known for node in nodes]
        elif known:
            result = self._readers(known, climb.operators)
        memo[register] = result
        return result

    def _known_as(self, slot: int) -> int:
        """The node whose readers are those of a matched one."""
        return slot

    def _readers(self, known: list[list[int]], operators: frozenset[str]) -> list[int]:
        """The nodes of these operators that read one of the nodes in the group with the fewest readers."""
        op, users = self.graph.op, self.graph.users
        best = min(known, key=lambda nodes: sum(len(users[n]) for n in nodes))
        return list(dict.fromkeys(u for n in best for u in users[n] if op[u] in operators))

    # ── runs ──

    def _inside(self, step: Inside) -> bool:
        self.set(self.scope, "current", step.instance)
        return True

    def _link(self, link: Link, rest: Todo) -> Iterator[Todo]:
        """One more instance, or, only if there is none, the beginning of the run."""
        run, fits = link.run, [False]
        if link.slot != ABSENT and self.may_grow(run):
            instance = Instance(-2 - len(self.scope.instances[run.block]))
            yield before([Inside(instance), At(run.root, link.slot), Linked(link, instance, fits)], rest)
        if not fits[0]:
            yield before([Whole(link), At(run.start, link.slot)], rest)

    def may_grow(self, run: mp.Run) -> bool:
        """True if a block may have one more instance than it has."""
        maximum = self.program.rule.blocks[run.block].maximum
        try:
            return maximum is None or bool(
                len(self.scope.instances[run.block]) < evaluate(maximum, self.scope)
            )
        except FAILURES:
            return False

    def _linked(self, step: Linked, rest: Todo) -> Outcome:
        """Fails unless the instance is one; then what comes before it is next."""
        link, instance = step.link, step.instance
        run = link.run
        if instance.slots.get(run.previous, ABSENT) < 0 or not self.is_instance(run, instance):
            return FAILED
        if link.following is not None and not self.follows(run, instance, link.following):
            return FAILED
        instances = self.scope.instances[run.block]
        instances.append(instance)
        self._trail.append((instances.pop, ()))
        if (
            link.following is None and self.program.rule.blocks[run.block].maximum is None
            and self.next_instance(run, instance) is not None
        ):
            return FAILED  # at once, so that a long run is walked from its end only
        step.fits[0] = True
        return (Link(run, instance.slots[run.previous], instance, link.before), rest)

    def is_instance(self, run: mp.Run, instance: Instance) -> bool:
        """The conditions on an instance alone, which is the current one."""
        return all(holds(condition, self.scope) for condition in run.own) and keeps_to_itself(
            self.program, self.scope, run, instance, None
        )

    def follows(self, run: mp.Run, instance: Instance, following: Instance) -> bool:
        """The conditions on an instance of a run and the one that follows it."""
        self.set(following, "previous", instance)
        self.set(self.scope, "current", following)
        return (
            deferred_hold(self.program, self.scope, self.program.rule.blocks[run.block])
            and all(holds(condition, self.scope) for condition in run.linked)
            and keeps_to_itself(self.program, self.scope, run, instance, following)
        )

    def next_instance(self, run: mp.Run, last: Instance) -> int | None:
        """The root of an instance that would go on behind the last one of a run; nothing of it stays."""
        end, mark = last.slots[run.root], len(self._trail)
        for candidate in self._above(run.climb, {run.previous: [end]}) or ():
            following = Instance(-1)
            for _ in self.solve([Inside(following), At(run.root, candidate)]):
                if (
                    following.slots[run.previous] == end and self.is_instance(run, following)
                    and self.follows(run, last, following)
                ):
                    self._undo(mark)
                    return candidate
                self.set(self.scope, "current", following)
            self._undo(mark)
        return None

    def _whole(self, step: Whole) -> bool:
        """True if a run has as many instances as it needs, and none could follow; they are in order from now
        on.
        """
        link = step.link
        block = self.program.rule.blocks[link.run.block]
        instances = self.scope.instances[link.run.block]
        self.set(self.scope, "current", link.before)
        try:
            if not instances or len(instances) < evaluate(block.minimum, self.scope):
                return False
        except FAILURES:
            return False
        if (
            block.maximum is not None and self.may_grow(link.run)
            and self.next_instance(link.run, instances[0]) is not None
        ):
            return False
        self.set(self.scope, "current", link.before)
        instances.reverse()
        self._trail.append((instances.reverse, ()))
        for number, instance in enumerate(instances):
            self.set(instance, "index", number)
        return True

    # ── instances ──

    def _enter(self, step: Enter) -> bool:
        instances = self.scope.instances[step.block]
        self.set(
            self.scope, "current",
            instances[step.number] if step.number < len(instances) else Instance(step.number),
        )
        return True

    def _leave(self, step: Leave) -> bool:
        instance, instances = self.scope.current, self.scope.instances[step.block]
        assert instance is not None
        if instance.index == len(instances):
            instances.append(instance)
            self._trail.append((instances.pop, ()))
        self.set(self.scope, "current", step.before)
        return True

    def instance(self, block: int, register: int, number: int, slot: int) -> list[object]:
        """The steps of one instance, with its `register` at `slot`; the conditions of a new one hold."""
        new = number >= len(self.scope.instances[block])
        judged = [mp.Holds(block)] if new and block not in self.program.late_blocks else []
        return [Enter(block, number), At(register, slot), *judged, Leave(block, self.scope.current)]

    def _fields(self, step: mp.Fields, rest: Todo) -> Outcome:
        operands = self.operands(step.of)
        fields = operands[step.index : len(operands) - step.behind]
        steps: list[Any] = [mp.Bounds(step.block, len(fields), step.of)]
        for number, field in enumerate(fields):
            steps += self.instance(step.block, step.register, number, field)
        return before(steps, rest)

    def _bounds_allow(self, block: int, count: int | None) -> bool:
        """True if a sequence has as many fields as its block allows, and as another sequence of the block
        has."""
        template = self.program.rule.blocks[block]
        if count is None:
            count = len(self.scope.instances[block])
        elif block in self._counts:
            return self._counts[block] == count
        else:
            self.put(self._counts, block, count)
        try:
            if count < evaluate(template.minimum, self.scope):
                return False
            return template.maximum is None or count <= evaluate(template.maximum, self.scope)
        except FAILURES:
            return False

    def _extend(self, step: mp.Extend) -> bool:
        """All further instances that there are; it is `Bounds` that says whether they are enough."""
        scope, template = self.scope, self.program.rule.blocks[step.block]
        instances = scope.instances[step.block]
        try:
            most = None if template.maximum is None else evaluate(template.maximum, scope)
        except FAILURES:
            return True
        for candidate in self.candidates(step.climb):
            if most is not None and len(instances) >= most:
                break
            if candidate == self.start or candidate in scope.taken:
                continue
            for _ in self.solve(
                [*self.instance(step.block, step.root, len(instances), candidate), mp.Valid(step.block)]
            ):
                break  # its effects stay
        return True


_TESTS: Final[dict[type, Callable[[Machine, Any], bool]]] = {
    mp.IsKind: Machine._is_kind, mp.IsOp: Machine._is_op, mp.Distinct: Machine._is_distinct,
    mp.Attr: Machine._attribute_fits,
    mp.Absent: lambda machine, step: machine.operands(step.register)[step.index] == ABSENT,
    mp.Done: lambda machine, step: True,
    Enter: Machine._enter,
    Inside: Machine._inside,
    Whole: Machine._whole,
    Leave: Machine._leave, mp.Extend: lambda machine, step: machine._extend(step),
    mp.Bounds: lambda machine, step: machine._bounds_allow(step.block, step.count),
    mp.Holds: lambda machine, step: instance_holds(
        machine.program, machine.scope, machine.program.rule.blocks[step.block]
    ),
    mp.Valid: lambda machine, step: instance_is_valid(machine.program, machine.scope, step.block),
    mp.Late: lambda machine, step: late_contradiction(machine.program, machine.scope) is None,
    mp.Apart: lambda machine, step: shared_output(machine.program, machine.scope) is None,
    mp.Private: lambda machine, step: interior_is_private(machine.program, machine.scope),
    mp.Convex: lambda machine, step: convex(
        machine.graph, input_slots(machine.scope), output_slots(machine.scope)
    ),
    mp.Guard: lambda machine, step: holds(step.condition, machine.scope),
}
"""Steps that hold or do not."""

_MOVES: Final[dict[type, Callable[[Machine, Any, Todo], Outcome]]] = {
    mp.Operand: lambda machine, step, rest: machine.match(
        step.register, machine.operands(step.of)[step.index], rest
    ),
    mp.Start: lambda machine, step, rest: machine.match(step.register, machine.start, rest),
    At: lambda machine, step, rest: machine.match(step.register, step.slot, rest),
    mp.Operands: Machine._take_operands,
    mp.Choice: lambda machine, step, rest: machine._branches(step.register, step.branches, rest),
    mp.Run: lambda machine, step, rest: (
        Link(step, machine.held(step.register), None, machine.scope.current), rest,
    ),
    Link: Machine._link,
    Linked: Machine._linked, mp.Fields: Machine._fields, mp.Users: Machine._users,
    mp.Grow: lambda machine, step, rest: before(
        machine.instance(step.block, step.root, 0, machine.start), rest
    ),
}
"""Steps that put further ones before the rest, or are choices."""
