"""Growth of a search with the graph and with the number of rules.

    python -m benchmarks.search_growth measure > FILE     a line for each measurement
    python -m benchmarks.search_growth plot FILE OUT.svg  draws them

Graphs are stacks of BERT's layers (`search_graphs.transformer`), 20 operators each, under the cost table
`roofline`. With a growing graph the rules are those of `std.taso.merge`, which join the products of each
layer and saturate. With growing rules (the first so many of `std.taso`) the graph has 1,000 operators, and
two rounds are run. Seconds are of processor time; memory is what the process has at its peak beyond what it
had with the graph made. Each measurement has a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from time import process_time

import gslang
from benchmarks.search_graphs import transformer
from gslang.search.cost.tables import table_of
from gslang.search.saturate import Limits
from gslang.search.search import Settings, search

OPERATORS = (1000, 2000, 5000, 10_000, 20_000, 50_000)
RULES = (10, 20, 40, 80, 141)
LAYER = 20


def measure(operators: int, count: int) -> str:
    """A line: operators, rules (0: those of `std.taso.merge`), e-nodes, seconds, MB, relative cost."""
    loaded = gslang.load("std.taso" if count else "std.taso.merge")
    rules = list(loaded.own.values())[: count or None]
    settings = Settings(limits=Limits(nodes=1_000_000, rounds=2 if count else 15))
    graph = transformer(operators // LAYER, length=16, width=32, heads=2)
    table = table_of("roofline")
    search(transformer(1, length=16, width=32, heads=2), loaded.dialect, rules, table, settings)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = process_time()
    found = search(graph, loaded.dialect, rules, table, settings)
    seconds = process_time() - began
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return (
        f"{operators}\t{count}\t{found.nodes}\t{seconds:.2f}\t{megabytes:.0f}\t"
        f"{found.cost / found.before:.4f}\t{found.stopped}"
    )


def measure_all() -> None:
    pairs = [*((operators, 0) for operators in OPERATORS), *((1000, count) for count in RULES)]
    for operators, count in pairs:
        command = [sys.executable, "-m", "benchmarks.search_growth", "one", str(operators), str(count)]
        subprocess.run(command, check=True)


# ── the plot ────────────────────────────────────────────────────────────────────────────────────────────────


WIDTH, HEIGHT, MARGIN = 300, 170, 46
SECONDS, MEMORY = "#1f6fb2", "#c2571a"


def plot(lines: list[list[str]]) -> str:
    """An SVG picture: on the left against operators, on the right against rules; seconds and MB as they are
    relative to the greatest, which is written beside its line.
    """
    graphs = [(int(line[0]), float(line[3]), float(line[4])) for line in lines if line[1] == "0"]
    rules = [(int(line[1]), float(line[3]), float(line[4])) for line in lines if line[1] != "0"]
    whole = 2 * (WIDTH + 2 * MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {HEIGHT + 2 * MARGIN}" '
        'font-family="sans-serif" font-size="11">\n'
        f'<rect width="{whole}" height="{HEIGHT + 2 * MARGIN}" fill="white"/>\n'
        + _panel(graphs, "operators of the graph", MARGIN)
        + _panel(rules, "rules, with 1,000 operators", 3 * MARGIN + WIDTH)
        + "</svg>\n"
    )


def _panel(points: list[tuple[int, float, float]], title: str, left: int) -> str:
    greatest = points[-1][0]
    bottom = MARGIN + HEIGHT
    parts = [
        f'<path d="M{left} {MARGIN}V{bottom}H{left + WIDTH}" fill="none" stroke="#888"/>',
        f'<text x="{left + WIDTH / 2}" y="{bottom + 34}" text-anchor="middle">{title}</text>',
    ]
    for x, _, _ in points:
        at = left + WIDTH * x / greatest
        if x * 8 >= greatest:
            parts.append(f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{x:,}</text>')
        parts.append(f'<path d="M{at:.1f} {bottom}v4" stroke="#888"/>')
    for k, colour, unit in ((1, SECONDS, "s"), (2, MEMORY, "MB")):
        most = max(point[k] for point in points) or 1.0
        places = [
            (left + WIDTH * point[0] / greatest, bottom - (HEIGHT - 20 * (k - 1)) * point[k] / most)
            for point in points
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        place = f'x="{x - 6:.1f}" y="{y - 6:.1f}" text-anchor="end"'
        parts.append(f'<text {place} fill="{colour}">{most:.0f} {unit}</text>')
    return "".join(f"{part}\n" for part in parts)


def main() -> None:
    what, *given = sys.argv[1:]
    if what == "one":
        print(measure(int(given[0]), int(given[1])), flush=True)
    elif what == "measure":
        measure_all()
    else:
        lines = [line.split("\t") for line in Path(given[0]).read_text(encoding="utf-8").splitlines()]
        Path(given[1]).write_text(plot(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
