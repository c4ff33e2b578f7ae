"""The match machine: runs a match program, which is what a match of a rule is (semantics.md §2).

All matches with the first output at a given node are found, best first: all choices (operand orders, alternatives, users) are
revisited until everything holds. What is still to be done is a linked list of steps. A step holds or fails, puts further steps
before the rest, or is a choice: a generator of such lists, asked for the next one when a later step has failed. What a step
changes is noted on a trail and taken back then, so nothing is copied and nothing recurses, however long a pattern is.

Not here: what a rewrite does (`rewrite`), which nodes are tried (`fixed_point`). The generated code must agree with this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from gslang.engine import program as mp
from gslang.engine.candidates import place_in
from gslang.engine.conditions import (
    convex,
    input_slots,
    instance_holds,
    instance_is_valid,
    interior_is_private,
    is_deferred,
    late_contradiction,
    output_slots,
    shared_output,
)
from gslang.engine.constraints import kind_fits, satisfied
from gslang.engine.program import MatchProgram
from gslang.engine.scope import UNBOUND, Instance, Scope, evaluate, holds
from gslang.engine.values import FAILURES
from gslang.graph.graph import ABSENT, Graph


@dataclass(frozen=True, slots=True)
class At:
    """A register holds this node; `Operand` with the node found already."""

    register: int
    slot: int


@dataclass(frozen=True, slots=True)
class Enter:
    """The steps that follow are about instance `number` of a block, a new one if there are no more."""

    block: int
    number: int


@dataclass(frozen=True, slots=True)
class Leave:
    """The steps that follow are about `before` again; a new instance is one of the block's now."""

    block: int
    before: Instance | None


Todo = Any
"""What is still to be done, a linked list: None, or (the next step, what comes after it)."""


class _Failed:
    """The result of a step that does not hold."""


FAILED: Final = _Failed()
Outcome = Any
"""What a step comes to: what is to be done next, an iterator over choices of that, or `FAILED`."""


def matches(program: MatchProgram, graph: Graph, start: int) -> Iterator[Scope]:
    """All matches whose first output is `start`, best first. A scope is valid until the next one is asked for."""
    machine = Machine(program, graph, start)
    for _ in machine.solve(program.steps):
        yield machine.scope


class Machine:
    """One run of a program at a node."""

    def __init__(self, program: MatchProgram, graph: Graph, start: int) -> None:
        rule = program.rule
        self.program, self.graph, self.start = program, graph, start
        self.scope = Scope(rule, graph, [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks])
        self._orders: dict[int, tuple[int, ...]] = {}  # register → operands, in the order that was chosen
        self._counts: dict[int, int] = {}  # block → how many fields its sequences have
        self._trail: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    # ── running ──

    def solve(self, steps: Iterable[mp.Step]) -> Iterator[None]:
        """Yields once for each way to pass all steps, with its effects in place; a caller that stops asking keeps them."""
        bottom = len(self._trail)
        todo = before(steps, None)
        choices: list[tuple[int, Iterator[Todo]]] = []
        while True:
            if todo is None:
                yield
            else:
                outcome = self.perform(*todo)
                if outcome is FAILED:
                    outcome = self.refused(*todo)
                if outcome is None or type(outcome) is tuple:
                    todo = outcome
                    continue
                if outcome is not FAILED:
                    choices.append((len(self._trail), outcome))  # type: ignore[arg-type]
            while True:  # the next way of the latest choice
                if not choices:
                    self._undo(bottom)
                    return
                mark, ways = choices[-1]
                self._undo(mark)
                way = next(ways, FAILED)
                if way is not FAILED:
                    todo = way  # type: ignore[assignment]
                    break
                choices.pop()

    def refused(self, step: Any, rest: Todo) -> Outcome:
        """What to do about a step that has failed. For those who want to know, and may go on as if it had not."""
        return FAILED

    def put(self, table: Any, key: Any, value: Any) -> None:
        """Set an entry of a list or table until this way is given up."""
        if type(table) is list or key in table:
            self._trail.append((table.__setitem__, (key, table[key])))
        else:
            self._trail.append((table.pop, (key,)))
        table[key] = value

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute until this way is given up."""
        self._trail.append((setattr, (owner, name, getattr(owner, name))))
        setattr(owner, name, value)

    def _undo(self, mark: int) -> None:
        trail = self._trail
        while len(trail) > mark:
            function, arguments = trail.pop()
            function(*arguments)

    # ── steps ──

    def perform(self, step: Any, rest: Todo) -> Outcome:
        """The rest if a step holds, perhaps with further steps before it; or the ways to go on."""
        scope, graph = self.scope, self.graph
        match step:
            case mp.Operand(register, of, index):
                return self._match(register, self.operands(of)[index], rest)
            case mp.IsKind(register, kind, optional):
                slot = self.held(register)
                return rest if (optional if slot == ABSENT else kind_fits(kind, graph.op[slot])) else FAILED
            case mp.IsOp(register, operators, variable):
                return rest if self._is_op(self.held(register), operators, variable) else FAILED
            case mp.Distinct(register):
                slot = self.held(register)
                if slot in scope.taken:
                    return FAILED
                if slot != ABSENT:
                    scope.taken.add(slot)
                    self._trail.append((scope.taken.discard, (slot,)))
                return rest
            case mp.Operands():
                return self._take_operands(step, rest)
            case mp.Absent(register, index):
                return rest if self.operands(register)[index] == ABSENT else FAILED
            case mp.Attr():
                return rest if self._attribute_fits(step) else FAILED
            case mp.Done():
                return rest
            case mp.Choice(register, branches):
                return self._branches(register, branches, rest)
            case mp.Start(register):
                return self._match(register, self.start, rest)
            case mp.Users(register):
                return self._users(step, rest)
            case mp.Guard(_, condition):
                return rest if holds(condition, scope) else FAILED
            case mp.Private():
                return rest if interior_is_private(self.program, scope) else FAILED
            case mp.Convex():
                return rest if convex(graph, input_slots(scope), output_slots(scope)) else FAILED
            case mp.Apart():
                return rest if shared_output(self.program, scope) is None else FAILED
            case mp.Late():
                return rest if late_contradiction(self.program, scope) is None else FAILED
            case At(register, slot):
                return self._match(register, slot, rest)
        return self._instance_step(step, rest)

    def held(self, register: int) -> int:
        """What a register holds, in the current instance."""
        slots = self.scope.slots_of(self.program.registers[register].block)
        return slots[register] if isinstance(slots, list) else slots.get(register, UNBOUND)

    def _match(self, register: int, slot: int, rest: Todo) -> Outcome:
        """The register holds `slot` already, or does from now on."""
        slots = self.scope.slots_of(self.program.registers[register].block)
        bound = slots[register] if isinstance(slots, list) else slots.get(register, UNBOUND)
        if bound != UNBOUND:
            return rest if bound == slot else FAILED
        self.put(slots, register, slot)
        return before(self.program.registers[register].steps, rest)

    def _is_op(self, slot: int, operators: tuple[str, ...], variable: str | None) -> bool:
        if slot == ABSENT or self.graph.op[slot] not in operators:
            return False
        if variable is None:
            return True
        if variable not in self.scope.variables:
            self.put(self.scope.variables, variable, self.graph.op[slot])
        return self.scope.variables[variable] == self.graph.op[slot]

    def operands(self, register: int) -> tuple[int, ...]:
        return self._orders[register]

    def _take_operands(self, step: mp.Operands, rest: Todo) -> Outcome:
        slot = self.held(step.register)
        operands = self.graph.operands[slot]
        given = operands + (ABSENT,) * (step.count - len(operands))
        if len(operands) < step.least or not step.more and any(o != ABSENT for o in given[step.count :]):
            return FAILED
        if self.graph.op[slot] in step.swappable and len(operands) == 2:
            return self._operand_orders(step.register, (given, (operands[1], operands[0], *given[2:])), rest)
        self.put(self._orders, step.register, operands if step.more else given)
        return rest

    def _operand_orders(self, register: int, orders: tuple[tuple[int, ...], ...], rest: Todo) -> Iterator[Todo]:
        for order in orders:
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
        chosen = scope.chosen if self.program.registers[register].block is None else scope.current.chosen  # type: ignore[union-attr]
        for number, branch in enumerate(branches):
            self.put(chosen, register, number)
            yield (At(branch, slot), rest)

    # ── further outputs ──

    def _users(self, step: mp.Users, rest: Todo) -> Outcome:
        slot = self.scope.slots[step.register]
        if slot != UNBOUND:  # another source node uses it: it is matched already
            return rest if slot != ABSENT else FAILED
        found = self.candidates(step.climb)
        if step.register in self.program.distinct:
            found = [node for node in found if node not in self.scope.taken]
        return ((At(step.register, candidate), rest) for candidate in found) if found else FAILED

    def candidates(self, climb: mp.Climb) -> list[int]:
        """Graph nodes that a register that holds nothing may hold, judged by the matched nodes below it; in `succ` order.

        None is left out: where nothing below is matched, these are all nodes with a fitting operator. The registers of
        templates count as holding nothing (a further instance is looked for).
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
            return None if slots[register] == ABSENT else [slots[register]]
        below = [self._above(child, memo) for child in climb.below]
        known = [nodes for nodes in below if nodes is not None]
        result = None
        if climb.either:
            if len(known) == len(below):
                result = [node for nodes in known for node in nodes]
        elif known:
            op, users = self.graph.op, self.graph.users
            best = min(known, key=lambda nodes: sum(len(users[n]) for n in nodes))
            result = list(dict.fromkeys(u for n in best for u in users[n] if op[u] in climb.operators))
        memo[register] = result
        return result

    # ── instances ──

    def _instance_step(self, step: Any, rest: Todo) -> Outcome:
        scope = self.scope
        match step:
            case mp.Fields():
                return self._fields(step, rest)
            case Enter(block, number):
                instances = scope.instances[block]
                self.set(scope, "current", instances[number] if number < len(instances) else Instance(number))
                return rest
            case Leave(block, back):
                instance = scope.current
                assert instance is not None
                if instance.index == len(scope.instances[block]):
                    scope.instances[block].append(instance)
                    self._trail.append((scope.instances[block].pop, ()))
                self.set(scope, "current", back)
                return rest
            case mp.Bounds(block, count):
                return rest if self._bounds_allow(block, count) else FAILED
            case mp.Holds(block):
                return rest if instance_holds(self.program, scope, self.program.rule.blocks[block]) else FAILED
            case mp.Grow(block, root):
                return before(self.instance(block, root, 0, self.start), rest)
            case mp.Valid(block):
                return rest if instance_is_valid(self.program, scope, block) else FAILED
            case mp.Extend():
                self._extend(step)
                return rest
        raise AssertionError(f"unknown step {step!r}: this is a bug in gslang")

    def instance(self, block: int, register: int, number: int, slot: int) -> list[Any]:
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
        """Whether a sequence has as many fields as its block allows, and as another sequence of the block has."""
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

    def _extend(self, step: mp.Extend) -> None:
        scope, template = self.scope, self.program.rule.blocks[step.block]
        instances = scope.instances[step.block]
        try:
            most = None if template.maximum is None else evaluate(template.maximum, scope)
        except FAILURES:
            return
        for candidate in self.candidates(step.climb):
            if most is not None and len(instances) >= most:
                return
            if candidate == self.start or candidate in scope.taken:
                continue
            for _ in self.solve([*self.instance(step.block, step.root, len(instances), candidate), mp.Valid(step.block)]):
                break  # its effects stay


def before(steps: Iterable[Any], rest: Todo) -> Todo:
    """The steps, and then the rest."""
    for step in reversed(list(steps)):
        rest = (step, rest)
    return rest



