"""Search on the graphs of Tensat's table: costs by method, and how well `ort-cpu` predicts onnxruntime.

    python -m benchmarks.search_table methods flops,bytes,ort-cpu [GRAPH …]
        lines for docs/search.md, one for each graph and table
    python -m benchmarks.search_table latency [GRAPH …]
        rank correlation over variants; chosen against original

Rules: `std.taso`, whatever their verdict (`--require any`), so that no verifying is timed. Seconds are of
processor time.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from statistics import median
from time import process_time

import numpy as np

import gslang
from benchmarks.search_graphs import graph_of
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.graph.graph import Graph
from gslang.search.backtrack import neighbours
from gslang.search.cost.graph_cost import Prices
from gslang.search.cost.measured import seconds_of
from gslang.search.cost.tables import CostTable, table_of
from gslang.search.cost.whole_graph import runnable
from gslang.search.search import Settings, search

TENSAT = ("nasrnn", "bert", "resnext50", "nasneta", "squeezenet", "vgg", "inceptionv3")
SETTINGS = {
    "greedy": Settings("greedy"),
    "backtrack 1.0": Settings("backtrack", alpha=1.0),
    "backtrack 1.05": Settings("backtrack", alpha=1.05),
    "eqsat": Settings("eqsat"),
}
VARIANTS = 30
ROUNDS = 4  # of measurements


def rules_of() -> tuple[Dialect, list[CheckedRule]]:
    loaded = gslang.load("std.taso")
    (step,) = loaded.steps(None, None, ())
    return loaded.dialect, [loaded.known[name] for name in step.rules]


class Sums:
    """The costs of a table, without measurements of whole graphs."""

    def __init__(self, table: CostTable) -> None:
        self.name, self.unit, self.weights, self.cost = table.name, table.unit, table.weights, table.cost


def methods(tables: Sequence[str], names: Sequence[str]) -> None:
    dialect, rules = rules_of()
    print(
        f"| graph | table | original | {' | '.join(SETTINGS)} | e-nodes | seconds ({', '.join(SETTINGS)}) |"
    )
    for name in names:
        graph = graph_of(name)
        for table_name in tables:
            table = Sums(table_of(table_name))
            Prices(dialect, table, None).total(graph)  # what is measured is measured before the clock runs
            costs, seconds, nodes = [], [], 0
            for settings in SETTINGS.values():
                began = process_time()
                found = search(graph, dialect, rules, table, settings)
                seconds.append(process_time() - began)
                costs.append(found.cost)
                nodes = found.nodes
            print(
                f"| {name} | {table_name} | {found.before:.6g} | "
                f"{' | '.join(f'{cost / found.before:.5f}' for cost in costs)} | {nodes} |"
                f" {', '.join(f'{s:.1f}' for s in seconds)} |", flush=True,
            )


def variants(
    graph: Graph, dialect: Dialect, rules: list[CheckedRule], prices: Prices, count: int
) -> list[Graph]:
    """The graph, and others that random applications lead to."""
    random_number = random.Random(0)
    found, now = [graph], graph
    while len(found) < count:
        start = graph if len(found) % 10 == 0 else now
        following = [after for _, after in neighbours(start, dialect, rules, prices)] or [graph]
        now = random_number.choice(following)
        found.append(now)
    return found


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's."""
    ranks = [np.argsort(np.argsort(values)).astype(float) for values in (a, b)]
    return float(np.corrcoef(*ranks)[0, 1])


def interleaved(graphs: Sequence[Graph], dialect: Dialect, level: str, rounds: int) -> list[list[float]]:
    """For each graph its seconds in each round; all graphs take their turn in a round, so that whatever else
    the machine does meets all of them.
    """
    found: list[list[float]] = [[] for _ in graphs]
    for _ in range(rounds):
        for graph, seconds in zip(graphs, found):
            seconds.append(seconds_of(runnable(graph, dialect), level))
    return found


def latency(names: Sequence[str]) -> None:
    dialect, rules = rules_of()
    table = Sums(table_of("ort-cpu"))
    print(
        "| graph | variants | predicted ms | measured ms | rank correlation | of measurements repeated |"
        " chosen / original, measured (least and most of the rounds) |"
    )
    for name in names:
        graph = graph_of(name)
        prices = Prices(dialect, table, None)
        priced = [(prices.total(g), g) for g in variants(graph, dialect, rules, prices, VARIANTS)]
        found = [(cost, g) for cost, g in priced if cost is not None]
        predicted = [cost / 1e3 for cost, _ in found]
        rounds = interleaved([g for _, g in found], dialect, "basic", ROUNDS)
        measured = [median(seconds) * 1e3 for seconds in rounds]
        half = [[median(seconds[k::2]) for seconds in rounds] for k in range(2)]
        chosen, original = interleaved(
            [search(graph, dialect, rules, table).graph, graph], dialect, "all", 2 * ROUNDS
        )
        ratios = [a / b for a, b in zip(chosen, original)]
        print(
            f"| {name} | {len(found)} | {min(predicted):.2f} to {max(predicted):.2f} |"
            f" {min(measured):.2f} to {max(measured):.2f} | {rank_correlation(predicted, measured):.2f} |"
            f" {rank_correlation(*half):.2f} |"
            f" {median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}) |",
            flush=True,
        )


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "methods":
        methods(rest[0].split(","), rest[1:] or TENSAT)
    else:
        latency(rest or TENSAT)


if __name__ == "__main__":
    main()
