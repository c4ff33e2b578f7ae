"""Matches of rules over e-classes: the match machine, where an operand may be any e-node of its class.

Condition 4 of a match (no interior node is used outside) and condition 5 (convexity) mean nothing here:
nothing goes away, and what would close a cycle is dropped (`cycles`). Outputs must be of different classes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import lru_cache

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.engine import program as mp
from gslang.engine.backtracking import FAILED, Outcome, Todo, before
from gslang.engine.constraints import satisfied
from gslang.engine.machine import Machine
from gslang.engine.own_steps import At
from gslang.engine.program import MatchProgram
from gslang.engine.scope import UNBOUND, Scope
from gslang.graph.graph import ABSENT
from gslang.search.assignments import Plan, assignments, constant_tests, left_to_test, new_scope, plan_of
from gslang.search.egraph import EGraph


@dataclass(frozen=True, slots=True)
class _Take:
    """An alternation holds what the chosen branch holds."""

    register: int
    branch: int


def class_matches(
    program: MatchProgram, egraph: EGraph, of: int, seen: Container[object] = ()
) -> Iterator[Scope]:
    """All matches whose first output is in a class, but for those whose `match_key` is in `seen`.

    A scope is valid until the next one is asked for.
    """
    plan = plan_of(program)
    if plan is None:
        machine = ClassMachine(program, egraph, of)
        for _ in machine.solve(program.steps):
            if match_key(machine.scope, egraph) not in seen:
                yield machine.scope
        return
    for slots in assignments(program, plan, egraph, of):
        if (tuple(slots), (), ()) not in seen:
            scope = _tested(program, plan, egraph, slots)
            if scope is not None:
                yield scope


def match_key(scope: Scope, egraph: EGraph) -> object:
    """The key of a match: e-nodes for calls, classes for leaves; the instances of a variadic output count as
    a set.
    """
    leaves = _leaves(scope.rule)
    slots = tuple([
        slot if slot < 0 else egraph.find(slot) if number in leaves else slot
        for number, slot in enumerate(scope.slots)
    ])
    instances = [tuple(sorted(i.slots.items())) for group in scope.instances for i in group]
    if scope.rule.output_block is not None:
        instances = sorted(instances)
    return slots, tuple(instances), tuple(sorted(scope.chosen.items()))


@lru_cache(maxsize=4096)
def _leaves(rule: ir.CheckedRule) -> frozenset[int]:
    """Pattern nodes that stand for whole classes."""
    return frozenset(k for k, node in enumerate(rule.nodes) if isinstance(node, (ir.LeafNode, ir.AltNode)))


def _tested(program: MatchProgram, plan: Plan, egraph: EGraph, slots: list[int]) -> Scope | None:
    """The match that an assignment is; None if a condition does not hold."""
    machine = ClassMachine(program, egraph, slots[program.rule.outputs[0]])
    machine.scope = new_scope(program, egraph, list(slots))
    for test in plan.tests:
        if machine.perform(test, None) is FAILED:
            return None
    return machine.scope


@lru_cache(maxsize=65536)
def _parts(
    program: MatchProgram, register: int
) -> tuple[tuple[str, ...] | None, tuple[ir.Constraint, ...], tuple[mp.Step, ...]]:
    """Of a register's steps: its operators (None for a leaf or an alternation), the tests of attributes
    against constants, the rest.
    """
    steps = program.registers[register].steps
    operators = next((step.operators for step in steps if isinstance(step, mp.IsOp)), None)
    tests = constant_tests(program, register)
    return operators, tuple(tests.values()), tuple(left_to_test(program, register))


class ClassMachine(Machine):
    """Registers of calls, tuples and projections hold e-nodes, those of leaves the leaders of classes."""

    def __init__(self, program: MatchProgram, egraph: EGraph, start: int) -> None:
        super().__init__(program, egraph.store, start)
        self.egraph = egraph
        self.scope = new_scope(program, egraph)
        rule = program.rule
        roots = () if rule.output_block is None else (rule.blocks[rule.output_block].root,)
        self.apart = frozenset((*rule.outputs, *roots)) if len(rule.outputs) > 1 or roots else frozenset()

    def perform(self, step: object, rest: Todo) -> Outcome:
        match step:
            case mp.PlaceStep():
                return rest
            case mp.Distinct(register):
                if register not in self.apart:
                    return rest
                of = self.egraph.find(self.held(register))
                if of in self.scope.taken:
                    return FAILED
                self.scope.taken.add(of)
                self._trail.append((self.scope.taken.discard, (of,)))
                return rest
            case _Take(register, branch):
                slots = self.scope.slots_of(self.program.registers[register].block)
                self.put(slots, register, self.held(branch))
                return rest
        return super().perform(step, rest)

    def match(self, register: int, slot: int, rest: Todo) -> Outcome:
        held = self.program.registers[register]
        slots = self.scope.slots_of(held.block)
        bound = slots[register] if isinstance(slots, list) else slots.get(register, UNBOUND)
        of = slot if slot == ABSENT else self.egraph.find(slot)
        if bound != UNBOUND:
            return rest if (bound if bound == ABSENT else self.egraph.find(bound)) == of else FAILED
        operators, tests, steps = _parts(self.program, register)
        if operators is None or of == ABSENT:
            self.put(slots, register, of)
            return before(held.steps, rest)
        key = (self.program, register, of)
        fitting = self.egraph.fitting.get(key)
        if fitting is None:
            fitting = self.egraph.fitting[key] = self._fitting(register, of, operators, tests)
        if not fitting:
            return FAILED
        if len(fitting) == 1:
            self.put(slots, register, fitting[0])
            return before(steps, rest)
        return self._members(register, fitting, steps, rest)

    def _fitting(
        self, register: int, of: int, operators: tuple[str, ...], tests: tuple[ir.Constraint, ...]
    ) -> list[int]:
        """E-nodes of a class that pass what does not depend on the rest of the match."""
        op, node = self.graph.op, self.program.rule.nodes[register]
        found = [n for n in self.egraph.members[of] if op[n] in operators]
        return [n for n in found if all(satisfied(test, node, n, self.scope) for test in tests)]

    def _members(
        self, register: int, fitting: list[int], steps: tuple[mp.Step, ...], rest: Todo
    ) -> Iterator[Todo]:
        block = self.program.registers[register].block
        for node in fitting:
            self.put(self.scope.slots_of(block), register, node)
            yield before(steps, rest)

    def _branches(self, register: int, branches: tuple[int, ...], rest: Todo) -> Iterator[Todo]:
        for way in super()._branches(register, branches, rest):
            at, rest_of = way
            assert isinstance(at, At)
            yield (at, (_Take(register, at.register), rest_of))

    def candidates(self, climb: mp.Climb) -> list[int]:
        found = self._above(climb, {})
        return sorted({self.egraph.find(n) for n in found or ()})

    def _known_as(self, slot: int) -> int:
        return self.egraph.find(slot)

    def _readers(self, known: list[list[int]], operators: frozenset[str]) -> list[int]:
        op, egraph = self.graph.op, self.egraph
        best = min(known, key=lambda classes: sum(len(egraph.parents[of]) for of in classes))
        readers = [
            n for of in best for n in egraph.parents[of] if op[n] in operators and n not in egraph.dropped
        ]
        return list(dict.fromkeys(map(egraph.find, readers)))
