"""PASS or FAIL for each promise about speed on ONNX files: `python -m benchmarks.onnx_floor [--nodes N]`.

A whole process of `gslc`, from file to file, takes no more processor time than one that lets onnxruntime
optimize the same file at its basic level. Rewriting alone is three times as fast as tinygrad's, or as fast as
that level where weights are folded, and takes 1.3 times as long a node at ten times the size, at most.
Processes take turns; the least of several runs counts, and only ratios do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks.floor import say
from benchmarks.measure import ROOT, Cell, Limits, Row, run_cells
from benchmarks.models import model_file

RULES = Path(__file__).parent / "rules" / "onnx"
JOBS = {"convbn": ["--fold"], "tt": [], "ident": [], "parmm": []}
FAMILIES = {"convbn": "cbr", "tt": "tt", "ident": "id", "parmm": "mm"}
# job → the tool that rewriting is compared with, and how many times as long it is to take
PEERS = {
    "convbn_fold": ("ort_basic", 1.0),
    "tt": ("tinygrad", 3.0),
    "ident": ("tinygrad", 3.0),
    "parmm": ("tinygrad", 3.0),
}
GROWTH_AT_MOST = 1.3
LIMITS = Limits(120.0, patience=120.0)
BASIC = """
import os, sys, onnxruntime
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
options.optimized_model_filepath, options.intra_op_num_threads, options.log_severity_level = sys.argv[2], 1, 4
onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
os._exit(0)
"""


def processor_seconds(command: list[str]) -> float:
    """Processor time of a process and what it starts. Raises `CalledProcessError`."""
    # installed packages have their bytecode, and so has a checkout after the first run
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compared(job: str, nodes: int, rounds: int) -> bool:
    model = str(model_file(FAMILIES[job], nodes, "onnx"))
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out.onnx")
        rules = str(RULES / f"{job}.gsl")
        ours = [sys.executable, "-c", "import gslang.cli.main as m, sys; sys.exit(m.main())"]
        basic = [sys.executable, "-c", BASIC, model, out]
        commands = ([*ours, rules, model, "-o", out, *JOBS[job]], basic)
        runs = [[processor_seconds(command) for command in commands] for _ in range(rounds + 1)][1:]
    mine, theirs = map(min, zip(*runs))
    ok = mine <= theirs
    times = f"{mine * 1e3:.0f} ms, onnxruntime basic {theirs * 1e3:.0f} ms"
    what = f"whole process ×{mine / theirs:.2f}, at most 1 ({times})"
    return say(ok, f"{job} {nodes}: {what}")


def least_seconds(row: Row) -> float | None:
    """The least processor time of rewriting; None if a run failed, or did not rewrite everything."""
    times = [run["rewrite_cpu_s"] for run in row.runs]
    return None if row.failure or row.complete is False else min(times)


def failure(*rows: Row) -> str:
    """Why there is nothing to compare."""
    return next((row.failure for row in rows if row.failure), "not everything that matches")


def rewriting(job: str, nodes: int, rounds: int) -> bool:
    """Rewriting alone, in processes that have run the rules before, against a peer's."""
    peer, least = PEERS[job]
    ours, theirs = run_cells([Cell("gslang_onnx", job, nodes), Cell(peer, job, nodes)], rounds, LIMITS)
    mine, other = least_seconds(ours), least_seconds(theirs)
    if mine is None or other is None:
        return say(False, f"{job} {nodes}: rewriting: {failure(ours, theirs)}")
    ok = other >= least * mine
    times = f"{mine * 1e3:.1f} ms, {peer} {other * 1e3:.1f} ms"
    what = f"rewriting {other / mine:.1f}× as fast as {peer}, at least {least:g} ({times})"
    return say(ok, f"{job} {nodes}: {what}")


def growth(job: str, nodes: int, rounds: int) -> bool:
    """Time per node of rewriting at ten times the size."""
    rows = run_cells([Cell("gslang_onnx", job, n) for n in (nodes, 10 * nodes)], rounds, LIMITS)
    small, large = map(least_seconds, rows)
    if small is None or large is None:
        return say(False, f"{job} {10 * nodes}: rewriting: {failure(*rows)}")
    grown = large / small / 10
    ok = grown <= GROWTH_AT_MOST
    per_node = f"{small / nodes * 1e6:.2f} → {large / nodes * 1e5:.2f} µs"
    what = f"time per node ×{grown:.2f} from {nodes} to {10 * nodes}, at most {GROWTH_AT_MOST:g} ({per_node})"
    return say(ok, f"{job}: {what}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("whole", "rewriting", "growth"))
    a = parser.parse_args()
    ok = True
    if a.only in (None, "whole"):
        ok &= all([compared(job, nodes, a.rounds) for nodes in a.nodes for job in JOBS])
    if a.only in (None, "rewriting"):
        ok &= all([rewriting(job, nodes, a.rounds) for nodes in a.nodes for job in PEERS])
    if a.only in (None, "growth"):
        ok &= all([growth(job, max(a.nodes), min(a.rounds, 3)) for job in PEERS])
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
