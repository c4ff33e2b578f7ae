"""The largest rank that a node of a source has in any match, by what conditions, patterns and operators say.

An input whose rank has a limit is looked at with every rank that it may have, so that a proof holds for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.walks import against_constant, conjuncts, equations, is_field, within_captures
from gslang.verify.prove.operators.operators import RANKS_BETWEEN, RANKS_OF_OPERANDS
from gslang.verify.prove.ranks.axis_history import is_elementwise
from gslang.verify.prove.ranks.same_rank import keeps_rank, users_in

_OPEN = 1 << 20  # no limit
_ABSENT = -1  # the limit of an input that is not there
_TO_FIRST = frozenset({
    "LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization", "PRelu", "nn.prelu",
})
"""Of these the other operands are broadcast to the first one, which does not grow."""

Limits = dict[int, int]
"""Node → the largest rank that it has; others have no limit."""


def rank_limits(rule: ir.CheckedRule) -> Limits:
    """The largest rank of each node that has a limit in every match that it is part of."""
    limits = _by_conditions(rule, rule.where)
    for number, node in enumerate(rule.nodes):
        for constraint in node.tests:
            _narrow(limits, _by_constraint(number, constraint))
    relations = list(_relations(rule))
    while any([_narrow(limits, {r.node: _limit(r, limits)}) for r in relations]):
        pass  # each round lowers a limit
    return limits


@dataclass(frozen=True, slots=True)
class _Relation:
    """The rank of `node` is at most the largest of these: the ranks of other nodes, each with how much is
    added, and `rank`.
    """

    node: int
    others: tuple[tuple[int, int], ...]
    rank: int = _ABSENT


def _limit(relation: _Relation, limits: Limits) -> int:
    return max([relation.rank, *(limits.get(node, _OPEN) + more for node, more in relation.others)])


def _narrow(limits: Limits, found: Mapping[int, int]) -> bool:
    """Take lower limits over; true if there were any."""
    lower = {node: rank for node, rank in found.items() if rank < limits.get(node, _OPEN)}
    limits.update(lower)
    return bool(lower)


# ── conditions ──


def _by_conditions(rule: ir.CheckedRule, conditions: Iterable[ir.Value]) -> Limits:
    """The limits that follow from conditions that are all true."""
    limits: Limits = {}
    for condition in conjuncts(conditions, rule.lets):
        _narrow(limits, _by_condition(rule, condition.meant(rule.lets)))
    return limits


def _by_condition(rule: ir.CheckedRule, condition: ir.Value) -> Limits:
    """The limits that follow from a condition that is true."""
    by = condition.decided_by(True, rule.lets)
    if by is not None and by.wanted:
        return _by_conditions(rule, by.items) if by.every else _shared(rule, by.items)
    if isinstance(condition, ir.SelectValue):
        return _shared(rule, [arm for arm in condition.arms if arm is not None])
    if isinstance(condition, ir.IsAbsent) and condition.place == ir.OWN:
        return {condition.node: _ABSENT}
    match against_constant(condition):
        case ir.NodeAttr(ir.OWN, node, "ndim"), sign, limit:
            return {node: _largest_that(sign, limit)}
        case ir.NodeAttr(ir.OWN, node, "shape"), "==", tuple(shape):
            return {node: len(shape)}
    return {
        side.node: len(other.items)
        for side, other in equations([condition])
        if side.place == ir.OWN and side.name == "shape" and isinstance(other, ir.TupleValue)
        and not any(isinstance(item, ir.SpreadValue) for item in other.items)
    }


def _largest_that(sign: str, limit: object) -> int:
    """The largest rank that compares so with a constant."""
    if sign == "in" and isinstance(limit, tuple):
        return max((n for n in limit if type(n) is int), default=_ABSENT)
    if type(limit) is not int:
        return _OPEN
    return {"==": limit, "<=": limit, "<": limit - 1}.get(sign, _OPEN)


def _shared(rule: ir.CheckedRule, conditions: Iterable[ir.Value]) -> Limits:
    """The limits that follow whichever of some conditions is true."""
    ways = [_by_conditions(rule, [condition]) for condition in conditions]
    nodes = set.intersection(*map(set, ways)) if ways else set()
    return {node: max(way[node] for way in ways) for node in nodes}


# ── patterns and operators ──


def _by_constraint(number: int, constraint: ir.Constraint) -> Limits:
    test = within_captures(constraint.test)
    literal = ir.literal_of(test)
    value = None if literal is None else literal.value
    if constraint.field == "shape" and isinstance(test, ir.TupleTest) and test.back is None:
        return {number: len(test.items)}
    if constraint.field == "shape" and isinstance(value, tuple):
        return {number: len(value)}
    if constraint.field == "ndim" and type(value) is int:
        return {number: value}
    return {}


def _relations(rule: ir.CheckedRule) -> Iterator[_Relation]:
    """The relations of ranks that hold where their node is part of a match.

    A node is there for one of its users, so its rank is at most what the most generous one allows; a user
    that is part of every match allows what it does in any case.
    """
    surely = _surely(rule)
    for number, users in users_in(rule).items():
        ways = [_allowed(rule, user, number) for user in sorted(users)]
        yield from (way for user, way in zip(sorted(users), ways) if user in surely)
        if ways and number not in rule.outputs:
            yield _Relation(
                number, tuple(pair for way in ways for pair in way.others), max(way.rank for way in ways)
            )
    for number, node in enumerate(rule.nodes):
        if (parts := _rank_comes_from(rule, node)) is not None:
            yield _Relation(number, tuple((part, 0) for part in parts))
        for constraint in node.tests:
            if (copied := constraint.copied) is not None and copied.place == ir.OWN:
                yield from _equal(number, constraint.field, copied)
    for side, other in equations(conjuncts(rule.where, rule.lets)):
        if isinstance(other, ir.NodeAttr) and side.place == other.place == ir.OWN:
            yield from _equal(side.node, side.name, other)


def _equal(node: int, field: str, other: ir.NodeAttr) -> Iterator[_Relation]:
    if field in ("shape", "ndim") and is_field(other, field):
        yield _Relation(node, ((other.node, 0),))
        yield _Relation(other.node, ((node, 0),))


def _surely(rule: ir.CheckedRule) -> frozenset[int]:
    """The calls that are part of every match: those that results lead to through calls alone."""
    found: set[int] = set()
    waiting = list(rule.outputs)
    while waiting:
        node = rule.nodes[number := waiting.pop()]
        if number not in found and isinstance(node, ir.CallNode) and node.block is None:
            found.add(number)
            waiting += [o for o in node.operands if isinstance(o, int)]
    return frozenset(found)


def _allowed(rule: ir.CheckedRule, user: int, operand: int) -> _Relation:
    """The largest rank that an operand has where a call, or an alternation, takes it."""
    node = rule.nodes[user]
    anything = _Relation(operand, (), _OPEN)
    if node.branches:
        return _Relation(operand, ((user, 0),))
    if not isinstance(node, ir.CallNode) or operand not in node.operands:
        return anything
    if _is_of_the_file(rule, node):
        return anything
    demanded = max(_demanded(operator, node.operands.index(operand)) for operator in node.operators)
    if demanded < _OPEN:
        return _Relation(operand, (), demanded)
    first = node.operands[0]
    if isinstance(first, int) and operand != first and _TO_FIRST.issuperset(node.operators):
        return _Relation(operand, ((first, 0),))
    if operand in (_rank_comes_from(rule, node) or ()):
        return _Relation(operand, ((user, node.operators == ("MatMul",)),))  # the other one may be a vector
    return anything


def _demanded(operator: str, place: int) -> int:
    """The largest rank that an operator takes as an operand."""
    exact, between = RANKS_OF_OPERANDS.get(operator, ()), RANKS_BETWEEN.get(operator, ())
    rank = exact[place] if place < len(exact) else None
    pair = between[place] if place < len(between) else None
    return rank if rank is not None else pair[1] if pair is not None else _OPEN


def _rank_comes_from(rule: ir.CheckedRule, node: ir.Pattern) -> list[int] | None:
    """The nodes of which one has the rank of another, or more: that of a call the largest of its operands,
    for instance. None where that is not known.
    """
    if node.branches:
        return list(node.branches)
    if not isinstance(node, ir.CallNode) or not node.operands or _is_of_the_file(rule, node):
        return None
    operands = [o for o in node.operands if isinstance(o, int)]
    dialect = rule.dialect
    if all(keeps_rank(dialect, o) for o in node.operators):
        return operands[:1] if node.operands[0] is not None else None
    if len(operands) == len(node.operands) and all(
        o in ("MatMul", "Concat") or is_elementwise(dialect.operators[o]) for o in node.operators
    ):
        return operands
    return None


def _is_of_the_file(rule: ir.CheckedRule, call: ir.CallNode) -> bool:
    """True if an operator of a call is declared again with another meaning than the dialect's."""
    return any(rule.dialect.operators[operator].departs for operator in call.operators)
