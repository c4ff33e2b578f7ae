"""Running passes: their steps in order, each to a fixed point; `fold` is given by the caller (it evaluates
operators).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule, Step
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


@dataclass(slots=True)
class _Run:
    """A run of a pass. `settled`: step → how often the graph had changed when that step last found nothing
    more to do; it finds nothing until the graph changes again.
    """

    graph: Graph
    dialect: Dialect
    rules: Mapping[str, CheckedRule]
    fold: Fold
    limits: Limits
    progress: Progress
    observe: Observer | None
    outlining: bool
    every: Sequence[CheckedRule]  # of all steps
    able: frozenset[str] | None = None  # those that can ever match; None if that has to be found out
    changes: int = 0  # applications, folded calls, refined types, merged calls
    settled: dict[object, int] = field(default_factory=dict)

    def can_match(self, names: Iterable[str]) -> bool:
        """True if one of these rules can ever match, unless a built-in step brings new operators."""
        if self.able is None:
            self.able = frozenset([rule.name for rule in can_ever_match(self.every, self.graph.op)])
        return not self.able.isdisjoint(names)

    def is_stopped(self) -> bool:
        return self.progress.stop_reason in (StopReason.APPLICATION_LIMIT, StopReason.STOPPED)


def run_steps(
    graph: Graph,
    dialect: Dialect,
    steps: Sequence[Step],
    rules: Mapping[str, CheckedRule],
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
    every = [rules[name] for name in dict.fromkeys(_names(steps)) if name in rules]
    run = _Run(graph, dialect, rules, fold, limits, progress, observe, outlining, every)
    for step, following in zip(steps, [*steps[1:], None]):
        if limits.stop_after is not None and progress.applications >= limits.stop_after:
            progress.stop_reason = StopReason.STOPPED
            break
        _run_step(run, step, following)
        if run.is_stopped():
            break
    return progress


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
    chosen = [run.rules[name] for name in step.rules if name in run.rules]
    is_one_of_several = len(chosen) < len(run.every) and run.limits.stop_after is None
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
