"""Convert a graph between formats: gslc convert graph.relay -o graph.json (or .dot)"""

from __future__ import annotations

import argparse
import sys

from gslang.cli.graph_output import add_output_options, output_graph
from gslang.cli.main import ExitCode
from gslang.cli.refusals import graph_takes_place, refuse_graph_output
from gslang.cli.shared import add_graph_options, load_graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help="a .json, .relay or .onnx graph")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".json, .relay, .onnx or .dot")
    add_output_options(parser)
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    refuse_graph_output(options)
    if wrong := graph_takes_place(options, {}):
        sys.stderr.write(f"gslc convert: {wrong}")
        return ExitCode.USAGE
    graph = load_graph(options.graph, options)
    output_graph(graph, options, "relay" if graph.dialect == "relay" else "json")
    return ExitCode.FINE
