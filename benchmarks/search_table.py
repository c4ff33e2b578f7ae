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
from time import process_time

import numpy as np

import gslang
from benchmarks.search_graphs import graph_of
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.versions import OPSETS
from gslang.dialect.tensor_type import TensorType
from gslang.formats.onnx.runtime import newest_opset
from gslang.graph.graph import PARAM, Graph
from gslang.search.backtrack import neighbours
from gslang.search.cost.graph_cost import Prices
from gslang.search.cost.measured import seconds_of
from gslang.search.cost.relay_in_onnx import relay_in_onnx
from gslang.search.cost.tables import table_of
from gslang.search.search import Settings, search

TENSAT = ("nasrnn", "bert", "resnext50", "nasneta", "squeezenet", "vgg", "inceptionv3")
SETTINGS = {
    "greedy": Settings("greedy"),
    "backtrack 1.0": Settings("backtrack", alpha=1.0),
    "backtrack 1.05": Settings("backtrack", alpha=1.05),
    "eqsat": Settings("eqsat"),
}
VARIANTS = 30


def rules_of() -> tuple[Dialect, list[CheckedRule]]:
    loaded = gslang.load("std.taso")
    (step,) = loaded.steps(None, None, ())
    return loaded.dialect, [loaded.known[name] for name in step.rules]


def methods(tables: Sequence[str], names: Sequence[str]) -> None:
    dialect, rules = rules_of()
    print(
        f"| graph | table | original | {' | '.join(SETTINGS)} | e-nodes | seconds ({', '.join(SETTINGS)}) |"
    )
    for name in names:
        graph = graph_of(name)
        for table_name in tables:
            table = table_of(table_name)
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


def runnable(graph: Graph, dialect: Dialect) -> Graph:
    """In ONNX operators, with small random weights."""
    copy = graph.copy()
    rng = np.random.default_rng(0)
    for node in copy.reverse_post_order():
        type = copy.types[node]
        if copy.op[node] is PARAM and isinstance(type, TensorType):
            copy.values[node] = (rng.random(type.shape, dtype=np.float32) - 0.5) * 0.1
    result = relay_in_onnx(copy, dialect)
    result.meta[OPSETS] = {"": newest_opset(), "com.microsoft": 1}
    return result


def ranks(values: Sequence[float]) -> np.ndarray:
    return np.argsort(np.argsort(values)).astype(float)


def latency(names: Sequence[str]) -> None:
    dialect, rules = rules_of()
    table = table_of("ort-cpu")
    print(
        "| graph | variants | predicted ms | measured ms | rank correlation | chosen / original, measured |"
    )
    for name in names:
        graph = graph_of(name)
        prices = Prices(dialect, table, None)
        found = variants(graph, dialect, rules, prices, VARIANTS)
        predicted = [cost for variant in found if (cost := prices.total(variant)) is not None]
        measured = [seconds_of(runnable(variant, dialect), "basic") * 1e6 for variant in found]
        chosen = search(graph, dialect, rules, table).graph
        pair = [min(seconds_of(runnable(g, dialect), "all") for _ in range(3)) for g in (chosen, graph)]
        correlation = float(np.corrcoef(ranks(predicted), ranks(measured))[0, 1])
        print(
            f"| {name} | {len(found)} | {min(predicted) / 1e3:.2f} to {max(predicted) / 1e3:.2f} |"
            f" {min(measured) / 1e3:.2f} to {max(measured) / 1e3:.2f} | {correlation:.2f} | "
            f"{pair[0] / pair[1]:.3f} |",
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
