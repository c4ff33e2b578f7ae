"""PASS or FAIL for each promise about speed on ONNX files: `python -m benchmarks.onnx_floor [--nodes N]`.

A whole process of `gslc`, from file to file, takes no more processor time than one that lets onnxruntime
optimize the same file at its basic level. Processes take turns; the least of several runs counts, and only
ratios do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks.measure import ROOT
from benchmarks.models import model_file

RULES = Path(__file__).parent / "rules" / "onnx"
JOBS = {"convbn": ["--fold"], "tt": [], "ident": [], "parmm": []}
FAMILIES = {"convbn": "cbr", "tt": "tt", "ident": "id", "parmm": "mm"}
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
    print(f"{'PASS' if ok else 'FAIL'}  {job} {nodes}: {what}", flush=True)
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--rounds", type=int, default=5)
    a = parser.parse_args()
    return 0 if all([compared(job, nodes, a.rounds) for nodes in a.nodes for job in JOBS]) else 1


if __name__ == "__main__":
    sys.exit(main())
