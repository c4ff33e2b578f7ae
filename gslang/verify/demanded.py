"""Decisions that operators leave no choice in: an operand that must be a scalar has no axes, whatever a rule
does for constants of other ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from random import Random

from gslang.check import checked as ir
from gslang.check.walks import against_constant
from gslang.verify.decisions import Seen, goals
from gslang.verify.prove.operators.operators import RANKS_BETWEEN, RANKS_OF_OPERANDS
from gslang.verify.prove.ranks.same_rank import keeps_rank


def never_so(rule: ir.CheckedRule) -> Seen:
    """The outcomes of comparisons of an operand's rank with a number that no graph shows, since each call
    that takes the operand demands one rank of it.
    """
    ranks = _demanded(rule)
    found: Seen = set()
    for goal in goals(rule):
        match against_constant(goal.condition):
            case ir.NodeAttr(ir.OWN, node, "ndim"), "==", int(rank) if node in ranks:
                if goal.wanted is not (rank == ranks[node]):
                    found.add(goal.key)
    return found


def _demanded(rule: ir.CheckedRule) -> dict[int, int]:
    """The rank of each node that has it by every call that it is an operand of."""
    ranks: dict[int, set[int | None]] = {}
    for node in rule.nodes:
        if isinstance(node, ir.CallNode):
            for k, operand in enumerate(node.operands):
                if isinstance(operand, int):
                    for operator in node.operators:
                        known = RANKS_OF_OPERANDS.get(operator, ())
                        ranks.setdefault(operand, set()).add(known[k] if k < len(known) else None)
        else:
            for below in node.below:
                ranks.setdefault(below, set()).add(None)
    return {
        node: rank for node, (rank, *others) in ((n, tuple(r)) for n, r in ranks.items())
        if rank is not None and not others
    }


def ranks_below(
    rule: ir.CheckedRule, operators: Mapping[int, str], dice: Callable[[int], Random]
) -> dict[int, int]:
    """Nodes and the ranks that calls above them demand of them, also through what keeps the rank.

    `operators`: the one of each call, as far as it is known. `dice`: of a call, for one of several ranks.
    """
    found: dict[int, int] = {}
    calls = rule.calls
    for number, operator in operators.items():
        between = [pair and dice(number).randint(*pair) for pair in RANKS_BETWEEN.get(operator, ())]
        demanded = zip_longest(RANKS_OF_OPERANDS.get(operator, ()), between)
        for operand, (one, other) in zip(calls[number].operands, demanded):
            below, rank = operand, other if one is None else one
            while rank is not None and isinstance(below, int) and found.setdefault(below, rank) == rank:
                own = operators.get(below)
                if own is None or not keeps_rank(rule.dialect, own):
                    break
                below = next(iter(calls[below].operands), None)
    return found
