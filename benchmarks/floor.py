"""PASS or FAIL for each promise about speed: `python -m benchmarks.floor [--nodes N] [--large]`.

Ratios against tinygrad (at least 3) and onnxscript (at least 10) on each job, the distance to a loop written
by hand (at most 4), time per node from 10,000 nodes on (flat), and memory per node beyond the graph. All in
one run, tools in turn; absolute times mean little. Not a test: a busy machine may fail it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.measure import ROOT, Cell, Limits, Row, run_cells

LEAST = {"tinygrad": 3.0, "onnxscript": 10.0}
HAND_AT_MOST = 4.0
FLAT_AT_MOST = 1.3
BYTES_AT_MOST = 1000.0
# job → peers, each with the job of gslang that does the same work as it does
COMPARED = {
    "convbn": ["tinygrad"],
    "convbn_fold": ["onnxscript"],
    "tt": ["tinygrad", "onnxscript", "hand"],
    "ident": ["tinygrad", "onnxscript"],
    "parmm": ["tinygrad", "onnxscript"],
    "parconv": ["tinygrad", "onnxscript"],
    "none": ["tinygrad", "onnxscript"],
}


def say(ok: bool, what: str) -> bool:
    print(f"{'PASS' if ok else 'FAIL'}  {what}", flush=True)
    return ok


def seconds(row: Row) -> float | None:
    """Processor time: other processes disturb it less than the clock on the wall, and all these tools use one
    thread.
    """
    return row.median("rewrite_cpu_s")


def ratio_line(ours: Row, theirs: Row, limits: Limits) -> bool:
    """One peer on one job."""
    job, nodes, tool = ours.cell.job, ours.cell.nodes, theirs.cell.tool
    mine, other = seconds(ours), seconds(theirs)
    if mine is None:
        return say(False, f"{job} {nodes}: gslang {ours.failure}")
    at_least = other is None and theirs.failure.startswith(">")
    if other is None and not at_least:
        print(f"----  {job} {nodes}: {tool} {theirs.failure}", flush=True)
        return True
    ratio = (other if other is not None else limits.seconds) / mine
    times = f"{mine * 1e3:.1f} ms, {tool} {'>' if at_least else ''}{(other or limits.seconds) * 1e3:.1f} ms"
    doubt = "" if theirs.complete or at_least else f"; {tool} did not rewrite everything"
    if tool == "hand":
        return say(
            1 / ratio <= HAND_AT_MOST,
            f"{job} {nodes}: {1 / ratio:.2f}× the loop by hand, at most {HAND_AT_MOST:g} ({times})",
        )
    return say(
        ratio >= LEAST[tool],
        f"{job} {nodes}: {ratio:.1f}× faster than {tool}, at least {LEAST[tool]:g} ({times}{doubt})",
    )


def compare(jobs: list[str], nodes: int, rounds: int, limits: Limits) -> bool:
    ok = True
    for job in jobs:
        rows = run_cells([Cell(tool, job, nodes) for tool in ("gslang", *COMPARED[job])], rounds, limits)
        ours = rows[0]
        ok &= say(bool(ours.complete), f"{job} {nodes}: gslang found all matches")
        for theirs in rows[1:]:
            ok &= ratio_line(ours, theirs, limits)
        if job in ("parmm", "parconv"):  # what tinygrad does: one output, no split
            rooted, peer = run_cells(
                [Cell("gslang", f"{job}_root", nodes), Cell("tinygrad", job, nodes)], rounds, limits
            )
            ok &= ratio_line(rooted, peer, limits)
    return ok


def flat(jobs: list[str], sizes: list[int], rounds: int, limits: Limits) -> bool:
    """Time per node at each size against that at the first; sizes take turns too."""
    ok = True
    for job in jobs:
        rows = run_cells([Cell("gslang", job, nodes) for nodes in sizes], rounds, limits)
        first = seconds(rows[0])
        for row in rows[1:]:
            mine, nodes = seconds(row), row.cell.nodes
            if mine is None or first is None:
                ok &= say(False, f"{job} {nodes}: gslang {row.failure}")
                continue
            growth = (mine / nodes) / (first / sizes[0])
            per_node = f"{first / sizes[0] * 1e6:.2f} → {mine / nodes * 1e6:.2f} µs"
            ok &= say(
                growth <= FLAT_AT_MOST,
                f"{job}: time per node ×{growth:.2f} from {sizes[0]} to {nodes}, at most {FLAT_AT_MOST:g} "
                f"({per_node})",
            )
    return ok


def memory(jobs: list[str], nodes: int) -> bool:
    """Bytes per node that rewriting takes at its peak beyond the graph that was read, its copy included."""
    ok = True
    for job in jobs:
        command = [sys.executable, "-m", "benchmarks.memory", job, str(nodes)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if run.returncode:
            ok &= say(False, f"{job} {nodes}: memory: {run.stderr.strip().splitlines()[-1:]}")
            continue
        graph, beyond = map(float, run.stdout.split())
        what = (
            f"{job} {nodes}: {beyond:.0f} bytes per node beyond the graph's {graph:.0f}, at most "
            f"{BYTES_AT_MOST:g}"
        )
        ok &= say(beyond <= BYTES_AT_MOST, what)
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--jobs", nargs="+", default=list(COMPARED), choices=COMPARED)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for each process")
    parser.add_argument("--large", action="store_true", help="up to 1,000,000 nodes")
    parser.add_argument("--only", choices=("ratios", "flat", "memory"))
    a = parser.parse_args()
    limits = Limits(a.timeout, patience=a.timeout)
    ok = True
    if a.only in (None, "ratios"):
        for nodes in a.nodes:
            ok &= compare(a.jobs, nodes, a.rounds, limits)
    if a.only in (None, "flat"):
        ok &= flat(
            a.jobs, [10_000, 100_000, *([1_000_000] if a.large else [])], min(a.rounds, 3),
            Limits(600.0 if a.large else 120.0, patience=120.0),
        )
    if a.only in (None, "memory"):
        ok &= memory(a.jobs, 10_000)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
