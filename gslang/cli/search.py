"""Find the cheapest graph that rules can reach: gslc search RULES GRAPH -o OUT --cost flops

Methods: `eqsat` (equality saturation, then extraction), `backtrack` (as in TASO and MetaFlow), `greedy`
(rewriting, if it reduces the cost). The result never costs more than the original graph. Rules whose verdict
is below --require are not used.

Exit codes: 0 success; 1 rule errors, numbers differ, or one of several graphs failed; 2 usage error; 3 a file
cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from gslang.base.atomic_write import together
from gslang.base.diagnostics import InputError
from gslang.base.json_text import json_text
from gslang.cli.check_numbers import check_numbers, refuse_unfit_inputs, tell_nothing_written
from gslang.cli.cost import add_cost_options
from gslang.cli.graph_output import add_output_options, output_graph, target_format
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.many import add_many_options, is_one, refuse_cluster, run_many
from gslang.cli.numbers import BACKENDS, add_value_options, refuse_unknown_sizes
from gslang.cli.option_types import natural, positive
from gslang.cli.paint import painter
from gslang.cli.progress import shown_line
from gslang.cli.refusals import (
    graph_takes_place,
    not_to_stdout,
    refuse_graph_output,
    refuse_output,
    refuse_two_stdins,
    shared_file,
    written_with,
)
from gslang.cli.shared import add_define_option, add_graph_options, load_graph
from gslang.cli.text_output import write_output
from gslang.cli.usable_rules import add_extern_option, usable_rules

if TYPE_CHECKING:
    from gslang.api import RuleSet
    from gslang.check.checked import CheckedRule
    from gslang.graph.graph import Graph
    from gslang.search.cost.tables import CostTable
    from gslang.search.search import Found, Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    # Long on purpose: the table of the options.
    add_define_option(parser)
    parser.add_argument("rules", help="a .gsl file, a folder, `-`, or a shipped module such as std.taso")
    parser.add_argument(
        "graph", nargs="+", help="a .json, .relay or .onnx graph, several, or a folder of them"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="output file (stdout); a folder for several graphs"
    )
    add_many_options(parser)
    add_cost_options(parser)
    parser.add_argument("--method", choices=("eqsat", "backtrack", "greedy"), default="eqsat")
    parser.add_argument(
        "--multi", type=natural, default=1, metavar="K",
        help="eqsat: rules with several outputs run in the first K rounds (1)",
    )
    parser.add_argument(
        "--nodes",
        type=positive,
        default=10_000,
        metavar="N",
        help="eqsat: limit on the number of e-nodes beyond those of the graph (10000)"
    )
    parser.add_argument(
        "--rounds", type=positive, default=15, metavar="N", help="eqsat: limit on the number of rounds (15)"
    )
    parser.add_argument(
        "--extract", choices=("exact", "greedy"), default="exact",
        help="eqsat: how the result is extracted; the default is exact if HiGHS is installed",
    )
    parser.add_argument(
        "--alpha", type=_factor, default=1.05, metavar="A",
        help="backtrack: keep graphs that cost less than A times the best (1.05)",
    )
    parser.add_argument(
        "--budget", type=positive, default=100, metavar="N",
        help="backtrack: limit on the number of graphs expanded (100)",
    )
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument(
        "--skip", action="append", default=[], metavar="NAME", help="skip this rule (may be repeated)"
    )
    parser.add_argument(
        "--require", choices=("any", "tested", "exact", "proved"), default="exact",
        help="the weakest verdict with which a rule is used (exact)",
    )
    parser.add_argument(
        "--check-numbers", action="store_true",
        help="evaluate before and after and compare; nothing is written if the results differ",
    )
    parser.add_argument(
        "--force", action="store_true", help="write the graph even if the numbers differ"
    )
    add_value_options(parser)
    parser.add_argument("--backend", choices=BACKENDS, default="auto", help="evaluator of ONNX graphs")
    parser.add_argument(
        "--report", metavar="FILE", help="write costs, rules and counts as JSON (`-`: to stdout, with -o)"
    )
    parser.add_argument(
        "--trace", metavar="FILE",
        help="write the applications that lead to the result, for `gslc RULES GRAPH --replay FILE`",
    )
    parser.add_argument("--html", metavar="FILE", help="write a page with the graph before and after")
    parser.add_argument(
        "--save-egraph", metavar="FILE", help="eqsat: write the e-graph in extraction-gym's format"
    )
    add_output_options(parser)
    add_graph_options(parser)
    add_extern_option(parser)


def _factor(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value < 100:
        raise argparse.ArgumentTypeError(f"expected a factor from 1, not `{text}`")
    return value


def run(options: argparse.Namespace) -> int:
    if is_one(options) and not (options.output and Path(options.output).is_dir()):
        refuse_cluster(options)
        options.graph = options.graph[0]
        return run_one(options)
    for path, what in (
        (options.report, "--report"), (options.save_egraph, "--save-egraph"), (options.html, "--html"),
        (options.output_params, "--output-params"), (options.inputs, "--inputs"),
        (options.trace, "--trace"),
    ):
        if path is not None:
            raise Refusal(f"gslc: {what} writes one file: use it with one graph\n")
    return run_many("search", options)


def run_one(options: argparse.Namespace) -> int:
    """Search from one graph."""
    from gslang.search.cost.tables import table_of
    from gslang.search.cost.work import UnknownCost

    refuse_two_stdins(options.rules, options.graph)
    if wrong := _conflict(options):
        raise Refusal(wrong)
    refuse_graph_output(options)
    for path in (options.report, options.save_egraph, options.html, options.trace):
        if path not in (None, "-"):
            refuse_output(path)
    table = table_of(options.cost)
    rules = usable_rules([options.rules], options)
    graph = load_graph(options.graph, options, rules.dialect)
    sizes = dict(options.dim)
    refuse_unknown_sizes(graph, sizes)
    refuse_unfit_inputs(graph, options)
    began = perf_counter()
    try:
        found = _search(rules, graph, sizes, table, options)
    except UnknownCost as error:
        raise InputError(str(error), path=options.graph) from None
    seconds = perf_counter() - began
    agree = True
    numbers: dict[str, object] = {"checked": False}
    if options.check_numbers:
        agree, numbers = check_numbers(graph, found.graph, rules.dialect, options, sizes, copied=False)
    report = {
        "table": table.name,
        "method": options.method, **found.report(),
        "seconds": round(seconds, 3),
        "numbers": numbers,
    }
    with together():
        if agree or options.force:
            output_graph(found.graph, options, target_format(options, graph))
        _write_reports(graph, found, report, options)
    _summary(found, table, seconds, options)
    if not agree and not options.force:
        tell_nothing_written()
    return ExitCode.FINE if agree else ExitCode.FINDINGS


def _write_reports(
    graph: Graph, found: Found, report: Mapping[str, object], options: argparse.Namespace
) -> None:
    """Write the files that are asked for beside the graph."""
    if options.html:
        from gslang.view.difference import difference_data
        from gslang.view.page import page

        name = "stdin" if options.graph == "-" else Path(options.graph).name
        write_output(page(difference_data(graph, found.graph, name)), options.html)
    if options.trace:
        from gslang.cli.trace_file import write_search_trace

        assert found.trace is not None
        write_search_trace(options.trace, found.trace, found.graph, target_format(options, graph))
    if options.save_egraph:
        _save(found, options.save_egraph)
    if options.report:
        write_output(json_text(report), options.report)


def _conflict(options: argparse.Namespace) -> str | None:
    if wrong := not_to_stdout(options, "html", "trace", "save_egraph"):
        return wrong
    if options.save_egraph and options.method != "eqsat":
        return "gslc: --save-egraph is for --method eqsat: the other methods create no e-graph\n"
    kept = {"the rules": options.rules, "the cost table": options.cost, "the inputs": options.inputs}
    read = {"the input graph": options.graph, "the input parameters": options.params}
    reports = {
        "the report": options.report,
        "the e-graph": options.save_egraph,
        "the page": options.html,
        "the trace": options.trace,
    }
    wrong = graph_takes_place(options, kept) or shared_file(
        reports, {**kept, **read, **written_with(options)}
    )
    return f"gslc search: {wrong}" if wrong else None


def _settings(options: argparse.Namespace) -> Settings:
    from gslang.search.saturate import Limits
    from gslang.search.search import Settings

    limits = Limits(options.nodes, options.rounds, options.multi)
    return Settings(
        options.method, limits, options.alpha, options.budget, options.weights, options.extract == "exact"
    )


def _search(
    rules: RuleSet, graph: Graph, sizes: dict[str, int], table: CostTable, options: argparse.Namespace
) -> Found:
    from gslang.search.accept import accepting
    from gslang.search.saturate import Saturation
    from gslang.search.search import search

    chosen = [rules.known[name] for name in options.rule or rules.own if name not in options.skip]
    progress, accept = Saturation(), accepting(rules.programs, options.require, _tell)
    def text() -> str:
        applied = sum(list(progress.applications.values()))
        return f"round {progress.rounds}: {progress.nodes} e-nodes, {applied} applications"

    with shown_line(text):
        return search(
            graph, rules.dialect, chosen, table, _settings(options), progress, accept, sizes,
            traced=options.trace is not None,
        )


def _tell(rule: CheckedRule, verdict: str) -> None:
    if verdict == "changes":
        sys.stderr.write(
            f"note: `{rule.name}` is not used: it is marked `@changes`, and a search preserves the results "
            "of the graph\n"
        )
        return
    other = verdict if verdict in ("tested", "exact") else "any"
    sys.stderr.write(
        f"note: `{rule.name}` is skipped: its verdict is {verdict} (use it with --require {other})\n"
    )


def _save(found: Found, path: str) -> None:
    from gslang.search.egraph_file import write_egraph

    assert found.egraph is not None
    egraph, extractable = found.egraph
    names = [f"{of}" for of in extractable.classes]
    operators = [egraph.store.op[node].lstrip("%") for node in extractable.nodes]
    write_egraph(path, extractable.problem, operators, names, [f"{node}" for node in extractable.nodes])


def _summary(found: Found, table: CostTable, seconds: float, options: argparse.Namespace) -> None:
    paint = painter(options, sys.stderr)
    for name, count in sorted(found.led.items()):
        sys.stderr.write(f"  {name:<36}{paint('count', f'{count:>6}')}\n")
    unit = f" {table.unit}" if table.unit else ""
    ratio = f" ({found.cost / found.before:.4f})" if 0 < found.before < float("inf") else ""
    where = (
        f"; {found.nodes} e-nodes, {found.rounds} round{'s' * (found.rounds != 1)} ({found.stopped})"
        if found.nodes
        else f" ({found.stopped})"
    )
    if found.slower is not None:
        sys.stderr.write(
            f"note: a cheaper graph was found, but as a whole it takes {found.slower:.2f} times as long in "
            "onnxruntime as the original: it is not used\n"
        )
    sys.stderr.write(
        f"cost {found.before:.6g} → {paint('head', f'{found.cost:.6g}')}{unit}{ratio}{where}; {seconds:.2f} "
        "seconds\n"
    )
