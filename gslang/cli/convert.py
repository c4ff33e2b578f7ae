"""Convert a graph between formats: gslc convert graph.relay -o graph.json (or .dot)"""

from __future__ import annotations

import argparse

from gslang.cli.main import ExitCode
from gslang.cli.shared import add_graph_options, load_graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help="a .json, .relay or .onnx graph")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".json, .relay, .onnx or .dot")
    parser.add_argument("--external", choices=("keep", "copy", "inline"), default="keep", help="external data of an ONNX model (keep)")
    parser.add_argument("--output-format", metavar="F", help="json, relay or dot, where the suffix does not tell")
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    from gslang.formats.registry import write_graph

    write_graph(load_graph(options.graph, options), options.output, options.output_format, external=options.external)
    return ExitCode.FINE
