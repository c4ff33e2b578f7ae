"""Draw a graph, rules, or a run of rules on a graph as one HTML file:
gslc view graph.onnx rules.gsl -o page.html

The page works in a browser without network access. With a graph and rules, it shows the graph before and
after, and each application. With rules alone (gslc view rules.gsl -o rules.html), it shows each rule as two
small graphs, with its text, verdict and tests.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gslang.cli.apply import add_run_options, run_options
from gslang.cli.apply_summary import show_problems
from gslang.cli.idle_options import is_gallery
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.option_types import natural, seconds_or_none
from gslang.cli.page_output import add_times_option, write_page
from gslang.cli.progress import shown, shown_line
from gslang.cli.refusals import refuse_output, refuse_two_stdins, shared_file
from gslang.cli.shared import add_graph_options, load_graph
from gslang.cli.text_output import write_output
from gslang.cli.usable_rules import add_extern_option, usable_rules

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet
    from gslang.view.history import History

_SECONDS: Final = 6.0  # for verdicts, unless the user says otherwise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help="a .json, .relay or .onnx graph; or rules, alone")
    parser.add_argument(
        "rules", nargs="?", help="a .gsl file, a folder, `-`, or a shipped module such as std.relay"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="output file (stdout)")
    parser.add_argument(
        "--seconds", type=seconds_or_none, metavar="S",
        help=f"without a graph: processor time for verdicts that are not cached ({_SECONDS:g}; 0: none)",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser (needs -o)")
    add_times_option(parser)
    add_run_options(parser)
    parser.add_argument("--stop-after", type=natural, metavar="N", help="stop after N applications")
    add_graph_options(parser)
    add_extern_option(parser)


def run(options: argparse.Namespace) -> int:
    from gslang.view.history import History
    from gslang.view.page import page
    from gslang.view.page_data import graph_data

    if wrong := _conflict(options):
        raise Refusal(f"gslc view: {wrong}\n")
    if options.output not in (None, "-"):
        refuse_output(options.output)
    if is_gallery(options):
        return _gallery(options)
    title = "stdin" if options.graph == "-" else Path(options.graph).name
    if options.rules is None:
        graph = load_graph(options.graph, options)
        write_output(page(graph_data(History(graph), title)), options.output)
        _open(options)
        return ExitCode.FINE
    rules = usable_rules([options.rules], options)
    history, result = _run(rules, options)
    write_page(history, title, rules, result, options.output, options.times)
    _open(options)
    return show_problems(result)


def _gallery(options: argparse.Namespace) -> int:
    from gslang.view.gallery import cards, gallery

    rules = usable_rules([options.graph], options)
    names = [name for name in (options.rule or rules.own) if name not in options.skip]
    homes = {name: program for program in rules.programs for name in program.rules}
    homes |= {name: program for program in rules.programs for name in program.own_rules}
    now = [""]
    with shown_line(lambda: f"verifying `{now[0]}`"):
        seconds = _SECONDS if options.seconds is None else options.seconds
        found = cards(
            [(homes[name], rules.known[name]) for name in names], seconds,
            lambda name: now.__setitem__(0, name),
        )
    write_output(
        gallery(options.graph if options.graph.startswith("std.") else Path(options.graph).name, found),
        options.output,
    )
    unknown = sum(card.verdict is None for card in found)
    if unknown:
        sys.stderr.write(
            f"{unknown} rule{'s' * (unknown != 1)} without a verdict\n"
            f"  help: `gslc verify {options.graph}` finds them all, or --seconds N\n"
        )
    _open(options)
    return ExitCode.FINE


def _conflict(options: argparse.Namespace) -> str | None:
    """The error message for options that contradict each other, or None."""
    if options.open and options.output in (None, "-"):
        return "--open needs a file\n  help: -o page.html"
    if is_gallery(options):
        wrong = shared_file({"the page": options.output}, {"the rules": options.graph})
        return wrong.rstrip() if wrong else None
    if Path(options.graph).suffix.lower() == ".gsl":
        return (
            f"{options.graph} is a rule file, not a graph\n  help: the graph comes first: gslc view GRAPH "
            "RULES -o page.html"
        )
    refuse_two_stdins(options.rules or "", options.graph)
    read = {
        "the graph": options.graph,
        "the rules": options.rules,
        "the input parameters": options.params,
    }
    wrong = shared_file({"the page": options.output}, read)
    return wrong.rstrip() if wrong else None


def _run(rules: RuleSet, options: argparse.Namespace) -> tuple[History, Result]:
    from gslang.engine.fixed_point import Progress
    from gslang.view.history import History

    graph = load_graph(options.graph, options, rules.dialect)
    history, progress = History(), Progress()
    with shown(progress):
        result = rules.apply(
            graph, **run_options(options), stop_after=options.stop_after, watch=history.watch,
            progress=progress,
        )
    return history.finish(result.graph), result


def _open(options: argparse.Namespace) -> None:
    if options.open:
        import webbrowser

        if not webbrowser.open(Path(options.output).resolve().as_uri()):
            sys.stderr.write(f"warning: no browser could be opened\n  help: open {options.output} yourself\n")
