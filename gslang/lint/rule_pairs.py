"""Pairs of rules that may cover one another, found without comparing each with each; and whether two say the
same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gslang.check import checked as ir
from gslang.check.walks import conjuncts
from gslang.engine.lower import program_of
from gslang.lint.generality import overlays, same_targets
from gslang.lint.likeness import Known, Likeness
from gslang.lint.linted_file import LintedFile, LintedRule
from gslang.lint.pattern_walk import match_order

Key = tuple[str, ...]


def twins(earlier: LintedRule, later: LintedRule) -> bool:
    """True if two rules match the same and build the same, up to names and commuted operands."""
    one_way = any(same_targets(overlay) for overlay in overlays(earlier.checked, later.checked))
    return one_way and next(overlays(later.checked, earlier.checked), None) is not None


def candidate_pairs(file: LintedFile) -> Iterator[tuple[LintedRule, LintedRule]]:
    """(earlier, later) where the earlier one may be more general: found by operators of the root and of the
    operands below it.

    For each later rule, an earlier one with the same first operand operator, or one that leaves that operand
    open, is a candidate. What the earlier one demands (`groups = 2`) the later one must demand too: it is
    looked for under the rarest such demand.
    """
    rules = [rule for rule in file.rules if not rule.checked.disconnected]
    likeness = Likeness()
    demands = {id(rule): _demands_of(rule.checked, likeness) for rule in rules}
    often = Counter(demand for found in demands.values() for demand in found)
    shelves: dict[Key, dict[int | None, list[int]]] = {}
    for number, rule in enumerate(rules):
        own = demands[id(rule)]
        met: set[int] = set()
        for key in _lookups(rule.checked):
            shelf = shelves.get(key, {})
            met.update(other for demand in (None, *own) for other in shelf.get(demand, ()))
        yield from ((rules[other], rule) for other in sorted(met))
        rarest = min(own, key=lambda demand: often[demand], default=None)
        for start in program_of(rule.checked).starts:
            shelves.setdefault((start, *_below(rule.checked)), {}).setdefault(rarest, []).append(number)


def _demands_of(rule: ir.CheckedRule, likeness: Likeness) -> tuple[int, ...]:
    """The numbers of the tests and conditions of a source: a rule that is more general has no others."""
    known: Known = {}
    tests = (test for number in match_order(rule) for test in rule.nodes[number].constraints)
    return tuple(dict.fromkeys([likeness.of(item, known) for item in (*tests, *conjuncts(rule.where))]))


def _below(rule: ir.CheckedRule) -> Key:
    """The operators of the operands, sorted, `?` where several or none are named."""
    root = rule.nodes[rule.roots[0]]
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
    for start in program_of(rule).starts:
        for key in sorted({tuple(sorted(c)) for c in choices}):
            yield (start, *key)
