"""Running passes: their steps in order, each to a fixed point; `fold` is given by the caller (it evaluates
operators).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule, Step
from gslang.check.footprint import footprint
from gslang.dialect.dialect import Dialect
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.engine.dispatch import can_ever_match
from gslang.engine.fixed_point import (
    Limits,
    Observer,
    Progress,
    StopReason,
    nothing_matches,
    run_to_fixed_point,
)
from gslang.graph.graph import Graph
from gslang.graph.outline import SMALL, write_out

Fold = Callable[[Graph], int]
"""Folds what depends on constants and parameters only; returns how many calls it computed."""

FOLD_LIMIT: Final = 1 << 20
"""The default limit, in bytes, by which a folded constant may exceed the constants that it is computed
from."""

_ROUNDS = 1000  # of a `repeat` that mixes rules and built-ins


class Plan:
    """The steps of a pass, to be run on several graphs; the rules among them by name.

    `every`: those rules, each once. `builtins`: the steps without rules.
    """

    def __init__(self, steps: Sequence[Step], rules: Mapping[str, CheckedRule]) -> None:
        self.steps, self.rules = steps, rules
        self.every = [rules[name] for name in dict.fromkeys(_names(steps)) if name in rules]
        self.builtins = _builtins(steps)
        needs = [footprint(rule).needs for rule in self.every]
        self._asked = frozenset().union(*[group for groups in needs for group in groups])
        self._able: dict[frozenset[str], frozenset[str]] = {}

    def able(self, present: Iterable[str]) -> frozenset[str]:
        """The names of rules that can ever match in a graph of these operators."""
        there = self._asked.intersection(present)
        if there not in self._able:
            self._able[there] = frozenset([rule.name for rule in can_ever_match(self.every, there)])
        return self._able[there]


@dataclass(slots=True)
class _Run:
    """A run of a pass. `settled`: step → how often the graph had changed when that step last found nothing
    more to do; it finds nothing until the graph changes again.
    """

    graph: Graph
    dialect: Dialect
    plan: Plan
    fold: Fold
    limits: Limits
    progress: Progress
    observe: Observer | None
    outlining: bool
    able: frozenset[str] | None = None  # those that can ever match; None if that has to be found out
    changes: int = 0  # applications, folded calls, refined types, merged calls
    settled: dict[object, int] = field(default_factory=dict)

    def can_match(self, names: Iterable[str]) -> bool:
        """True if one of these rules can ever match, unless a built-in step brings new operators."""
        if self.able is None:
            self.able = self.plan.able(self.graph.op)
        return not self.able.isdisjoint(names)

    def is_stopped(self) -> bool:
        return self.progress.stop_reason in (StopReason.APPLICATION_LIMIT, StopReason.STOPPED)


def run_steps(
    graph: Graph,
    dialect: Dialect,
    plan: Plan,
    fold: Fold,
    limits: Limits = Limits(),
    progress: Progress | None = None,
    observe: Observer | None = None,
    fold_limit: int | None = FOLD_LIMIT,
) -> Progress:
    """Run the steps of a pass in order, changing `graph`.

    Stops early where a limit is reached. `fold_limit`: the one that `fold` has.
    """
    progress = progress or Progress()
    outlining = observe is None and limits.stop_after is None and (fold_limit is None or fold_limit >= SMALL)
    run, steps = _Run(graph, dialect, plan, fold, limits, progress, observe, outlining), plan.steps
    if len(steps) > 1 and plan.every and limits.stop_after is None and not plan.able(graph.op):
        # nor will they: without rules there are no new operators
        nothing_matches(plan.every, limits, progress)
        steps = plan.builtins
    for step, following in zip(steps, [*steps[1:], None]):
        if limits.stop_after is not None and progress.applications >= limits.stop_after:
            progress.stop_reason = StopReason.STOPPED
            break
        _run_step(run, step, following)
        if run.is_stopped():
            break
    return progress


def _builtins(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps without rules, also inside others."""
    found = [Step((), step.builtin, _builtins(step.nested)) for step in steps]
    return tuple([step for step in found if step.builtin is not None or step.nested])


def _names(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield from step.rules
        yield from _names(step.nested)


def _run_step(run: _Run, step: Step, following: Step | None) -> int:
    """Run one step; returns how much it changed (applications, folded calls, merged calls)."""
    if step.nested:
        return _repeat(run, step.nested)
    if step.builtin is not None and run.observe is not None:
        run.observe(run.progress.applications, step.builtin)
    key = step.builtin or step.rules
    if run.settled.get(key) == run.changes:
        return 0
    if step.builtin == "fold":
        changed = run.fold(run.graph)
    elif step.builtin is not None:
        changed = merge_equal_calls(run.graph, run.dialect)
    else:
        changed = _run_rules(
            run, step, run.outlining and following is not None and following.builtin == "fold"
        )
    run.changes += changed
    if changed and step.builtin:
        run.able = None
    # rules have been tried until nothing matched, built-ins once
    if run.progress.stop_reason is StopReason.FIXED_POINT and not (changed and step.builtin):
        run.settled[key] = run.changes
    return changed


def _repeat(run: _Run, steps: Sequence[Step]) -> int:
    """Run steps in turn until none of them changes anything; returns how much they changed."""
    total = 0
    for _ in range(_ROUNDS):
        changed = 0
        for step, following in zip(steps, [*steps[1:], None]):
            changed += _run_step(run, step, following)
            if run.is_stopped():
                return total + changed
        total += changed
        if not changed:
            return total
    run.progress.stop_reason = StopReason.APPLICATION_LIMIT
    return total


def _run_rules(run: _Run, step: Step, outlining: bool) -> int:
    """Outlines are left to folding only: if it is not to be, calls take their places."""
    before, folding = run.progress.applications, False
    rules = run.plan.rules
    chosen = [rules[name] for name in step.rules if name in rules]
    is_one_of_several = len(chosen) < len(run.plan.every) and run.limits.stop_after is None
    if is_one_of_several and not run.can_match(step.rules):
        nothing_matches(chosen, run.limits, run.progress)
        return 0
    try:
        run_to_fixed_point(run.graph, chosen, run.limits, run.progress, run.observe, outlining)
        folding = not run.is_stopped()
    finally:
        if outlining and not folding:
            write_out(run.graph)
    return run.progress.applications - before
