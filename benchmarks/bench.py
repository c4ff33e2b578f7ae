"""The whole comparison: `python -m benchmarks.bench` (`make bench`, `make bench-large`).

For each job and size all tools in turn, each in fresh processes; first steps inside the process, then whole
processes. A tool that fails on a job is not tried on its larger sizes. Results go to
`benchmarks/work/results/`: JSON lines as they come, then `tables.md` and `time_per_node.svg`.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.families import FAMILY_OF_JOB
from benchmarks.measure import Cell, Limits, Row, run_cells
from benchmarks.models import WORK
from benchmarks.report import plot, tables
from benchmarks.tools import TOOLS

JOBS = tuple(FAMILY_OF_JOB)
SIZES = (1000, 10_000, 100_000)
LARGE = 1_000_000
PACKAGES = (
    "gslang", "tinygrad", "xdsl", "onnx", "onnxscript", "onnxoptimizer", "onnxsim", "onnxruntime", "torch",
    "apache-tvm",
)


def versions() -> dict[str, str]:
    """What is measured, for the record."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def run(
    jobs: Sequence[str],
    sizes: Sequence[int],
    tools: Sequence[str],
    modes: Sequence[bool],
    rounds: int,
    limits: Limits,
    out: Path,
) -> list[dict[str, object]]:
    """All cells; rows are written to `out` as they come."""
    failed: set[tuple[str, str, bool]] = set()
    rows: list[dict[str, object]] = []
    with out.open("w", encoding="utf-8") as file:
        for job in jobs:
            for nodes in sizes:
                for whole in modes:
                    cells = [
                        Cell(tool, job, nodes, whole) for tool in tools if (tool, job, whole) not in failed
                    ]
                    for row in run_cells(
                        cells, rounds, limits, lambda line: print(line, file=sys.stderr, flush=True)
                    ):
                        rows.append(record(row, failed))
                        file.write(json.dumps(rows[-1]) + "\n")
                        file.flush()
    return rows


def record(row: Row, failed: set[tuple[str, str, bool]]) -> dict[str, object]:
    if row.failure:
        failed.add((row.cell.tool, row.cell.job, row.cell.whole))
    return row.as_json()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", nargs="+", default=list(JOBS), choices=JOBS)
    parser.add_argument(
        "--tools", nargs="+", default=[name for name in TOOLS if name != "hand"], choices=TOOLS
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} nodes as well")
    parser.add_argument("--mode", choices=("inside", "whole", "both"), default="both")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each process")
    parser.add_argument("--memory-mb", type=int, default=16_000, help="address space of each process")
    parser.add_argument("--out", type=Path, default=WORK / "results")
    parser.add_argument(
        "--only-report", action="store_true", help="tables and plot from results that are there"
    )
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    lines = a.out / "results.jsonl"
    if a.only_report:
        rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    else:
        sizes = [*a.nodes, *([LARGE] if a.large and LARGE not in a.nodes else [])]
        limits = Limits(a.timeout * (10 if a.large else 1), a.memory_mb, patience=a.timeout / 3)
        modes = {"inside": (False,), "whole": (True,), "both": (False, True)}[a.mode]
        rows = run(a.jobs, sizes, a.tools, modes, a.rounds, limits, lines)
    text = tables(rows, versions())
    (a.out / "tables.md").write_text(text, encoding="utf-8")
    print(text)
    plot(rows, a.out / "time_per_node.svg")
    print(f"written to {a.out}")


if __name__ == "__main__":
    main()
