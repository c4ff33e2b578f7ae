"""Ranks that a call demands of the inputs below it, before these are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

from gslang.check import checked as ir
from gslang.engine.scope import UNBOUND
from gslang.graph.graph import ABSENT
from gslang.verify.prove.case import Case
from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.ranks.same_rank import keeps_rank

# Places of operands that have one rank.
_ALIKE: dict[str, tuple[int, int]] = {
    "Conv": (0, 1), "QuantizeLinear": (1, 2), "DequantizeLinear": (1, 2), "GatherElements": (0, 1),
}  # fmt: skip


Place = tuple[int, Union[int, None]]
"""A pattern node, and the number of the instance that it stands in; None for each, or none."""


def demand(case: Case, demanded: dict[Place, int], number: int, rank: int) -> None:
    """A node has this rank, and so has the input that it is computed from by what keeps the rank: known
    before these are made, since a condition may ask for the type of an input, which would make cases of
    its ranks. `demanded`: takes the ranks of those that are not made. Raises `Impossible` where an input has
    another rank.
    """
    match case.rule.nodes[number]:
        case ir.LeafNode(block=block):
            slot = bound(case.scope.slots_of(block), number)
            if slot == UNBOUND:
                demanded[here(case, number)] = rank
            elif slot != ABSENT:
                hold_to_rank(case.graph.values[slot], rank)
        case ir.CallNode(operators=operators, operands=(int(first), *_)) if all(
            keeps_rank(case.rule.dialect, operator) for operator in operators
        ):
            demand(case, demanded, first, rank)
        case ir.CallNode(operators=("Concat",), operands=parts):
            _demand_of_all(case, demanded, parts, rank)


def _demand_of_all(
    case: Case, demanded: dict[Place, int], parts: Iterable[int | None | ir.Splice], rank: int
) -> None:
    for part in parts:
        if isinstance(part, int):
            demand(case, demanded, part, rank)
        elif isinstance(part, ir.Splice):
            demanded[part.node, None] = rank


def here(case: Case, number: int) -> Place:
    """A pattern node, and the instance that it stands in at the moment."""
    current = None if case.rule.nodes[number].block is None else case.scope.current
    return number, None if current is None else current.index


def bound(slots: Any, number: int) -> int:
    """The binding of a pattern node, `UNBOUND` if there is none."""
    return int(slots[number] if isinstance(slots, list) else slots.get(number, UNBOUND))


def alike(case: Case, operator: str, call: ir.CallNode) -> tuple[int, int] | None:
    """The inputs that two operands of a call are computed from by what keeps the rank, where the operator
    demands one rank of both.
    """
    places = _ALIKE.get(operator)
    if places is None or max(places) >= len(call.operands):
        return None
    first, second = (_input_of(case.rule, call.operands[place]) for place in places)
    return None if first is None or second is None or first == second else (first, second)


def link_ranks(case: Case, first: int, second: int) -> None:
    """Two inputs have one rank: a case that settles it for one of them settles it for both. Nothing where one
    of them is not made yet.
    """
    slots = [case.scope.slots[number] for number in (first, second)]
    leaves = [case.graph.values[slot] if slot >= 0 else None for slot in slots]
    one, other = leaves
    if not isinstance(one, Leaf) or not isinstance(other, Leaf):
        return
    for known, open_ in ((one, other), (other, one)):
        rank = known.rank if known.tensor is None else len(known.tensor.shape)
        if rank is not None:
            hold_to_rank(open_, rank)
            return
    if one.given is None and other.given is None and one.ranked is None and other.ranked is None:
        other.ranked = one


def _input_of(rule: ir.CheckedRule, number: Any) -> int | None:
    if not isinstance(number, int):
        return None
    match rule.nodes[number]:
        case ir.LeafNode(block=None):
            return number
        case ir.CallNode(operators=operators, operands=(int(first), *_)) if all(
            keeps_rank(rule.dialect, operator) for operator in operators
        ):
            return _input_of(rule, first)
    return None


def hold_to_rank(value: object, rank: int) -> None:
    """An input whose shape is open has this rank."""
    if isinstance(value, Leaf) and value.tensor is None and value.given is None:
        value.demand(rank)
