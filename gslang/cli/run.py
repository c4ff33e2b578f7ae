"""Evaluate a graph: gslc run graph.json --inputs x.npz -o y.npz"""

from __future__ import annotations

import argparse
import sys

from gslang.base.diagnostics import InputError
from gslang.cli.inputs import inputs_for
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.numbers import add_number_options, outputs_of, refuse_unknown_sizes
from gslang.cli.refusals import refuse_weights_output, shared_file
from gslang.cli.shared import add_graph_options, load_graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help="a .json, .relay or .onnx graph")
    parser.add_argument("-o", "--output", metavar="OUT", help="write the outputs as out0, out1, … (.npz)")
    add_number_options(parser)
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    from gslang.dialect.load import load_dialect
    from gslang.evaluate.errors import EvaluationError
    from gslang.formats.weights import write_weights

    dims = dict(options.dim)
    if options.output is not None:
        refuse_weights_output(options.output)
        if wrong := shared_file(
            {"the outputs": options.output},
            {"the graph": options.graph, "the inputs": options.inputs, "the parameters": options.params},
        ):
            raise Refusal(f"gslc run: {wrong}")
    graph = load_graph(options.graph, options)
    refuse_unknown_sizes(graph, dims)
    dialect = load_dialect(graph.dialect)
    try:
        inputs = inputs_for(graph, dialect, options, dims)
        values = outputs_of(graph, dialect, inputs, options.backend)
    except EvaluationError as error:
        raise InputError(str(error), path=options.graph) from None
    flat: list[object] = []
    stack = list(reversed(values))
    while stack:
        value = stack.pop()
        if isinstance(value, (tuple, list)):
            stack.extend(reversed(value))
        else:
            flat.append(value)
    if options.output is not None:
        write_weights(options.output, {f"out{k}": value for k, value in enumerate(flat) if value is not None})
        return ExitCode.FINE
    import numpy

    for k, value in enumerate(flat):
        if value is None:
            sys.stdout.write(f"out{k}: none\n")
            continue
        array = numpy.asarray(value)
        shown = numpy.array2string(array, threshold=20, precision=6)
        sys.stdout.write(f"out{k}: {array.dtype}{list(array.shape)}\n{shown}\n")
    return ExitCode.FINE
