"""Misses: attempts at a match that failed, with the reason."""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.engine.program import MatchProgram

ONLY_TARGET = ("target-value", "target-type")  # the source matches


@dataclass(frozen=True, slots=True)
class Miss:
    """An attempt at a match that failed, or (`reason` "matches") did not.

    `matched` of `of` parts of the pattern hold: its nodes, and its conditions on the whole; all but one where
    nothing else is in the way. `node` is where the obstacle stood in the graph, `start` the first output's
    candidate; `expected` and `found` say what was wanted there and what there was. `others`: further
    conditions that fail, each with what was found.
    """

    rule: str
    start: int
    node: int
    matched: int
    of: int
    reason: str
    span: Span
    expected: str
    found: str
    help: str
    others: tuple[str, ...] = ()


def parts_of(program: MatchProgram) -> int:
    """The number of parts that must hold: pattern nodes but alternatives, each `where`, and the conditions on
    the match as a whole."""
    rule = program.rule
    nodes = sum(not isinstance(node, ir.AltNode) for node in rule.nodes)
    return nodes + len(rule.where) + sum(len(block.where) for block in rule.blocks) + 2
