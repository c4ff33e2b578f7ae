"""Compare two graphs up to names: gslc diff a.json b.relay

Lists all differences, then the nodes that occur in only one of the graphs. The exit code is 0 if the graphs
are equal, and 1 otherwise.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.json_text import json_text
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.refusals import refuse_output, refuse_two_stdins, shared_file
from gslang.cli.shared import add_graph_options, load_graph

if TYPE_CHECKING:
    from gslang.graph.graph import Graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", help="a .json, .relay or .onnx graph")
    parser.add_argument("b", help="the other graph")
    parser.add_argument(
        "--format", choices=("text", "json", "html"), default="text",
        help="html: a page with both graphs side by side",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="output file (stdout)")
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    from gslang.cli.text_output import write_output
    from gslang.dialect.load import load_dialect
    from gslang.graph.compare import count_calls, differences

    refuse_two_stdins(options.a, options.b, "the two graphs")
    if options.output not in (None, "-"):
        refuse_output(options.output)
    if wrong := shared_file(
        {"the result": options.output}, {"the first graph": options.a, "the second graph": options.b}
    ):
        raise Refusal(f"gslc diff: {wrong}")
    a, b = load_graph(options.a, options), load_graph(options.b, options)
    mixed = Path(options.a).suffix.lower() != Path(options.b).suffix.lower()
    found = differences(
        a, b, dialect=load_dialect(a.dialect), limit=None, across_formats=mixed, annotations=True
    )
    only_a, only_b = _only_in_one(a, b) if found else ([], [])
    if options.format == "html":
        from gslang.view.difference import difference_data
        from gslang.view.page import page

        title = f"{Path(options.a).name} and {Path(options.b).name}"
        write_output(page(difference_data(a, b, title)), options.output)
    elif options.format == "json":
        before, after = count_calls(a), count_calls(b)
        table = {
            "equal": not found, "differences": found,
            "only_in_first": [_node(a, n) for n in only_a], "only_in_second": [_node(b, n) for n in only_b],
            "calls": {name: [before.get(name, 0), after.get(name, 0)] for name in sorted({*before, *after})},
        }  # fmt: skip
        write_output(json_text(table), options.output)
    else:
        lines = [*found, *_listed(a, only_a, "first"), *_listed(b, only_b, "second")]
        write_output("".join(f"{line}\n" for line in lines), options.output)
    return ExitCode.FINDINGS if found else ExitCode.FINE


def _only_in_one(a: Graph, b: Graph) -> tuple[list[int], list[int]]:
    """Reachable nodes without a counterpart in the other graph."""
    from gslang.graph.correspond import correspondence

    to_b = correspondence(a, b)
    there = set(to_b.values())
    return [n for n in a.reverse_post_order() if n not in to_b], [
        n for n in b.reverse_post_order() if n not in there
    ]


def _listed(graph: Graph, nodes: list[int], which: str) -> list[str]:
    return [f"only in the {which} graph: {graph.op[n].lstrip('%')} `{graph.label(n)}`" for n in nodes]


def _node(graph: Graph, node: int) -> dict[str, str]:
    return {"id": graph.label(node), "op": graph.op[node].lstrip("%")}
