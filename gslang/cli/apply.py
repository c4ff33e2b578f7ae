"""Rewrite a graph by rules: gslc rules.gsl graph.json -o out.json"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from gslang.base.atomic_write import together
from gslang.base.diagnostics import InputError
from gslang.base.json_text import json_text
from gslang.cli.apply_summary import numbers_agree, show_newer_opset, show_problems, show_summary
from gslang.cli.check_numbers import refuse_unfit_inputs, tell_nothing_written
from gslang.cli.graph_output import add_output_options, output_graph, target_format
from gslang.cli.latency import as_text, latency_of, refuse_without_runtime
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.many import add_many_options, is_one, refuse_cluster, run_many
from gslang.cli.numbers import add_number_options, refuse_unknown_sizes
from gslang.cli.option_types import natural, positive, size_in_bytes
from gslang.cli.page_output import add_times_option, write_page
from gslang.cli.progress import shown
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
from gslang.engine.passes import FOLD_LIMIT

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet, Watch
    from gslang.cli.trace_file import Trace
    from gslang.engine.fixed_point import Observer
    from gslang.engine.rewrite import Application
    from gslang.graph.graph import Graph
    from gslang.search.cost.tables import CostTable
    from gslang.view.history import History


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", help="a .gsl file, a folder, `-`, or a shipped module such as std.relay")
    parser.add_argument(
        "graph", nargs="*",
        help="a .json, .relay or .onnx graph, several, or a folder of them; without one the rules are only "
        "checked",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="output file (stdout); a folder for several graphs"
    )
    add_many_options(parser)
    parser.add_argument(
        "--force", action="store_true", help="write the graph even if the run ends with findings"
    )
    add_run_options(parser)
    parser.add_argument(
        "--check-numbers", action="store_true",
        help="evaluate before and after and compare; nothing is written if the results differ",
    )
    add_number_options(parser)
    parser.add_argument(
        "--bench", action="store_true",
        help="measure the latency before and after in onnxruntime, with the defaults of `gslc bench`",
    )
    parser.add_argument(
        "--cost", metavar="NAME|FILE",
        help="print the cost before and after, and add it to --report: flops, bytes, roofline, ort-cpu, or a "
        ".tsv file; --dim gives sizes",
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write counts and times as JSON (`-`: to stdout, with -o)"
    )
    parser.add_argument("--trace", metavar="FILE", help="write each application as a line of JSON")
    parser.add_argument(
        "--html", metavar="FILE",
        help="write a page that shows the graph before and after, and each application",
    )
    add_times_option(parser)
    parser.add_argument("--replay", metavar="FILE", help="apply a trace again, without searching")
    parser.add_argument("--stop-after", type=natural, metavar="N", help="stop after N applications")
    parser.add_argument(
        "--provenance", action="store_true",
        help="record in each new node which application created it, and from which nodes (JSON, ONNX)",
    )
    add_output_options(parser)
    add_graph_options(parser)
    add_extern_option(parser)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The rules to run, and limits of the run."""
    add_define_option(parser)
    parser.add_argument("--rule", action="append", metavar="NAME", help="only this rule (may be repeated)")
    parser.add_argument(
        "--skip", action="append", default=[], metavar="NAME", help="skip this rule (may be repeated)"
    )
    parser.add_argument("--pass", dest="pass_name", metavar="NAME", help="run this pass")
    sweeps = parser.add_mutually_exclusive_group()
    sweeps.add_argument("--once", action="store_true", help="run one sweep")
    sweeps.add_argument("--passes", type=positive, metavar="N", help="run at most N sweeps")
    parser.add_argument(
        "--limit", type=positive, metavar="N", help="limit on applications (10 × nodes + 1000)"
    )
    parser.add_argument(
        "--fold", action="store_true", help="evaluate nodes that depend only on constants and parameters"
    )
    parser.add_argument(
        "--fold-limit", type=size_in_bytes, default=FOLD_LIMIT, metavar="SIZE",
        help="how much larger than its operands a precomputed constant may be: bytes, 64K, 4M, 2G, "
        "none (1M)",
    )
    parser.add_argument(
        "--no-subgraphs",
        action="store_true",
        help="do not rewrite bodies and local functions of an ONNX model"
    )


def run_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `RuleSet.apply` that `add_run_options` reads."""
    return {
        "rules": options.rule,
        "skip": options.skip,
        "pass_name": options.pass_name,
        "once": options.once,
        "sweeps": options.passes,
        "limit": options.limit,
        "fold": options.fold,
        "fold_limit": options.fold_limit,
        "subgraphs": not options.no_subgraphs,
    }


_CHOOSING_NOTHING: Final[dict[str, object]] = {
    "rules": None,
    "skip": [],
    "pass_name": None,
    "once": False,
    "sweeps": None,
    "limit": None,
    "fold": False,
    "fold_limit": FOLD_LIMIT,
    "subgraphs": True,
}


def run(options: argparse.Namespace) -> int:
    if is_one(options):
        refuse_cluster(options)
        options.graph = options.graph[0] if options.graph else None
        return run_one(options)
    single = {
        "--report": options.report,
        "--trace": options.trace,
        "--html": options.html,
        "--replay": options.replay,
        "--inputs": options.inputs,
        "--output-params": options.output_params,
    }
    for name, path in single.items():
        if path is not None:
            raise Refusal(f"gslc: {name} writes one file: use it with one graph\n")
    return run_many("apply", options)


def run_one(options: argparse.Namespace) -> int:
    """Rewrite one graph, or check the rules if there is none."""
    began = perf_counter()
    refuse_two_stdins(options.rules, options.graph)
    rules = usable_rules([options.rules], options)
    if options.graph is None:
        count = len(rules)
        sys.stderr.write(f"{options.rules}: {count} rule{'s' * (count != 1)}, no errors\n")
        return ExitCode.FINE
    refuse_graph_output(options)
    if wrong := _conflict(options):
        raise Refusal(wrong)
    _refuse_other_outputs(options)
    sizes = dict(options.dim)
    if options.replay:
        from gslang.cli.trace_file import searched_sizes

        sizes = {**searched_sizes(options.replay), **sizes}
    compiled = perf_counter()
    graph = load_graph(options.graph, options, rules.dialect)
    _check_graph(graph, options, sizes)
    loaded = perf_counter()
    if options.bench:
        refuse_without_runtime(graph, options.graph)
    table = _cost_table(options)
    trace, history = _recorders(options)
    watch = _watch([recorder.watch for recorder in (trace, history) if recorder is not None])
    result = (
        _replayed(rules, graph, options, trace, watch) if options.replay
        else _rewritten(rules, graph, options, watch)
    )
    result.seconds = {"load": loaded - compiled, "compile": compiled - began, **result.seconds}
    for warning in result.graph.meta.get("warnings", ()):
        if warning not in graph.meta.get("warnings", ()):
            sys.stderr.write(f"warning: {warning}\n")
    code = show_problems(result)
    if options.check_numbers and not numbers_agree(rules, graph, result, options, sizes):
        code = ExitCode.FINDINGS
    if options.bench:
        _measure(graph, result, options, sizes)
    cost = None
    if table is not None:
        from gslang.cli.cost_report import cost_report

        cost = cost_report(graph, result.graph, rules.dialect, table, sizes)
        result.cost = cost.as_data()
    with together():
        _write_files(rules, graph, result, options, trace, history, is_fine=code == ExitCode.FINE)
    show_summary(result, options)
    if cost is not None:
        sys.stderr.write(cost.as_text())
    show_newer_opset(rules, result)
    if code != ExitCode.FINE and not options.force:
        tell_nothing_written()
    return code


def _refuse_other_outputs(options: argparse.Namespace) -> None:
    for path in (options.trace, options.html, options.report if options.report != "-" else None):
        if path is not None:
            refuse_output(path)


def _check_graph(graph: Graph, options: argparse.Namespace, sizes: Mapping[str, int]) -> None:
    """Refuse sizes and inputs that do not belong to the graph; warn of what its format cannot hold."""
    refuse_unknown_sizes(graph, sizes)
    refuse_unfit_inputs(graph, options)
    if options.provenance and target_format(options, graph) == "relay":
        sys.stderr.write(
            "warning: Relay text cannot represent what `--provenance` records\n"
            "  help: write JSON, with --output-format json\n"
        )


def _cost_table(options: argparse.Namespace) -> CostTable | None:
    if options.cost is None:
        return None
    from gslang.search.cost.tables import table_of

    return table_of(options.cost)


def _recorders(options: argparse.Namespace) -> tuple[Trace | None, History | None]:
    """The open trace and the history of the page, where they are asked for."""
    trace = history = None
    if options.trace:
        from gslang.cli.trace_file import open_trace

        trace = open_trace(options.trace, options.fold_limit)
    if options.html:
        from gslang.view.history import History

        history = History()
    return trace, history


def _rewritten(rules: RuleSet, graph: Graph, options: argparse.Namespace, watch: Watch | None) -> Result:
    """The rules applied, with the progress shown."""
    from gslang.engine.fixed_point import Progress

    progress = Progress()
    with shown(progress):
        return rules.apply(
            graph, **run_options(options), stop_after=options.stop_after, watch=watch,
            provenance=options.provenance, progress=progress,
        )


def _measure(graph: Graph, result: Result, options: argparse.Namespace, sizes: Mapping[str, int]) -> None:
    """Measure both graphs in onnxruntime; the times are shown and kept in the result."""
    from gslang.formats.onnx.latency import Setting

    latency = latency_of(graph, result.graph, options, sizes, Setting())
    result.latency = latency.report()
    sys.stderr.write(as_text(latency))


def _write_files(
    rules: RuleSet,
    graph: Graph,
    result: Result,
    options: argparse.Namespace,
    trace: Trace | None,
    history: History | None,
    is_fine: bool,
) -> None:
    """Write the graph, if the run `is_fine` or that is forced, and the reports that are asked for."""
    if is_fine or options.force:
        writing = perf_counter()
        output_graph(result.graph, options, target_format(options, graph))
        result.seconds["write"] = perf_counter() - writing
    if options.report:
        report = json_text(result.report())
        write_output(report, options.report)
    if trace is not None:
        trace.save(target_format(options, graph))
    if history is not None:
        write_page(
            history.finish(result.graph), "stdin" if options.graph == "-" else Path(options.graph).name,
            rules, result, options.html, options.times,
        )


def _watch(watches: Sequence[Watch]) -> Watch | None:
    """One for all of them, None for none."""
    if len(watches) < 2:
        return watches[0] if watches else None

    def watch(path: str, graph: Graph) -> Observer:
        observers = [one(path, graph) for one in watches]

        def observe(number: int, what: Application | str) -> None:
            for observer in observers:
                observer(number, what)

        return observe

    return watch


def _conflict(options: argparse.Namespace) -> str | None:
    """Why these options do not go together, or what one of them cannot be."""
    if wrong := not_to_stdout(options, "trace", "html"):
        return wrong
    if options.replay == "-":
        return "gslc: a trace must be read from a file\n  help: --replay trace.jsonl\n"
    if options.replay and (run_options(options) != _CHOOSING_NOTHING or options.stop_after is not None):
        return (
            "gslc: --replay takes the applications from the trace: remove options that select rules, folding "
            "or limits\n"
        )
    kept = {
        "the rules": options.rules,
        "the input trace": options.replay,
        "the inputs": options.inputs,
    }
    read = {"the input graph": options.graph, "the input parameters": options.params}
    reports = {"the report": options.report, "the trace": options.trace, "the page": options.html}
    wrong = graph_takes_place(options, kept) or shared_file(
        reports, {**kept, **read, **written_with(options)}
    )
    return f"gslc: {wrong}" if wrong else None


def _replayed(
    rules: RuleSet, graph: Graph, options: argparse.Namespace, trace: Trace | None, watch: Watch | None
) -> Result:
    """The trace applied again. Raises `InputError` at the line that does not fit."""
    from gslang.cli.trace_file import read_trace
    from gslang.engine.replay import ReplayError, TraceEntry

    def entries() -> Iterator[TraceEntry]:
        for entry in read_trace(options.replay):
            if trace is not None:
                trace.fold_limit = entry.fold_limit
            yield entry

    try:
        return rules.replay(graph, entries(), watch, options.provenance)
    except ReplayError as error:
        help = "a trace can be replayed only with the graph, rules and version that it was written with"
        raise InputError(str(error), path=options.replay, place=f"{error.line}:1", help=help) from None


