"""The candidates from which all others follow, before any of them is judged.

Each candidate is taken for a law at the sizes that it was found with, without conditions. Those that say
most, without repeated inputs, come first; one that the laws before it imply is dropped, and then, from the
last to the first, one that the rest implies.
"""

from __future__ import annotations

from collections.abc import Sequence

from gslang.api import parse_rules
from gslang.check.checked import CheckedRule
from gslang.discover.equations import Candidate, operators_of
from gslang.discover.forms import law_text
from gslang.discover.implied import Settings, derive
from gslang.discover.plan import Plan, graph_of
from gslang.discover.terms import leaves

PRUNING = Settings(instances=3, nodes=600, rounds=5)


def minimal(waiting: Sequence[Candidate], plan: Plan, by: Sequence[CheckedRule]) -> list[Candidate]:
    """The candidates that imply the others together with `by`, the most general and smallest first."""
    kept: list[tuple[Candidate, CheckedRule]] = []
    for candidate in sorted(waiting, key=_order):
        if not follows(candidate, plan, [*by, *(law for _, law in kept)]):
            kept.append((candidate, _law(candidate, f"law_{len(kept)}", plan)))
    for item in reversed(list(kept)):
        if follows(item[0], plan, [*by, *(law for _, law in kept if law is not item[1])]):
            kept.remove(item)
    return [candidate for candidate, _ in kept]


def follows(candidate: Candidate, plan: Plan, by: Sequence[CheckedRule]) -> bool:
    """True if rules derive a candidate at the sizes that it was found with: then it needs no conditions of
    its own."""
    if not by:
        return False
    before, after = (
        graph_of(side, candidate.types, plan) for side in (candidate.sources, candidate.targets)
    )
    return (
        before is not None
        and after is not None
        and not isinstance(derive(before, after, plan.dialect, by, PRUNING), str)
    )


def _law(candidate: Candidate, name: str, plan: Plan) -> CheckedRule:
    return parse_rules(plan.prelude + law_text(candidate, name, plan.formers, plan.dialect), "<law>").known[
        name
    ]


def _order(candidate: Candidate) -> tuple[bool, int]:
    """True if inputs are repeated; then the number of operators."""
    terms = [list(leaves(term)) for term in (*candidate.sources, *candidate.targets)]
    return any(len(set(term)) < len(term) for term in terms), operators_of(candidate)
