"""Where a graph goes: a file or standard output, and for Relay text, which has no place for them, values of
parameters beside it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.atomic_write import together

if TYPE_CHECKING:
    from gslang.graph.graph import Graph


def add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output-format", metavar="F",
        help="json, relay, onnx, onnxtxt, dot, svg or png (that of the input, or by OUT's suffix)",
    )
    parser.add_argument(
        "--external", choices=("keep", "copy", "inline"), default="keep",
        help="how to write external data of an ONNX model (keep)",
    )
    parser.add_argument(
        "--output-params", metavar="FILE",
        help="file for the values of parameters if OUT is Relay text (OUT with .npz)",
    )


def output_graph(graph: Graph, options: argparse.Namespace, to_stdout: str) -> None:
    """Write a graph where `-o` and its like say, and its parameters beside it: both or none; `to_stdout` is
    the format for standard output.

    Raises `InputError`.
    """
    with together():
        _output(graph, options, to_stdout)


def target_format(options: argparse.Namespace, graph: Graph) -> str:
    """The format that the graph is written in: by default that in which it came."""
    from gslang.formats.registry import format_of

    if options.output is not None and options.output != "-":
        return format_of(options.output, options.output_format)
    from gslang.formats.onnx.records import model_record

    read_as = (
        format_of(options.graph, options.input_format) if options.graph != "-"
        else "relay" if "relay" in graph.meta
        else "json" if model_record(graph) is None
        else "onnx"
    )
    return str(options.output_format or options.input_format or read_as)


def _output(graph: Graph, options: argparse.Namespace, to_stdout: str) -> None:
    from gslang.formats.left_out import left_out
    from gslang.formats.registry import format_of, write_graph

    path: str | None = options.output if options.output != "-" else None
    name = options.output_format or (to_stdout if path is None else format_of(path))
    for message in left_out(graph, name):
        sys.stderr.write(f"warning: {message}\n")
    if name == "relay":  # first of all, so that the graph is there when all is
        _write_weights(
            graph,
            options.output_params or (str(Path(path).with_suffix(".npz")) if path is not None else None),
        )
    write_graph(graph, path, name, external=options.external)


def _write_weights(graph: Graph, path: str | None) -> None:
    from gslang.formats.weights import param_values, write_weights

    values = param_values(graph)
    if not values:
        return
    what = f"value{'s' * (len(values) != 1)} of {len(values)} parameter{'s' * (len(values) != 1)}"
    if path is None:
        sys.stderr.write(
            f"warning: Relay text cannot represent the {what}\n  help: --output-params weights.npz, or -o\n"
        )
        return
    write_weights(path, values)
    sys.stderr.write(f"{what} {'is' if len(values) == 1 else 'are'} in {path}\n")
