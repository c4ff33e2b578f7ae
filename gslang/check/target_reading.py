"""One question about targets, answered for each kind of target from the answers for its parts.

The kinds are told apart here. A class that asks something of targets has a method for each kind that it
knows; `of_other` answers for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from gslang.check import checked as ir

Found = TypeVar("Found")


class TargetReading(Generic[Found]):
    """The answers about the targets of one graph. Each method gets a target's number and the target."""

    __slots__ = ()

    @property
    def targets(self) -> Sequence[ir.Target]:
        """All targets, by number."""
        raise NotImplementedError

    def of_target(self, number: int) -> Found:
        """The answer for a target."""
        match target := self.targets[number]:
            case ir.SourceNode():
                return self.of_matched(number, target)
            case ir.MakeCall():
                return self.of_call(number, target)
            case ir.MakeConst():
                return self.of_constant(number, target)
            case ir.Absent():
                return self.of_absent(number, target)
            case ir.MakeTuple():
                return self.of_tuple(number, target)
            case ir.MakeProj():
                return self.of_projection(number, target)
            case ir.ChooseTarget():
                return self.of_either(number, target)
            case ir.SelectTarget():
                return self.of_selected(number, target)
            case ir.Repeat():
                return self.of_repeat(number, target)
            case ir.SpliceInstances():
                return self.of_instances(number, target)
            case ir.Projections():
                return self.of_projections(number, target)

    def of_matched(self, number: int, target: ir.SourceNode) -> Found:
        """Of a node of the source that stays."""
        return self.of_other(number, target)

    def of_call(self, number: int, target: ir.MakeCall) -> Found:
        """Of a new call."""
        return self.of_other(number, target)

    def of_constant(self, number: int, target: ir.MakeConst) -> Found:
        """Of a new constant."""
        return self.of_other(number, target)

    def of_absent(self, number: int, target: ir.Absent) -> Found:
        """Of an omitted operand."""
        return self.of_other(number, target)

    def of_tuple(self, number: int, target: ir.MakeTuple) -> Found:
        """Of a new tuple."""
        return self.of_other(number, target)

    def of_projection(self, number: int, target: ir.MakeProj) -> Found:
        """Of one field of a tuple."""
        return self.of_other(number, target)

    def of_choice(self, number: int, target: ir.ChosenTarget) -> Found:
        """Of one of several targets."""
        return self.of_other(number, target)  # type: ignore[arg-type]

    def of_either(self, number: int, target: ir.ChooseTarget) -> Found:
        """Of one of two, by a condition."""
        return self.of_choice(number, target)

    def of_selected(self, number: int, target: ir.SelectTarget) -> Found:
        """Of one of several, by the alternative that matched."""
        return self.of_choice(number, target)

    def of_repeat(self, number: int, target: ir.Repeat) -> Found:
        """Of a target for each item of a sequence."""
        return self.of_other(number, target)

    def of_instances(self, number: int, target: ir.SpliceInstances) -> Found:
        """Of what the instances of a template matched."""
        return self.of_other(number, target)

    def of_projections(self, number: int, target: ir.Projections) -> Found:
        """Of all fields of a tuple."""
        return self.of_other(number, target)

    def of_other(self, number: int, target: ir.Target) -> Found:
        """Of the kinds that have no answer of their own."""
        raise NotImplementedError
