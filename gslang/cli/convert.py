"""Convert a graph between formats: gslc convert graph.relay -o graph.json (or .onnx, .dot, .svg, .png, .html)
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gslang.cli.graph_output import add_output_options, output_graph
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.refusals import graph_takes_place, refuse_graph_output, refuse_output, shared_file
from gslang.cli.shared import add_graph_options, load_graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help="a .json, .relay or .onnx graph")
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT",
        help="the output: .json, .relay, .onnx; a picture: .dot, .svg, .png; a page: .html",
    )
    add_output_options(parser)
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    as_page = (
        options.output_format == "html" or options.output_format is None
        and Path(options.output).suffix.lower() in (".html", ".htm")
    )
    if as_page:
        return _page(options)
    refuse_graph_output(options)
    if wrong := graph_takes_place(options, {}):
        raise Refusal(f"gslc convert: {wrong}")
    graph = load_graph(options.graph, options)
    output_graph(graph, options, "relay" if graph.dialect == "relay" else "json")
    return ExitCode.FINE


def _page(options: argparse.Namespace) -> int:
    """The graph as a page, as `gslc view` writes it."""
    from gslang.cli.text_output import write_output
    from gslang.view.history import History
    from gslang.view.page import page
    from gslang.view.page_data import graph_data

    if options.output != "-":
        refuse_output(options.output)
    if wrong := shared_file(
        {"the page": options.output},
        {"the graph": options.graph, "the input parameters": options.params},
    ):
        raise Refusal(f"gslc convert: {wrong}")
    graph = load_graph(options.graph, options)
    write_output(
        page(graph_data(History(graph), "stdin" if options.graph == "-" else Path(options.graph).name)),
        options.output,
    )
    return ExitCode.FINE
