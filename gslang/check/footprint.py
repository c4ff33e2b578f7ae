"""The operators that a rule reads and makes: enough to tell that it has no match in a graph.

They are stored with a rule, so that rules without a match are not even read (`base.late`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gslang.base.late import late
from gslang.base.plain_data import declare_late
from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.checked import CheckedRule, CheckedTest
from gslang.check.walks import walk


@dataclass(frozen=True, slots=True)
class Footprint:
    """`starts`: values of the `op` column that the first output can have. `needs`: groups of operators, of
    each of which every match has one: not of what is below alternatives, or in a template that may match
    nothing. `makes`: those that the target may bring into a graph. `counts_users`: a condition or the target
    does.
    """

    starts: tuple[str, ...]
    needs: frozenset[frozenset[str]]
    makes: frozenset[str]
    counts_users: bool


def footprint(rule: CheckedRule) -> Footprint:
    """The operators of a rule; found once."""
    known: Footprint | None = getattr(rule, "_footprint", None)
    if known is None:
        known = _find(rule)
        object.__setattr__(rule, "_footprint", known)
    return known


def operators_at(nodes: Sequence[ir.Pattern], number: int) -> frozenset[str]:
    """Those that a node can match, of alternatives those of each, of a chain those of its end."""
    node = nodes[number]
    return frozenset(node.operators).union(*[operators_at(nodes, part) for part in node.stands_for])


def admitted(nodes: Sequence[ir.Pattern], number: int) -> frozenset[str] | None:
    """The values of the `op` column that a node can match; None if that may be any, or an absent operand."""
    node = nodes[number]
    if not node.stands_for:
        return node.admits
    parts = [part for k in node.stands_for if (part := admitted(nodes, k)) is not None]
    return frozenset().union(*parts) if len(parts) == len(node.stands_for) else None


def counted(rule: CheckedRule) -> frozenset[int]:
    """The pattern nodes whose users the rule counts."""
    everything = (
        rule.where, rule.lets, rule.target.targets, rule.blocks, [node.constraints for node in rule.nodes],
    )
    return frozenset(
        part.node
        for group in everything
        for item in group
        for part in walk(item) if isinstance(part, ir.Uses)
    )


def _find(rule: CheckedRule) -> Footprint:
    outputs = rule.outputs if rule.output_block is None else (rule.blocks[rule.output_block].root,)
    needs = {_one_of(rule.nodes, k) for k in _always(rule.nodes, outputs)}
    return Footprint(
        tuple(sorted(operators_at(rule.nodes, outputs[0]))),
        frozenset(found for found in needs if found),
        frozenset(
            t.operator
            for t in rule.target.targets if isinstance(t, ir.MakeCall) and isinstance(t.operator, str)
        ),
        bool(counted(rule)),
    )


def _one_of(nodes: Sequence[ir.Pattern], number: int) -> frozenset[str]:
    """The operators one of which a node matches; none if that may be something that is no operator."""
    found = admitted(nodes, number) or frozenset()
    return frozenset() if any(name[0] == "%" for name in found) else found


def _always(nodes: Sequence[ir.Pattern], outputs: Sequence[int]) -> Iterable[int]:
    """The pattern nodes that every match has."""

    def below(k: int) -> list[int]:
        node = nodes[k]
        parts = node.below if isinstance(node, ir.ChainNode) else node.parts
        return [part for part in parts if isinstance(part, int)]

    return reachable(outputs, below)


# ── storing ─────────────────────────────────────────────────────────────────────────────────────────────────

_RULE: Final = ("name", "dialect", "once", "disconnected", "family", "opset", "externs")
_TEST: Final = ("title", "rule")


def _rule_heading(rule: CheckedRule) -> list[object]:
    return [*[getattr(rule, name) for name in _RULE], footprint(rule)]


declare_late(CheckedRule, _rule_heading, late(CheckedRule, (*_RULE, "_footprint")), home=__name__)
declare_late(
    CheckedTest, lambda test: [getattr(test, name) for name in _TEST], late(CheckedTest, _TEST), home=__name__
)
