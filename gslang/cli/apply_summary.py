"""The outcome of `gslc apply` on stderr: failures, the comparison of numbers, a summary."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gslang.cli.check_numbers import check_numbers
from gslang.cli.main import ExitCode
from gslang.cli.paint import painter
from gslang.engine.fixed_point import StopReason

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet
    from gslang.graph.graph import Graph


def show_problems(result: Result) -> int:
    """Write applications that failed and limits that were reached to stderr; the exit code."""
    code = ExitCode.FINE
    # a place may be tried again, in vain, when something near it has changed
    failures = list(dict.fromkeys(result.failures))
    for failure in failures[:10]:
        sys.stderr.write(
            f"error: rule `{failure.rule}` was not applied at {failure.node}: {failure.message}\n"
        )
        code = ExitCode.FINDINGS
    if len(failures) > 10:
        sys.stderr.write(f"  … and {len(failures) - 10} more\n")
    if result.problem:
        sys.stderr.write(
            f"error: {result.problem}\n  help: mark a rule `@once`, or add a condition that its own result "
            "does not satisfy; `gslc lint` finds rules that do not terminate\n"
        )
        code = ExitCode.FINDINGS
    return code


def numbers_agree(
    rules: RuleSet, before: Graph, result: Result, options: argparse.Namespace, sizes: Mapping[str, int]
) -> bool:
    """True if both graphs compute the same; the comparison is reported, and kept in the result."""
    agree, result.numbers = check_numbers(before, result.graph, rules.dialect, options, sizes, copied=True)
    if agree or not result.numbers["checked"]:
        return agree
    meant = [
        name
        for name in result.progress.counts
        if name in rules.known and rules.known[name].changes is not None
        and result.progress.counts[name].applications
    ]
    if meant:
        result.numbers["changed_by"] = meant
    for name in meant:
        sys.stderr.write(
            f"  `{name}`, which was applied, is marked `@changes`: {rules.known[name].changes}\n"
        )
    return False


def show_newer_opset(rules: RuleSet, result: Result) -> None:
    """One line about the rules that the model's operator set does not admit, as far as its operators occur in
    their sources.
    """
    from gslang.check.opsets import can_occur, opset_for_rule

    operators = frozenset(result.graph.op) | frozenset(result.before.op)
    skipped = [rules.known[name] for name in result.progress.skipped if name in rules.known]
    needed = [
        opset
        for rule in skipped
        if can_occur(rule, operators) and (opset := opset_for_rule(rule, result.before.meta)) is not None
    ]
    if needed:
        low, high = min(needed), max(needed)
        which = f"{low}" if low == high else f"{low} to {high}"
        sys.stderr.write(
            f"{len(needed)} fusion{'s' * (len(needed) != 1)} skipped: need{'s' * (len(needed) == 1)} opset "
            f"{which}; try --opset {high}\n"
        )


def show_summary(result: Result, options: argparse.Namespace) -> None:
    paint, replayed = painter(options, sys.stderr), bool(options.replay)
    fired = [(name, c.applications) for name, c in result.progress.counts.items() if c.applications]
    for name, count in fired:
        sys.stderr.write(f"  {name:<36}{paint('count', f'{count:>6}')}\n")
    many = "s" * (result.applications != 1)
    sweeps = result.progress.sweeps
    how = "replayed" if replayed else f"{sweeps} sweep{'s' * (sweeps != 1)} ({result.stop_reason.value})"
    sys.stderr.write(
        paint("head", f"{result.applications} application{many}")
        + f", {how}; {len(result.before)} nodes before, {paint('head', str(len(result.graph)))} after\n"
    )
    if (
        result.progress.counts and not (result.applications or result.failures or replayed)
        and result.stop_reason is StopReason.FIXED_POINT
    ):
        sys.stderr.write("  help: `gslc match RULES GRAPH --why-not` shows what did not match\n")
