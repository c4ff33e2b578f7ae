"""Measure the latency of an ONNX model in onnxruntime, before and after rewriting:
gslc bench model.onnx std.onnxruntime --pass onnxruntime

Three sessions take turns on the same inputs: the model, the model again, and the rewritten model. The
difference between the first two is noise; the third is called faster or slower only if it differs by more.
Without rules, only the model is measured.

Exit codes: 0 success; 1 rules have errors, or do not terminate; 2 usage error; 3 a file cannot be used, or
onnxruntime cannot run the model.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from gslang.base.json_text import json_text
from gslang.cli.apply import add_run_options, run_options
from gslang.cli.apply_summary import show_problems
from gslang.cli.latency import as_text, latency_of, refuse_without_runtime
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.numbers import add_input_options, refuse_unknown_sizes
from gslang.cli.option_types import natural, positive, seconds
from gslang.cli.progress import shown
from gslang.cli.refusals import refuse_output, refuse_two_stdins, shared_file
from gslang.cli.shared import add_graph_options, load_graph
from gslang.cli.usable_rules import add_extern_option, usable_rules

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet
    from gslang.graph.graph import Graph

LEVELS = ("none", "basic", "extended", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help="an .onnx model, or another graph with ONNX operators")
    parser.add_argument(
        "rules", nargs="?", help="a .gsl file, a folder, `-`, or a shipped module such as std.onnxruntime"
    )
    add_run_options(parser)
    add_input_options(parser)
    add_latency_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--report", metavar="FILE", help="write a report of the run and the times as JSON")
    add_graph_options(parser)
    add_extern_option(parser)


def add_latency_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--provider", default="cpu", metavar="NAME",
        help="onnxruntime's execution provider, such as cpu or cuda (cpu)",
    )
    parser.add_argument(
        "--level", choices=LEVELS, default="all",
        help="onnxruntime's own graph optimization level (all, its default)",
    )
    parser.add_argument(
        "--threads", type=natural, default=0, metavar="N",
        help="number of threads for each operator (onnxruntime's default)",
    )
    parser.add_argument(
        "--warm-up", type=natural, default=5, metavar="N", help="warm-up runs of each (5)"
    )
    parser.add_argument(
        "--rounds", type=positive, metavar="N",
        help="number of rounds (as many as fit into --seconds, at least 11)",
    )
    parser.add_argument("--seconds", type=seconds, default=10.0, metavar="S", help="time to measure (10)")


def run(options: argparse.Namespace) -> int:
    from gslang.formats.onnx.latency import Setting, full_provider

    if wrong := _conflict(options):
        raise Refusal(f"gslc bench: {wrong}\n")
    sizes = dict(options.dim)
    if options.report is not None:
        refuse_output(options.report)
    rules = None if options.rules is None else usable_rules([options.rules], options)
    graph = load_graph(options.graph, options, None if rules is None else rules.dialect)
    refuse_unknown_sizes(graph, sizes)
    refuse_without_runtime(graph, options.graph)
    setting = Setting(
        full_provider(options.provider), options.level, options.threads, options.warm_up, options.rounds,
        options.seconds,
    )
    options.backend = "onnxruntime"
    result = None if rules is None else _rewritten(rules, graph, options)
    code = ExitCode.FINE if result is None else ExitCode(show_problems(result))
    if code != ExitCode.FINE:
        return code
    latency = latency_of(graph, None if result is None else result.graph, options, sizes, setting)
    report = latency.report()
    if result is not None:
        result.latency = report
    if options.report is not None:
        from gslang.cli.text_output import write_output

        whole = result.report() if result is not None else {"latency": report}
        write_output(json_text(whole), options.report)
    sys.stdout.write(json_text(report) if options.format == "json" else as_text(latency))
    return ExitCode.FINE


def _conflict(options: argparse.Namespace) -> str | None:
    """The error message for options that contradict each other, or None."""
    if options.graph.lower().endswith(".gsl"):
        return (
            f"{options.graph} is a rule file, not a model\n  help: the model comes first: gslc bench MODEL "
            "RULES"
        )
    if options.report == "-":
        return "the report must be written to a file\n  help: --report report.json, or --format json"
    refuse_two_stdins(options.rules or "", options.graph)
    read = {
        "the model": options.graph,
        "the rules": options.rules,
        "the input parameters": options.params,
        "the inputs": options.inputs,
    }
    wrong = shared_file({"the report": options.report}, read)
    return wrong.rstrip() if wrong else None


def _rewritten(rules: RuleSet, graph: Graph, options: argparse.Namespace) -> Result:
    from gslang.engine.fixed_point import Progress

    progress = Progress()
    with shown(progress):
        return rules.apply(graph, **run_options(options), progress=progress)
