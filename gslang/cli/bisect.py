"""Find the first application that makes a check fail: gslc bisect rules.gsl graph.json --check numbers

The check is `numbers` (the graph computes what it did before) or a command, which gets the graph's file as `{}` or as its
last argument and fails with an exit code that is not 0. It has to hold before any application and to fail at the end;
between these a binary search runs the rules with `--stop-after N`, so a run is repeated about log2(N) times.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslang.base.diagnostics import InputError
from gslang.cli.main import ExitCode
from gslang.cli.shared import add_graph_options, check_names, load_graph, load_rules, show_findings

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet
    from gslang.graph.graph import Graph

Check = Callable[["Graph"], str | None]
"""Why a graph is wrong, or None."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", help="a .gsl file, a folder, or a shipped module")
    parser.add_argument("graph", help="a .json or .relay graph")
    parser.add_argument("--check", required=True, metavar="CMD|numbers", help="`numbers`, or a command that fails on a wrong graph (`{}`: its file)")
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="not this rule (may be repeated)")
    parser.add_argument("--pass", dest="pass_name", metavar="NAME", help="run this pass")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random inputs (0)")
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    rules = load_rules([options.rules])
    if show_findings(rules, options):
        return ExitCode.FINDINGS
    wrong = check_names(rules, [*(options.rule or ()), *options.skip], "rule", list(rules.known))
    wrong = wrong or check_names(rules, [options.pass_name] if options.pass_name else [], "pass", list(rules.passes))
    if wrong:
        sys.stderr.write(wrong)
        return ExitCode.USAGE
    graph = load_graph(options.graph, options, rules.dialect)
    check = _numbers(rules, graph, options.seed) if options.check == "numbers" else _command(options)

    def after(count: int | None, observe: Any = None) -> Result:
        return rules.apply(graph, rules=options.rule, skip=options.skip, pass_name=options.pass_name, stop_after=count, observe=observe)

    if why := check(after(0).graph):
        sys.stderr.write(f"error: the check fails before any application: {why}\n  help: it has to hold for the graph as it is\n")
        return ExitCode.FINDINGS
    end = after(None)
    why = check(end.graph)
    if why is None:
        sys.stderr.write(f"the check holds after all {end.applications} applications\n")
        return ExitCode.FINE
    good, bad = 0, end.applications
    while bad - good > 1:
        middle = (good + bad) // 2
        found = check(after(middle).graph)
        sys.stderr.write(f"  after {middle}: {'holds' if found is None else 'fails'}\n")
        if found is None:
            good = middle
        else:
            bad, why = middle, found
    _tell(rules, graph, after, bad, why, options)
    return ExitCode.FINDINGS


def _tell(rules: RuleSet, graph: Graph, after: Callable[..., Any], number: int, why: str, options: argparse.Namespace) -> None:
    """Name the application: rule and place, what went and came, and how to see it again."""
    from gslang.engine.replay import ids_of
    from gslang.engine.rewrite import Application

    ids = ids_of(graph)
    told: list[Application] = []

    def observe(count: int, what: Application | str) -> None:
        if count == number and isinstance(what, Application):
            told.append(what)

    after(number, observe)
    (application,) = told
    span = rules.known[application.rule].span
    removed = ", ".join(ids(n) for n in application.removed)
    added = ", ".join(f"{ids(n)} ({op.lstrip('%')})" for n, op in zip(application.added, application.added_operators))
    chosen = f" --pass {options.pass_name}" if options.pass_name else ""
    sys.stdout.write(
        f"application {number} is the first after which the check fails: rule `{application.rule}` ({span})\n"
        f"  {why}\n"
        f"  at       {', '.join(ids(n) for n in application.outputs)}\n"
        f"  removed  {removed or '-'}\n"
        f"  added    {added or '-'}\n"
        f"  see it   gslc {options.rules} {options.graph}{chosen} --stop-after {number}\n"
    )


def _numbers(rules: RuleSet, graph: Graph, seed: int) -> Check:
    """Compares with what the graph computes as it is. Raises `InputError` if it cannot be computed."""
    from gslang.evaluate.agree import compare_values
    from gslang.evaluate.random_inputs import random_inputs
    from gslang.evaluate.run import EvaluationError, evaluate

    try:
        inputs = random_inputs(graph, seed)
        expected = evaluate(graph, rules.dialect, inputs)
    except EvaluationError as error:
        raise InputError(f"the numbers cannot be checked: {error}", help="give a command with --check") from None

    def check(changed: Graph) -> str | None:
        try:
            agreement = compare_values(expected, evaluate(changed, rules.dialect, inputs))
        except EvaluationError as error:
            return str(error)
        return None if agreement.equal else f"the numbers differ: {agreement.reason}"

    return check


def _command(options: argparse.Namespace) -> Check:
    from gslang.formats.registry import format_of, write_graph

    suffix = {"relay": ".relay", "onnx": ".onnx"}.get(options.input_format or format_of(options.graph, None), ".json")

    def check(changed: Graph) -> str | None:
        with tempfile.TemporaryDirectory(prefix="gslang-") as folder:
            file = str(Path(folder) / f"graph{suffix}")
            write_graph(changed, file)
            quoted = shlex.quote(file)
            command = options.check.replace("{}", quoted) if "{}" in options.check else f"{options.check} {quoted}"
            ran = subprocess.run(command, shell=True, capture_output=True, check=False)
            return None if ran.returncode == 0 else f"the command fails with exit code {ran.returncode}"

    return check
