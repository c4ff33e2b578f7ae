"""Find the first application that makes a check fail: gslc bisect rules.gsl graph.json --check numbers

The check is `numbers` (the results of the graph are unchanged) or a command, which receives the graph's file
as `{}` or as its last argument and fails with a non-zero exit code. The check must pass before the first
application and fail after the last one. A binary search replays prefixes of the run's trace, about log2(N)
times.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslang.base.diagnostics import InputError
from gslang.check.limits import counted_work
from gslang.cli.apply import add_run_options, run_options
from gslang.cli.inputs import inputs_for
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.numbers import (
    add_number_options,
    outputs_of,
    random_outputs,
    refuse_unknown_sizes,
    tell_random,
    tolerance_of,
)
from gslang.cli.refusals import refuse_two_stdins
from gslang.cli.shared import add_graph_options, load_graph
from gslang.cli.usable_rules import add_extern_option, usable_rules
from gslang.engine.passes import FOLD_LIMIT

if TYPE_CHECKING:
    from gslang.api import RuleSet
    from gslang.engine.fixed_point import Observer
    from gslang.engine.replay import TraceEntry
    from gslang.engine.rewrite import Application
    from gslang.graph.graph import Graph

_NOT_RUN = (126, 127)  # the shell's exit codes for a command that it may not execute or does not find
Check = Callable[["Graph"], str | None]
"""Why a graph is wrong, or None."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", help="a .gsl file, a folder, or a shipped module")
    parser.add_argument("graph", help="a .json or .relay graph")
    parser.add_argument(
        "--check", required=True, metavar="CMD|numbers",
        help="`numbers`, or a command that fails for a wrong graph (`{}`: its file)",
    )
    add_run_options(parser)
    add_number_options(parser)
    add_graph_options(parser)
    add_extern_option(parser)


def run(options: argparse.Namespace) -> int:
    if not options.check.strip():
        raise Refusal(
            "gslc bisect: the check is empty\n  help: --check numbers, or --check 'COMMAND {}'\n"
        )
    sizes = dict(options.dim)
    refuse_two_stdins(options.rules, options.graph)
    rules = usable_rules([options.rules], options)
    graph = load_graph(options.graph, options, rules.dialect)
    refuse_unknown_sizes(graph, sizes)
    check = _numbers(rules, graph, sizes, options) if options.check == "numbers" else _command(options)
    if why := check(graph):
        sys.stderr.write(
            f"error: the check fails before any application: {why}\n"
            "  help: it must pass for the original graph\n"
        )
        return ExitCode.FINDINGS
    with counted_work(len(graph)):
        return _found(rules, graph, check, options)


def _found(rules: RuleSet, graph: Graph, check: Check, options: argparse.Namespace) -> ExitCode:
    """Find the application and tell it."""
    entries, end = _recorded(rules, graph, options)
    last = check(end)
    if last is None:
        count = _applications(entries)
        after = {0: "no rule applies: the check passes", 1: "the check passes after the only application"}
        sys.stderr.write(after.get(count, f"the check passes after all {count} applications") + "\n")
        return ExitCode.FINE
    if not entries:
        sys.stderr.write(
            f"error: the check passes, then fails for the same graph: {last}\n"
            "  help: no rule was applied; a check must be deterministic\n"
        )
        return ExitCode.FINDINGS
    good, bad, why = 0, len(entries), last
    while bad - good > 1:
        middle = (good + bad) // 2
        found = check(rules.replay(graph, entries[:middle]).graph)
        step = entries[middle - 1].step
        then = f" and `{step}`" if step is not None else ""
        sys.stderr.write(
            f"  after {_applications(entries[:middle])}{then}: {'holds' if found is None else 'fails'}\n"
        )
        if found is None:
            good = middle
        else:
            bad, why = middle, found
    sys.stdout.write(_told(rules, entries, bad, why, options))
    return ExitCode.FINDINGS


def _recorded(rules: RuleSet, graph: Graph, options: argparse.Namespace) -> tuple[list[TraceEntry], Graph]:
    """The whole run: its trace, and the graph at the end."""
    from gslang.engine.replay import TraceEntry, ids_of, told

    entries: list[TraceEntry] = []

    def watch(path: str, graph: Graph) -> Observer:
        ids = ids_of(graph)

        def observe(number: int, what: Application | str) -> None:
            step, said = (what, {}) if isinstance(what, str) else (None, told(number, what, ids))
            entries.append(TraceEntry(len(entries) + 1, step, said, path, options.fold_limit))

        return observe

    return entries, rules.apply(graph, **run_options(options), watch=watch).graph


def _applications(entries: list[TraceEntry]) -> int:
    return sum(entry.step is None for entry in entries)


def _told(rules: RuleSet, entries: list[TraceEntry], bad: int, why: str, options: argparse.Namespace) -> str:
    """Name the culprit: its rule and place, what went and came, and how to see it again."""
    entry, number = entries[bad - 1], _applications(entries[:bad])
    where = f" in `{entry.body}`" if entry.body else ""
    if entry.step is not None:
        return (
            f"the built-in step `{entry.step}`{where} after application {number} is the first after which "
            "the check fails\n"
            f"  {why}\n"
            f"  before   {_command_line(options)} --stop-after {number}\n"
        )
    said = entry.said
    added = ", ".join(f"{item['id']} ({item['op']})" for item in said["added"])
    return (
        f"application {number} is the first after which the check fails: rule `{said['rule']}` "
        f"({rules.known[said['rule']].span})\n"
        f"  {why}\n"
        f"  at       {', '.join(said['outputs'])}{where}\n"
        f"  removed  {', '.join(said['removed']) or '-'}\n"
        f"  added    {added or '-'}\n"
        f"  see it   {_command_line(options)} --stop-after {number}\n"
    )


def _command_line(options: argparse.Namespace) -> str:
    """`gslc apply` of the same run, as one may type it."""
    words = ["gslc", options.rules, options.graph]
    for option in ("rule", "skip", "pass_name", "passes", "limit", "input_format", "params"):
        values = getattr(options, option)
        for value in values if isinstance(values, list) else [] if values is None else [values]:
            words += [f"--{option.removesuffix('_name').replace('_', '-')}", str(value)]
    words += ["--function", options.function] if options.function != "main" else []
    words += ["--fold-limit", str(options.fold_limit).lower()] if options.fold_limit != FOLD_LIMIT else []
    words += [
        f"--{option.replace('_', '-')}"
        for option in ("once", "fold", "no_subgraphs", "inline", "skip_unsupported")
        if getattr(options, option)
    ]
    return shlex.join(words)


def _numbers(rules: RuleSet, graph: Graph, sizes: dict[str, int], options: argparse.Namespace) -> Check:
    """Compares with what the graph computes as it is, but for outputs that depend on random numbers. Raises
    `InputError` if it cannot be computed, or all of them do."""
    from gslang.evaluate.agree import compare_values
    from gslang.evaluate.errors import EvaluationError

    try:
        tell_random(random_outputs(graph, graph))
        inputs = inputs_for(graph, rules.dialect, options, sizes)
        expected = outputs_of(graph, rules.dialect, inputs, options.backend)
    except EvaluationError as error:
        raise InputError(
            f"the numbers cannot be checked: {error}", help="give a command with --check"
        ) from None

    def check(changed: Graph) -> str | None:
        if changed is graph:
            return None
        try:
            random = random_outputs(graph, changed)
            found = outputs_of(changed, rules.dialect, inputs, options.backend)
            left, right = ([v for k, v in enumerate(g) if k not in random] for g in (expected, found))
            agreement = compare_values(left, right, tolerance_of(graph))
        except EvaluationError as error:
            return str(error)
        return None if agreement.equal else f"the numbers differ: {agreement.reason}"

    return check


def _command(options: argparse.Namespace) -> Check:
    from gslang.formats.registry import format_of, write_graph

    format = options.input_format or ("json" if options.graph == "-" else format_of(options.graph))

    def check(changed: Graph) -> str | None:
        with tempfile.TemporaryDirectory(prefix="gslang-") as folder:
            file = str(Path(folder) / f"graph.{format}")
            write_graph(changed, file, format)
            quoted = shlex.quote(file)
            command = (
                options.check.replace("{}", quoted) if "{}" in options.check else f"{options.check} {quoted}"
            )
            ran: Any = subprocess.run(
                command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            if ran.returncode in _NOT_RUN:
                raise InputError(
                    f"the check cannot be run: {options.check}",
                    help="is it on the path and executable?",
                )
            said = ran.stderr.decode(errors="replace").strip().splitlines()
            return (
                None if ran.returncode == 0
                else f"the command {_ending(ran.returncode)}" + (f": {said[-1]}" if said else "")
            )

    return check


def _ending(code: int) -> str:
    """The failure of a command in words; a negative code is the number of a signal."""
    if code >= 0:
        return f"fails with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was terminated by signal {-code}"
