"""Pairs of rules that may cover one another, found without comparing each with each; and whether two say the same."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.check import checked as ir
from gslang.engine.plan import plan_of
from gslang.lint.generality import overlays, roots_of, same_targets
from gslang.lint.linted_file import LintedFile, LintedRule

Key = tuple[str, ...]


def twins(earlier: LintedRule, later: LintedRule) -> bool:
    """Whether two rules match the same and build the same, up to names and commuted operands."""
    one_way = any(same_targets(overlay) for overlay in overlays(earlier.checked, later.checked))
    return one_way and next(overlays(later.checked, earlier.checked), None) is not None


def candidate_pairs(file: LintedFile) -> Iterator[tuple[LintedRule, LintedRule]]:
    """(earlier, later) where the earlier one may be more general: found by operators of the root and of the operands below it.

    For each later rule, an earlier one with the same first operand operator, or one that leaves that operand open, is a candidate.
    """
    shelves: dict[Key, list[LintedRule]] = {}
    for rule in file.rules:
        if rule.checked.disconnected:
            continue
        met: dict[int, LintedRule] = {}
        for key in _lookups(rule.checked):
            met.update({id(other): other for other in shelves.get(key, ())})
        yield from ((other, rule) for other in met.values())
        for start in plan_of(rule.checked).starts:
            shelves.setdefault((start, *_below(rule.checked)), []).append(rule)


def _below(rule: ir.CheckedRule) -> Key:
    """The operators of the operands, sorted, `?` where several or none are named."""
    root = rule.nodes[roots_of(rule)[0]]
    if not isinstance(root, ir.CallNode):
        return ("?",)
    return tuple(sorted(_operator(rule, operand) for operand in root.operands))


def _operator(rule: ir.CheckedRule, operand: int | None | ir.Splice) -> str:
    node = rule.nodes[operand] if isinstance(operand, int) else None
    return node.operators[0] if isinstance(node, ir.CallNode) and len(node.operators) == 1 else "?"


def _lookups(rule: ir.CheckedRule) -> Iterator[Key]:
    """The keys under which more general rules can stand: each operand's operator, or left open."""
    below = _below(rule)
    choices: list[Key] = [()]
    for operator in below[:6]:
        choices = [(*c, o) for c in choices for o in ((operator,) if operator == "?" else (operator, "?"))]
    for start in plan_of(rule).starts:
        for key in sorted({tuple(sorted(c)) for c in choices}):
            yield (start, *key)
