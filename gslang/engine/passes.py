"""Running passes: their steps in order, each to a fixed point; `fold` is given by the caller (it evaluates operators)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gslang.check.checked import CheckedRule, Step
from gslang.dialect.dialect import Dialect
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.engine.fixed_point import Limits, Observer, Progress, StopReason, run_to_fixed_point
from gslang.graph.graph import Graph

Fold = Callable[[Graph], int]
"""Folds what depends on constants and parameters only; returns how many calls it computed."""

FOLD_LIMIT: Final = 1 << 20
"""How many bytes larger than the constants it is computed from a constant may be, if nobody says otherwise."""

_ROUNDS = 1000  # of a `repeat` that mixes rules and built-ins


def run_steps(
    graph: Graph,
    dialect: Dialect,
    steps: Sequence[Step],
    rules: Mapping[str, CheckedRule],
    fold: Fold,
    limits: Limits = Limits(),
    progress: Progress | None = None,
    observe: Observer | None = None,
) -> Progress:
    """Run the steps of a pass in order, changing `graph`. Stops early where a limit is reached."""
    progress = progress or Progress()
    for step in steps:
        if limits.stop_after is not None and progress.applications >= limits.stop_after:
            progress.stop_reason = StopReason.STOPPED
            break
        _run_step(graph, dialect, step, rules, fold, limits, progress, observe)
        if progress.stop_reason in (StopReason.APPLICATION_LIMIT, StopReason.STOPPED):
            break
    return progress


def _run_step(
    graph: Graph,
    dialect: Dialect,
    step: Step,
    rules: Mapping[str, CheckedRule],
    fold: Fold,
    limits: Limits,
    progress: Progress,
    observe: Observer | None,
) -> int:
    """Run one step; returns how much it changed (applications, folded calls, merged calls)."""
    if step.builtin is not None:
        if observe is not None:
            observe(progress.applications, step.builtin)
        return fold(graph) if step.builtin == "fold" else merge_equal_calls(graph, dialect)
    if not step.nested:
        before = progress.applications
        chosen = [rules[name] for name in step.rules if name in rules]
        run_to_fixed_point(graph, chosen, limits, progress, observe)
        return progress.applications - before
    total = 0
    for _ in range(_ROUNDS):
        changed = 0
        for inner in step.nested:
            changed += _run_step(graph, dialect, inner, rules, fold, limits, progress, observe)
            if progress.stop_reason in (StopReason.APPLICATION_LIMIT, StopReason.STOPPED):
                return total + changed
        total += changed
        if not changed:
            return total
    progress.stop_reason = StopReason.APPLICATION_LIMIT
    return total
