"""The rules that can start at a node: by its operator and, if many share one, by the operators below it.

Rules that need an operator which neither the graph has nor any target makes are left out from the start. The
others stand under the operators of their first output. Where several do, what a node's operands are decides:
the operators one and two levels down are looked up in a table that is filled as such nodes are met, so a rule
that cannot match costs nothing per node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Generic, TypeVar

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.footprint import footprint
from gslang.engine.program import MatchProgram
from gslang.graph.graph import Graph

_FEW = 2  # so many rules are tried without asking further

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """The operators that a pattern node admits: its own (None: any) and its operands' (None: any number of
    any)."""

    operators: frozenset[str] | None
    operands: tuple[tuple[Shape, ...], ...] | None = None
    swaps: bool = False


ANYTHING = Shape(None)
Entry = TypeVar("Entry")


class Dispatch(Generic[Entry]):
    """The rules under one operator. `at(node)` are those that can start at a node, earlier ones first."""

    __slots__ = ("_chains", "_deep", "_entries", "_flat", "_graph")

    def __init__(self, graph: Graph, entries: Sequence[tuple[tuple[Shape, ...], Entry]]) -> None:
        self._graph = graph
        self._entries = tuple(entries)
        self._flat: dict[Key, tuple[Entry, ...] | None] = {}
        self._deep: dict[tuple[Key, tuple[Key, ...]], tuple[Entry, ...]] = {}
        self._chains: dict[str, dict[str, tuple[Entry, ...]]] = {}

    def at(self, node: int) -> tuple[Entry, ...]:
        op, operands = self._graph.op, self._graph.operands
        below = operands[node]
        if (
            len(below) == 1 and (middle := below[0]) >= 0 and len(lower := operands[middle]) == 1
            and lower[0] >= 0
        ):
            try:  # a chain of three, which is the most frequent case
                return self._chains[op[middle]][op[lower[0]]]
            except KeyError:
                chain = self._chains.setdefault(op[middle], {})
                found = chain[op[lower[0]]] = self._look_up(node, below)
                return found
        return self._look_up(node, below)

    def _look_up(self, node: int, below: tuple[int, ...]) -> tuple[Entry, ...]:
        op, operands = self._graph.op, self._graph.operands
        key = tuple([op[o] if o >= 0 else "" for o in below])
        try:
            found = self._flat[key]
        except KeyError:
            fitting = self._fitting(op[node], key, None)
            found = self._flat[key] = fitting if len(fitting) <= _FEW else None
        if found is not None:
            return found
        deep = (
            key,
            tuple([tuple([op[p] if p >= 0 else "" for p in operands[o]]) if o >= 0 else () for o in below]),
        )
        known = self._deep.get(deep)
        if known is None:
            known = self._deep[deep] = self._fitting(op[node], *deep)
        return known

    def _fitting(self, operator: str, key: Key, below: tuple[Key, ...] | None) -> tuple[Entry, ...]:
        return tuple(
            entry
            for shapes, entry in self._entries if any(_fits(shape, operator, key, below) for shape in shapes)
        )


def _fits(shape: Shape, operator: str, key: Key, below: tuple[Key, ...] | None) -> bool:
    """True if a node with this operator, over operands with operators `key`, over operands with `below`, can
    be of this shape."""
    if shape.operators is not None and operator not in shape.operators:
        return False
    if shape.operands is None:
        return True
    orders = [range(len(key))]
    if shape.swaps and len(key) == 2:
        orders.append(range(1, -1, -1))
    return any(
        all(
            any(
                _fits(s, key[place], () if below is None else below[place], None) if below is not None
                else _is(s, key[place])
                for s in wanted
            )
            for wanted, place in zip(shape.operands, order)
        )
        for order in orders
    )


def _is(shape: Shape, operator: str) -> bool:
    return shape.operators is None or operator in shape.operators


@cache
def shapes_of(plan: MatchProgram) -> tuple[Shape, ...]:
    """The shapes of the first output, two levels down: one for each alternative."""
    rule = plan.rule
    root = rule.outputs[0] if rule.output_block is None else rule.blocks[rule.output_block].root
    return _shapes(rule, root, 2)


def _shapes(rule: ir.CheckedRule, number: int, depth: int) -> tuple[Shape, ...]:
    node = rule.nodes[number]
    if node.stands_for:
        return tuple(shape for part in node.stands_for for shape in _shapes(rule, part, depth))
    if depth == 0 or not isinstance(node, ir.OpNode) or node.count is None:
        return (Shape(node.admits, None, bool(node.swappable)),)
    parts = [_shapes(rule, part, depth - 1) if isinstance(part, int) else (ANYTHING,) for part in node.parts]
    return (Shape(node.admits, tuple(parts), bool(node.swappable)),)


def can_ever_match(rules: Iterable[ir.CheckedRule], present: Iterable[str]) -> list[ir.CheckedRule]:
    """The rules whose operators are all in the graph, or may come into it by the target of such a rule."""
    there = set(present)
    every = list(enumerate(rules))
    able: dict[int, ir.CheckedRule] = {}
    waiting = every
    while waiting:
        still = []
        for k, rule in waiting:
            found = footprint(rule)
            if any(map(there.isdisjoint, found.needs)):
                still.append((k, rule))
            else:
                able[k] = rule
                there |= found.makes
        if len(still) == len(waiting):
            break
        waiting = still
    return [rule for k, rule in every if k in able]
