"""Instances of a rule, each told good or bad: whether the two sides agree there, in every element type.

A rule is applied where its source matches, so an instance whose target does not fit is bad, too. Unlike a
verdict, which notes whole numbers that wrap, a condition has to exclude them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from gslang.base.deadline import Deadline
from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.engine.scope import Scope
from gslang.verify.comparison.compare import can_be_computed, compare, refutes
from gslang.verify.instances.draw import Instance, Search, instances, match_in
from gslang.verify.variety import varied


@dataclass(frozen=True, slots=True)
class Sample:
    """One instance: the match in its graph, and whether the rule is wrong there."""

    scope: Scope
    bad: bool
    why: str


def draw(
    rule: ir.CheckedRule,
    wanted: int,
    seed: int,
    attempts: int,
    until: Deadline,
    most_bad: int = 0,
    vary: bool = False,
) -> list[Sample]:
    """Up to `wanted` samples of a rule from so many attempts to draw one; no more after `most_bad` bad ones
    (0: any number), and none when the time is over.

    `vary`: those that differ most come first.
    """
    drawn = instances(rule, Search(), seed, until.left, attempts)
    found: list[Sample] = []
    for sample in samples(rule, varied(drawn, wanted, rule.dialect, until.end) if vary else drawn, seed):
        found.append(sample)
        if (
            len(found) >= wanted or until.passed or most_bad
            and sum(s.bad for s in found) >= most_bad
        ):
            break
    return found


def samples(rule: ir.CheckedRule, given: Iterable[Instance], seed: int) -> Iterator[Sample]:
    """Those instances of which one can tell."""
    for instance in given:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
            why = _wrong(rule, instance, seed)
        scope = None if why is None else match_in(rule, instance.before)
        if why is not None and scope is not None:
            yield Sample(scope, bool(why), why)


def _wrong(rule: ir.CheckedRule, instance: Instance, seed: int) -> str | None:
    """Why the rule is wrong there; empty if it is not, None if that cannot be told."""
    if instance.after is None:
        return (
            f"the target does not fit: {instance.failure}"
            if can_be_computed(instance.before, rule.dialect, seed)
            else None
        )
    finding = compare(instance.before, instance.after, rule.dialect, rule.approximate, seed, brief=True)
    if finding.numbers is None and (
        finding.field is None or not can_be_computed(instance.before, rule.dialect, seed)
    ):
        return None
    why = refutes(finding)
    floats = {str(getattr(type_, "dtype", "")) for type_ in instance.before.types}
    rounds = (
        finding.kind == "wide" and any(name.startswith("float") for name in floats) or finding.field is True
        and "float16" in floats
    )
    return None if why and rounds else why
