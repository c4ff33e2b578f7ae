"""Compute the cost of a graph: gslc cost GRAPH

Prints the cost of each operator and the total by a cost table (`flops`, `bytes`, `roofline`, `ort-cpu`, or a
.tsv file), together with multiply-adds, bytes, parameters and peak activation memory.

Exit codes: 0 success; 2 usage error; 3 a file cannot be used, or a call has no cost.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from gslang.base.open_types import JsonDict
from gslang.cli.main import ExitCode
from gslang.cli.option_types import named_size
from gslang.cli.paint import painter
from gslang.cli.shared import add_graph_options, load_graph

if TYPE_CHECKING:
    from gslang.graph.graph import Graph
    from gslang.search.cost.graph_cost import GraphCost
    from gslang.search.cost.tables import CostTable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", help="a .json, .relay or .onnx graph")
    add_cost_options(parser)
    parser.add_argument("--calls", action="store_true", help="print a line per call, not per operator")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_graph_options(parser)


def add_cost_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cost", default="flops", metavar="NAME|FILE",
        help="flops (the default), bytes, roofline, ort-cpu, or a .tsv file",
    )
    parser.add_argument(
        "--weights", choices=("free", "concat-free", "charged"),
        help="cost of calls that depend on weights only: free (can be precomputed), free for concatenation, "
        "or charged like all calls (the default for a file)",
    )
    parser.add_argument(
        "--dim", type=named_size, action="append", default=[], metavar="NAME=N",
        help="size of a symbolic dimension (may be repeated)",
    )


def run(options: argparse.Namespace) -> int:
    from gslang.base.diagnostics import InputError
    from gslang.cli.numbers import refuse_unknown_sizes
    from gslang.dialect.load import load_dialect
    from gslang.search.cost.graph_cost import graph_cost, with_sizes
    from gslang.search.cost.tables import table_of
    from gslang.search.cost.work import UnknownCost

    sizes = dict(options.dim)
    table = table_of(options.cost)
    graph = load_graph(options.graph, options)
    refuse_unknown_sizes(graph, sizes)
    dialect = load_dialect(graph.dialect)
    graph = with_sizes(graph, dialect, sizes)
    try:
        cost = graph_cost(graph, dialect, table, options.weights)
    except UnknownCost as error:
        raise InputError(str(error), path=options.graph) from None
    if options.format == "json":
        sys.stdout.write(_as_json(graph, cost, table, options.calls))
    else:
        sys.stdout.write(_as_text(graph, cost, table, options))
    return ExitCode.FINE


def _rows(graph: Graph, cost: GraphCost, calls: bool) -> list[JsonDict]:
    """For each call, or for each operator (dearest first): how many, cost, multiply-adds, bytes."""
    rows: dict[str, JsonDict] = {}
    for call in cost.calls:
        name = graph.label(call.node) if calls else call.operator
        row = rows.setdefault(
            name, {"operator": call.operator, "calls": 0, "cost": 0.0, "macs": 0, "bytes": 0}
        )
        if calls:
            row["node"] = name
        row["calls"] += 1
        row["cost"] += call.cost
        if call.work is not None:
            row["macs"] += call.work.macs
            row["bytes"] += call.work.moved
    return (
        list(rows.values()) if calls
        else sorted(rows.values(), key=lambda row: (-row["cost"], row["operator"]))
    )


def _as_text(graph: Graph, cost: GraphCost, table: CostTable, options: argparse.Namespace) -> str:
    calls, paint = options.calls, painter(options, sys.stdout)
    unit = f" ({table.unit})" if table.unit else ""
    lines = [paint(
        "head",
        f"{'node' if calls else 'operator':<36}{'calls':>7}{'cost' + unit:>22}"
        f"{'multiply-adds':>18}{'bytes':>16}",
    )]
    for row in _rows(graph, cost, calls):
        name = f"{row['node']}: {row['operator']}" if calls else row["operator"]
        lines.append(f"{name:<36}{row['calls']:>7}{row['cost']:>22,.6g}{row['macs']:>18,}{row['bytes']:>16,}")
    lines.append(paint(
        "count", f"{'total':<36}{len(cost.calls):>7}{cost.cost:>22,.6g}{cost.macs:>18,}{cost.moved:>16,}"
    ))
    peak = "not known" if cost.peak is None else f"{cost.peak:,} bytes"
    lines.append(f"{cost.parameters:,} parameters; peak activation memory {peak}")
    return "\n".join(lines) + "\n"


def _as_json(graph: Graph, cost: GraphCost, table: CostTable, calls: bool) -> str:
    report = {
        "table": table.name,
        "unit": table.unit,
        "cost": cost.cost,
        "macs": cost.macs,
        "operations": cost.operations,
        "bytes": cost.moved,
        "parameters": cost.parameters,
        "peak_activation_bytes": cost.peak, ("calls" if calls else "operators"): _rows(graph, cost, calls),
    }
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"
