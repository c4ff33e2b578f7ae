"""Definitely matched pattern nodes at each step, and the nodes that a value reads that are not among them.

Of alternatives only one is matched, so a node that one branch has is found for sure only within that branch,
in the arm of a `match` that stands for it, or if every branch has it. This is definite assignment, as
compilers check it of variables. A set of nodes is a number whose bits are the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.walks import walk


def found_with(patterns: Sequence[ir.Pattern], order: Sequence[int]) -> dict[int, int]:
    """Node → what every match of it has found, itself included. `order`: operands before users."""
    found: dict[int, int] = {}
    for node in order:
        below = [found[child] for child in patterns[node].below]
        together = reduce(and_ if isinstance(patterns[node], ir.AltNode) else or_, below) if below else 0
        found[node] = together | 1 << node
    return found


def found_before(
    patterns: Sequence[ir.Pattern], outputs: Sequence[int], order: Sequence[int], found: dict[int, int]
) -> dict[int, int]:
    """Node → what is found whenever matching comes to it and it is not matched yet, whatever was chosen on
    the way.
    """
    before = dict.fromkeys(order, -1)
    known = 0
    for output in outputs:
        if not known >> output & 1:
            before[output] &= known
        known |= found[output]
    for node in reversed(order):
        known = before[node]
        for child in patterns[node].below:
            if not known >> child & 1:
                before[child] &= known
            if not isinstance(patterns[node], ir.AltNode):
                known |= found[child]
    return before


def captures_of(patterns: Sequence[ir.Pattern]) -> dict[int, int]:
    """Capture → the pattern node whose constraint makes it; where all branches of an alternation do, that."""
    made: dict[int, set[int]] = {}
    for k, node in enumerate(patterns):
        for part in walk(node.constraints):
            if isinstance(part, ir.Capture):
                made.setdefault(part.capture, set()).add(k)
    choices = {frozenset(node.below): k for k, node in enumerate(patterns) if isinstance(node, ir.AltNode)}
    return {capture: choices.get(frozenset(nodes), max(nodes)) for capture, nodes in made.items()}


def new_nodes_read(item: object, lets: Sequence[ir.Value], sure: bool = False) -> list[int]:
    """The targets whose types a value or target reads itself, directly or by a let, each once; `sure`: under
    no condition.
    """
    return list(dict.fromkeys(
        part.target for part in walk(item, lets, sure) if isinstance(part, ir.TypeOf)
    ))


@dataclass(frozen=True, slots=True)
class Read:
    """A node that is read, where, and by which capture if not by itself."""

    node: int
    span: Span
    capture: int | None = None


@dataclass(frozen=True, slots=True)
class _Target:
    number: int


class Reads:
    """The nodes that values, tests and targets of one rule read. `found`: as in `found_with`."""

    def __init__(
        self,
        patterns: Sequence[ir.Pattern],
        lets: Sequence[ir.Value],
        targets: Sequence[ir.Target],
        spans: Sequence[Span],
        found: dict[int, int],
    ) -> None:
        self._patterns, self._lets, self._targets, self._spans, self._found = (
            patterns, lets, targets, spans, found,
        )
        self._captures = captures_of(patterns)

    def by(self, item: object, known: int, span: Span) -> Iterator[Read]:
        """Nodes that a value, test or constraint reads and that are not `known`, with the place: `span`."""
        return self._walk(item, known, span)

    def by_target(self, number: int, known: int) -> Iterator[Read]:
        """Nodes that target `number` reads, with the places of the parts that read."""
        return self._walk(_Target(number), known, self._spans[number])

    def _walk(self, item: object, known: int, span: Span) -> Iterator[Read]:
        own = {part.capture for part in walk(item) if isinstance(part, ir.Capture)}
        seen: set[tuple[str, int, int]] = set()  # targets and lets may be shared
        stack = [(item, known, span)]
        while stack:
            item, known, span = stack.pop()
            read: tuple[int, ...] = ()
            by: int | None = None
            below: list[tuple[Any, int, Span]] = []
            match item:
                case _Target(number):
                    if ("target", number, known) not in seen:
                        seen.add(("target", number, known))
                        span = self._spans[number]
                        target = self._targets[number]
                        made_of = () if isinstance(target, ir.SelectTarget) else target.parts
                        below = [*((_Target(k), known, span) for k in made_of), (target.reads, known, span)]
                case ir.Let(_, number):
                    if ("let", number, known) not in seen:
                        seen.add(("let", number, known))
                        below = [(self._lets[number], known, span)]
                case ir.Selection():
                    read = (item.node,)
                    if known >> item.node & 1:  # else that is said, and no more
                        within = [known | self._found[branch] for branch in self._patterns[item.node].below]
                        below = [
                            (_Target(arm) if isinstance(arm, int) else arm, k, span)
                            for arm, k in zip(item.arms, within)
                        ]
                case ir.TypeOf(number, _):
                    below = [(_Target(number), known, span)]
                case ir.NodeReference() | ir.MatchedNodes():
                    read = (item.node,)
                    if isinstance(item, ir.Uses):
                        below = [((item.operators, item.attributes), known, span)]
                case ir.SameNode((_, left), (_, right)):
                    read = (left, right)
                case ir.Captured(_, by):
                    read = (self._captures[by],) if by in self._captures and by not in own else ()
                case tuple():
                    below = [(part, known, span) for part in item]
                case _ if is_dataclass(item) and not isinstance(item, type):
                    below = [(getattr(item, f.name), known, span) for f in fields(item) if f.name != "span"]
            yield from (Read(node, span, by) for node in read if not known >> node & 1)
            stack.extend(reversed(below))
