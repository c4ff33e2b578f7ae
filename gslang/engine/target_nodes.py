"""The nodes that the targets of a rule stand for in one match: choices are made and loops are run, and each
node is made when it is first asked for.

What a node is, and how a new one is made, is said by `build` (nodes of a graph) and by proofs (symbolic
values).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from gslang.check import checked as ir
from gslang.check.target_reading import TargetReading
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.scope import Scope, evaluate, iterate
from gslang.engine.values import truth

Node = TypeVar("Node")


class TargetNodes(TargetReading[list[Node]]):
    """`made`: target → the node(s) that it stands for. Raises what evaluations fail with."""

    def __init__(self, target: ir.TargetGraph, scope: Scope) -> None:
        self.target, self.scope = target, scope
        self.made: dict[int, list[Node]] = {}

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.target.targets

    def whole(self, number: int) -> list[Node]:
        """The node(s) that a target stands for, with all that it is made of."""
        return self.several(number)

    def several(self, number: int) -> list[Node]:
        """The node(s) that a target stands for, made when first asked for."""
        found = self.made.get(number)
        if found is None:
            found = self.made[number] = self.of_target(number)
        return found

    def one(self, number: int) -> Node:
        """The node of a target that stands for one."""
        nodes = self.several(number)
        if len(nodes) != 1:
            raise UnknownValue("found a sequence, expected one value")
        return nodes[0]

    def value(self, value: ir.Value) -> Any:
        """The value of an expression in this match."""
        return evaluate(value, self.scope)

    def of_slot(self, slot: int) -> Node:
        """The node for a graph node that the source matched."""
        raise NotImplementedError

    def of_matched(self, number: int, target: ir.SourceNode) -> list[Node]:
        return [self.of_slot(self.scope.slot(target.place, target.node))]

    def of_instances(self, number: int, target: ir.SpliceInstances) -> list[Node]:
        return [
            self.of_slot(instance.slots[target.node]) for instance in self.scope.instances[target.block]
        ]

    def of_repeat(self, number: int, target: ir.Repeat) -> list[Node]:
        found: list[Node] = []
        for _ in iterate(target, self.scope):
            for inner in target.inner:
                self.made.pop(inner, None)
            found += self.whole(target.element)
        return found

    def of_choice(self, number: int, target: ir.ChosenTarget) -> list[Node]:
        return self.whole(self.taken(target))

    def taken(self, target: ir.ChosenTarget) -> int:
        """The target that is chosen, by a condition or by the alternative that matched."""
        match target:
            case ir.ChooseTarget(condition, then, otherwise):
                return then if truth(self.value(condition)) else otherwise
            case ir.SelectTarget():
                return self.arm(target)
        raise AssertionError(f"unknown choice {target!r}: this is a bug in gslang")

    def arm(self, target: ir.SelectTarget) -> int:
        """The target for the alternative that matched."""
        found: int = self.scope.arm(target)
        return found

    def operands(self, call: ir.MakeCall, nothing: Node) -> tuple[list[Node], list[tuple[int, ir.MakeConst]]]:
        """The operands of a call, `nothing` in the places of the constants whose element type follows from
        the others; and these constants with their places.
        """
        found: list[Node] = []
        waiting: list[tuple[int, ir.MakeConst]] = []
        for part in call.operands:
            constant = self._waiting(part)
            if constant is None:
                found += self.several(part)
            else:
                waiting.append((len(found), constant))
                found.append(nothing)
        return found, waiting

    def _waiting(self, number: int) -> ir.MakeConst | None:
        """The constant without an element type that a target stands for, directly or by choices."""
        if not self.target.may_wait(number):
            return None
        while number not in self.made:
            target = self.targets[number]
            if not isinstance(target, ir.ChosenTarget):
                return target if isinstance(target, ir.MakeConst) and target.dtype is None else None
            number = self.taken(target)
        return None
