"""Assignments of e-nodes to the registers of a match program, by operators, operands and constant attributes.

That is where nearly all tries of a pattern fail, and it takes no more than comparing numbers: `match_classes`
tests the conditions of what is left. The operands of an e-node are compared before any of them is looked
into, so that a value that a pattern reads twice is known early.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Union

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.engine import program as mp
from gslang.engine.constraints import satisfied
from gslang.engine.program import MatchProgram
from gslang.engine.scope import UNBOUND, Scope
from gslang.engine.uses import NO_GRAPH
from gslang.graph.graph import ABSENT
from gslang.search.egraph import EGraph

Test = Union[mp.Demand, mp.Guard]
_SIMPLE = (mp.Distinct, mp.IsKind, mp.IsOp, mp.Operands, mp.Operand, mp.Absent, mp.Attr, mp.Done)


@dataclass(frozen=True, slots=True)
class _Level:
    """A register of calls, tuples or projections: what it demands of an e-node alone (`demands`: as a text,
    which many rules share), and the registers of its operands, those that are assigned here and those that
    were before.
    """

    register: int
    demands: str
    operators: frozenset[str]
    operands: mp.Operands
    absent: tuple[int, ...]
    tests: tuple[ir.Constraint, ...]
    assigned: tuple[tuple[int, int], ...]
    again: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """`levels`: in the order of assignment; `tests`: what is left to test, in the program's order.
    """

    levels: tuple[_Level, ...]
    tests: tuple[Test, ...]


def constant_tests(program: MatchProgram, register: int) -> dict[mp.Step, ir.Constraint]:
    """Those of a register's steps that compare an attribute with a constant."""
    return {
        step: step.constraint
        for step in program.registers[register].steps
        if isinstance(step, mp.Attr) and not step.waits and isinstance(step.constraint, ir.Constraint)
        and step.constraint.literal is not None
    }


def left_to_test(program: MatchProgram, register: int) -> list[mp.Step]:
    """A register's steps without those that an e-node alone tells of: its operator, constant attributes."""
    constant = constant_tests(program, register)
    return [
        step
        for step in program.registers[register].steps
        if step not in constant and not (isinstance(step, mp.IsOp) and step.variable is None)
    ]


@lru_cache(maxsize=4096)
def plan_of(program: MatchProgram) -> Plan | None:
    """The plan of a program with one output; None if it has templates, alternatives or runs."""
    rule = program.rule
    if rule.blocks or len(rule.outputs) != 1 or not all(
        isinstance(step, _SIMPLE) and not (isinstance(step, mp.Operands) and step.more)
        for register in program.registers for step in register.steps
    ):
        return None
    calls = {k for k, held in enumerate(program.registers) if _of(held, mp.Operands)}
    if rule.outputs[0] not in calls:
        return None
    levels, bound, waiting = [], {rule.outputs[0]}, [rule.outputs[0]]
    while waiting:
        register = waiting.pop()
        level = _level(program, register, bound)
        levels.append(level)
        waiting += [child for _, child in reversed(level.assigned) if child in calls]
    guards = [step for step in program.steps if isinstance(step, mp.Guard)]
    tests = (*_tests(program, rule.outputs[0]), *guards)
    return Plan(tuple(levels), tests)


def _of(register: mp.Register, kind: type) -> list[Any]:
    return [step for step in register.steps if isinstance(step, kind)]


def _level(program: MatchProgram, register: int, bound: set[int]) -> _Level:
    held = program.registers[register]
    (operands,), (is_op,) = _of(held, mp.Operands), _of(held, mp.IsOp)
    assigned: list[tuple[int, int]] = []
    again: list[tuple[int, int]] = []
    for step in _of(held, mp.Operand):
        (again if step.register in bound else assigned).append((step.index, step.register))
        bound.add(step.register)
    absent = tuple([step.index for step in _of(held, mp.Absent)])
    tests = tuple(constant_tests(program, register).values())
    demands = (
        type(program.rule.nodes[register]).__name__, sorted(is_op.operators), operands.least, operands.count,
        sorted(operands.swappable), absent, tests,
    )
    return _Level(
        register, repr(demands), frozenset(is_op.operators), operands, absent, tests, tuple(assigned),
        tuple(again),
    )


def _tests(program: MatchProgram, output: int) -> Iterator[Test]:
    """The steps from the output down that an assignment may fail, as the match machine would come to them.
    """

    def from_here(register: int) -> Iterator[mp.Step]:
        return iter(left_to_test(program, register))

    done, waiting = {output}, [from_here(output)]
    while waiting:
        for step in waiting[-1]:
            if isinstance(step, mp.Operand) and step.register not in done:
                done.add(step.register)
                waiting.append(from_here(step.register))
                break
            if isinstance(step, mp.Demand):
                yield step
        else:
            waiting.pop()


def assignments(program: MatchProgram, plan: Plan, egraph: EGraph, of: int) -> Iterator[list[int]]:
    """All assignments whose output is in a class: e-nodes for calls, leaders of classes for leaves.

    The list is valid until the next one is asked for.
    """
    levels = plan.levels
    classes = [UNBOUND] * len(program.registers)  # that a register's e-node is to be in
    slots = list(classes)
    ways = [iter(_ways(program, levels[0], egraph, of))] + [iter(())] * (len(levels) - 1)
    at, last = 0, len(levels) - 1
    while at >= 0:
        level = levels[at]
        for node, operands in ways[at]:
            for index, register in level.assigned:
                classes[register] = slots[register] = operands[index]
            if any(classes[register] != operands[index] for index, register in level.again):
                continue
            slots[level.register] = node
            break
        else:
            at -= 1
            continue
        if at == last:
            yield slots
            continue
        at += 1
        level = levels[at]
        ways[at] = iter(_ways(program, level, egraph, classes[level.register]))


Way = tuple[int, tuple[int, ...]]


def _ways(program: MatchProgram, level: _Level, egraph: EGraph, of: int) -> list[Way]:
    """The e-nodes of a class that fit a level by themselves, each with the classes of its operands, in either
    order if the operator does not care.
    """
    if of == ABSENT:
        return []
    key = (level.demands, of)
    found = egraph.fitting.get(key)
    if found is None:
        found = egraph.fitting[key] = list(_fitting(program, level, egraph, of))
    return found


def _fitting(program: MatchProgram, level: _Level, egraph: EGraph, of: int) -> Iterator[Way]:
    store, find, step = egraph.store, egraph.find, level.operands
    pattern, scope = program.rule.nodes[level.register], None
    for node in egraph.members[of]:
        if store.op[node] not in level.operators:
            continue
        operands = tuple([o if o < 0 else find(o) for o in store.operands[node]])
        given = operands + (ABSENT,) * (step.count - len(operands))
        if len(operands) < step.least or any(o != ABSENT for o in given[step.count :]):
            continue
        if level.tests:
            scope = scope or new_scope(program, egraph)
            if not all(satisfied(test, pattern, node, scope) for test in level.tests):
                continue
        orders = [given]
        if store.op[node] in step.swappable and len(operands) == 2:
            orders.append((operands[1], operands[0], *given[2:]))
        for order in orders:
            if all(order[index] == ABSENT for index in level.absent):
                yield node, order


def new_scope(program: MatchProgram, egraph: EGraph, slots: list[int] | None = None) -> Scope:
    """A scope over the e-nodes, where nobody can tell who uses them."""
    rule = program.rule
    return Scope(
        rule, egraph.store, slots or [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks],
        first_new=NO_GRAPH,
    )
