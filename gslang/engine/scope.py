"""Attribute expressions under a match: what they may look at, and their evaluation, which is one `match`
statement.

A scope is the graph, and the slots, captures and instances of a match (so far). What evaluation raises: see
`values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.arithmetic import BINARY, negative
from gslang.check.builtins import BUILTINS
from gslang.check.checked import OWN, At, CheckedRule, First, Own, Place, Prev, Value
from gslang.check.limits import bounded, collected, numbers, run_over, sliced
from gslang.dialect.onnx.versions import opset_for
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.externs import caller
from gslang.engine.rounds import work_of_round
from gslang.engine.uses import surroundings
from gslang.engine.values import COMPARE, FAILURES, plain, read_attribute, truth
from gslang.graph.graph import ABSENT, Graph

UNBOUND = -2  # a slot that nothing has matched (yet); `ABSENT` (-1) is an optional input that is not there


@dataclass(slots=True)
class Instance:
    """One match of a template: its nodes' slots, alternation choices and captures. `index` is negative until
    the run that it is part of is whole.
    """

    index: int
    slots: dict[int, int] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    captures: dict[int, object] = field(default_factory=dict)
    previous: Instance | None = None  # in a chain


@dataclass(slots=True)
class Scope:
    """The state of a match. `current` is the instance that is being matched or tested, if any.

    `memo`, when present, keeps the values of lets: the source is matched completely and nothing will change
    any more.
    """

    rule: CheckedRule
    graph: Graph
    slots: list[int]
    chosen: dict[int, int] = field(default_factory=dict)  # alternation → branch
    captures: dict[int, object] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)  # operator variable → operator
    instances: list[list[Instance]] = field(default_factory=list)  # block → instances
    current: Instance | None = None
    locals: dict[int, Any] = field(default_factory=dict)
    # nodes from here on are being built; `uses.NO_GRAPH`: nothing can be said of users
    first_new: int | None = None
    # what is known of the type of a target that is being built
    new_type: Callable[[int, str], Any] | None = None
    loops: int = 0  # comprehensions that are being evaluated, one inside the other
    memo: dict[tuple[int, int], Any] | None = None
    taken: set[int] = field(default_factory=set)  # graph nodes of interior and output vertices: all distinct
    # inputs with operands, while a variadic output grows
    inner_inputs: dict[int, None] = field(default_factory=dict)

    def slots_of(self, block: int | None) -> list[int] | dict[int, int]:
        """Where the slots of a node of this block (None: the rule's own level) are kept at the moment."""
        if block is None:
            return self.slots
        assert self.current is not None, "a template is matched outside an instance: this is a bug in gslang"
        return self.current.slots

    def instance(self, place: Place) -> Instance | None:
        """The instance that a place means; None is the rule's own level."""
        match place:
            case Own():
                return self.current
            case First(block):
                instances = self.instances[block]
                if instances:
                    return instances[0]
                if self.current is None:
                    raise UnknownValue("no first instance")
                return self.current
            case Prev():
                if self.current is None or self.current.previous is None:
                    raise UnknownValue("no previous instance")
                return self.current.previous
            case At(block, index):
                number = evaluate(index, self)
                instances = self.instances[block]
                if type(number) is not int or not -len(instances) <= number < len(instances):
                    raise UnknownValue(f"no instance {number}")
                return instances[number]

    def slot(self, place: Place, node: int) -> int:
        """The graph node that a pattern node matched, `ABSENT`, or `UNBOUND`."""
        if self.rule.nodes[node].block is None:
            return self.slots[node]
        instance = self.instance(place)
        return UNBOUND if instance is None else instance.slots.get(node, UNBOUND)

    def branch(self, place: Place, node: int) -> int:
        """The branch of an alternation that matched."""
        if self.rule.nodes[node].block is None:
            chosen = self.chosen
        else:
            instance = self.instance(place)
            chosen = {} if instance is None else instance.chosen
        if node not in chosen:
            raise UnknownValue("this alternative is not part of the match")
        return chosen[node]

    def arm(self, selection: ir.Selection) -> Any:
        """The arm of the branch that matched."""
        found = selection.arms[self.branch(selection.place, selection.node)]
        if found is None:
            raise UnknownValue("no arm for this alternative")
        return found

    def capture(self, place: Place, number: int) -> Any:
        instance = None if place is OWN and self.current is None else self.instance(place)
        for captures in (instance.captures if instance else {}, self.captures):
            if number in captures:
                return captures[number]
        raise UnknownValue(f"`{self.rule.captures[number]}` is not part of the match")

    def bind(self, number: int, value: object) -> None:
        """Capture a value, in the instance that is being matched."""
        (self.captures if self.current is None else self.current.captures)[number] = value

    def around(self, uses: ir.Uses) -> Any:
        """A fact about who uses a node."""
        wanted = None if uses.operators is None else operators_named(uses.operators, self)
        given = {name: evaluate(part, self) for name, part in uses.attributes}
        return surroundings(
            uses.what,
            self.graph,
            self.rule.dialect,
            self.slot(uses.place, uses.node),
            self.first_new,
            wanted,
            given,
            uses.body,
        )

    def list_of(self, loop: ir.Comprehension) -> Any:
        """The elements of a comprehension."""
        return collected(evaluate(loop.element, self) for _ in iterate(loop, self))

    def let(self, place: Place, number: int) -> Any:
        """The value of a let, in the instance that `place` means."""
        instance = self.current if isinstance(place, Own) else self.instance(place)
        value: Value = self.rule.lets[number]
        key = (number, -1 if instance is None else instance.index)
        if self.memo is not None and key in self.memo:
            return self.memo[key]
        before, memo = self.current, self.memo
        self.current = instance
        if memo is None:
            self.memo = {}  # for the lets that this one reads: nothing changes meanwhile
        try:
            result = self.memo[key] = evaluate(value, self)  # type: ignore[index]
        finally:
            self.current, self.memo = before, memo
        return result


# ── evaluation ──────────────────────────────────────────────────────────────────────────────────────────────


def holds(condition: ir.Value, scope: Scope) -> bool:
    """True only if the condition is known to be true."""
    try:
        return truth(evaluate(condition, scope))
    except FAILURES:
        return False


def operators_named(operators: ir.Value, scope: Scope) -> str | tuple[Any, ...]:
    """The operators of which users count. `none`, the operator of what is no call, is that of no user. Raises
    what fails.
    """
    return evaluate(operators, scope) or ()


def evaluate(value: ir.Value, scope: Scope) -> Any:
    """The value, in normal form (tuples, Python numbers, strings, None, arrays).

    Raises `UnknownValue` and what fails.
    """
    # Long on purpose: a flat `match`, a form of value after the other, the most frequent ones first.
    match value:
        case ir.Const(constant):
            return constant
        case ir.NodeAttr(place, node, name):
            slot = scope.slot(place, node)
            if slot < 0:
                raise UnknownValue("the node is not part of the match")
            return read_attribute(scope.graph, scope.rule.dialect, slot, name)
        case ir.CompareValue(operator, left, right):
            return COMPARE[operator](evaluate(left, scope), evaluate(right, scope))
        case ir.Local(number):
            return scope.locals[number]
        case ir.Builtin(name, arguments):
            return BUILTINS[name](*(evaluate(a, scope) for a in arguments))
        case ir.Let(place, number):
            return scope.let(place, number)
        case ir.ItemValue(base, index):
            return plain(evaluate(base, scope)[evaluate(index, scope)])
        case ir.IfValue(condition, then, otherwise):
            return evaluate(then if truth(evaluate(condition, scope)) else otherwise, scope)
        case ir.AllOf(items):
            return (
                _all(evaluate(item, scope) for item in items) if len(items) < 2
                else _conjunction(items, scope)
            )
        case ir.Comprehension():
            return scope.list_of(value)
        case ir.BinaryValue(operator, left, right):
            first = evaluate(left, scope)
            return BINARY[operator](first, first if right is left else evaluate(right, scope))
        case ir.AnyOf(items):
            return not _conjunction(items, scope, negate=True)
        case ir.SliceValue(base, lower, upper, step):
            low, high, stride = (None if v is None else evaluate(v, scope) for v in (lower, upper, step))
            return sliced(evaluate(base, scope), low, high, stride)
        case ir.Captured(place, number):
            return scope.capture(place, number)
        case ir.TupleValue(items):
            result: list[Any] = []
            for item in items:
                if isinstance(item, ir.SpreadValue):
                    result.extend(evaluate(item.value, scope))
                else:
                    result.append(evaluate(item, scope))
            return bounded(tuple(result))
        case ir.Uses():
            return scope.around(value)
        case ir.TypeOf(target, name):
            if scope.new_type is None:
                raise UnknownValue("the target is not built")
            return scope.new_type(target, name)
        case ir.IsAbsent(place, node):
            slot = scope.slot(place, node)
            if slot == UNBOUND:
                raise UnknownValue("the input is not part of the match")
            return slot == ABSENT
        case ir.SameNode((place1, node1), (place2, node2)):
            slot, other = scope.slot(place1, node1), scope.slot(place2, node2)
            if slot == UNBOUND or other == UNBOUND:
                raise UnknownValue("the node is not part of the match")
            return slot == other
        case ir.InstanceIndex():
            if scope.current is None:
                raise UnknownValue("no instance")
            return scope.current.index
        case ir.Opset():
            return opset_for(scope.graph.meta, scope.rule.opset)
        case ir.Length(block):
            return len(scope.instances[block])
        case ir.Instances(block):
            return tuple(range(len(scope.instances[block])))
        case ir.UnaryValue("-", operand):
            return negative(evaluate(operand, scope))
        case ir.UnaryValue(_, operand):
            return not truth(evaluate(operand, scope))
        case ir.SelectValue():
            return evaluate(scope.arm(value), scope)
        case ir.RangeValue(lower, upper):
            return numbers(evaluate(lower, scope), evaluate(upper, scope) + 1)
        case ir.Extern(arguments=arguments):
            return caller(value)(*(evaluate(a, scope) for a in arguments))
    raise AssertionError(f"unknown value {value!r}: this is a bug in gslang")


def iterate(loop: ir.Loop, scope: Scope) -> Iterator[None]:
    """Run through the rounds of a loop in which its condition holds."""
    rounds, condition = all_rounds(loop, scope), loop.condition
    return rounds if condition is None else (None for _ in rounds if truth(evaluate(condition, scope)))


def all_rounds(loop: ir.Loop, scope: Scope) -> Iterator[None]:
    """Run through all rounds of a loop, its variables bound in `scope.locals`."""
    names = loop.locals
    items = run_over(evaluate(loop.source, scope), not scope.loops, work_of_round(loop))
    scope.loops += 1
    try:
        for item in items:
            if len(names) == 1:
                scope.locals[names[0]] = plain(item)
            else:
                parts = tuple(item)
                if len(parts) != len(names):
                    raise UnknownValue("the items have another number of parts")
                scope.locals.update(zip(names, parts))
            yield
    finally:
        scope.loops -= 1


def _all(items: Iterator[object]) -> bool:
    return all(truth(item) for item in items)


def _conjunction(items: tuple[ir.Value, ...], scope: Scope, negate: bool = False) -> bool:
    """Kleene's `and` (with `negate`: of the negated items): false beats unknown, unknown beats true."""
    unknown: str | None = None  # and no exception, which would hold this frame
    for item in items:
        try:
            if truth(evaluate(item, scope)) == negate:
                return False
        except FAILURES as failure:
            unknown = str(failure)
    if unknown is not None:
        raise UnknownValue(unknown)
    return True
