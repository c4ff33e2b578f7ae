"""What attribute expressions may look at: the graph, and the slots, captures and instances of a match (so far)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gslang.check.checked import OWN, At, CheckedRule, First, Own, Place, Value
from gslang.dialect.tensor_type import UnknownValue
from gslang.graph.graph import Graph

UNBOUND = -2  # a slot that nothing has matched (yet); `ABSENT` (-1) is an optional input that is not there


@dataclass(slots=True)
class Instance:
    """One match of a template: its nodes' slots, alternation choices and captures."""

    index: int
    slots: dict[int, int] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    captures: dict[int, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Scope:
    """The state of a match. `current` is the instance that is being matched or tested, if any.

    `memo`, when present, keeps the values of lets: the source is matched completely and nothing will change any more.
    """

    rule: CheckedRule
    graph: Graph
    slots: list[int]
    chosen: dict[int, int] = field(default_factory=dict)  # alternation → branch
    captures: dict[int, Any] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)  # operator variable → operator
    instances: list[list[Instance]] = field(default_factory=list)  # block → instances
    current: Instance | None = None
    locals: dict[int, Any] = field(default_factory=dict)
    loops: int = 0  # comprehensions that are being evaluated, one inside the other
    memo: dict[tuple[int, int], Any] | None = None
    taken: set[int] = field(default_factory=set)  # graph nodes of interior and output vertices: all distinct
    inner_inputs: dict[int, None] = field(default_factory=dict)  # inputs with operands, while a variadic output grows

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
                    raise UnknownValue("there is no first instance")
                return self.current
            case At(block, index):
                from gslang.engine.values import evaluate

                number = evaluate(index, self)
                instances = self.instances[block]
                if type(number) is not int or not -len(instances) <= number < len(instances):
                    raise UnknownValue(f"there is no instance {number}")
                return instances[number]

    def slot(self, place: Place, node: int) -> int:
        """The graph node that a pattern node matched, `ABSENT`, or `UNBOUND`."""
        if self.rule.nodes[node].block is None:
            return self.slots[node]
        instance = self.instance(place)
        return UNBOUND if instance is None else instance.slots.get(node, UNBOUND)

    def branch(self, place: Place, node: int) -> int:
        """Which branch of an alternation matched."""
        if self.rule.nodes[node].block is None:
            chosen = self.chosen
        else:
            instance = self.instance(place)
            chosen = {} if instance is None else instance.chosen
        if node not in chosen:
            raise UnknownValue("this alternative is not part of the match")
        return chosen[node]

    def capture(self, place: Place, number: int) -> Any:
        instance = None if place is OWN and self.current is None else self.instance(place)
        for captures in (instance.captures if instance else {}, self.captures):
            if number in captures:
                return captures[number]
        raise UnknownValue(f"`{self.rule.captures[number]}` is not part of the match")

    def let(self, place: Place, number: int) -> Any:
        """The value of a let, in the instance that `place` means."""
        from gslang.engine.values import evaluate

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
