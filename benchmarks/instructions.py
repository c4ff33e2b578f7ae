"""Instructions per node, free of noise: `python -m benchmarks.instructions` (needs valgrind).

Callgrind counts the instructions of a process that reads a graph, with rewriting and without, for two sizes.
Differences of differences leave what each further node costs: reading, and rewriting (copying included).
Start-up cancels out.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.families import FAMILY_OF_JOB, family_of
from benchmarks.measure import ROOT
from benchmarks.models import model_file
from benchmarks.tools.gslang_tool import Gslang


def work(job: str, nodes: int, rewrite: bool) -> None:
    """What is counted. The rules are compiled and run on the smallest graph in either case.

    No garbage is collected: when a collection comes depends on everything that was allocated before, and it
    would be counted with whatever it interrupts.
    """
    gc.disable()
    tool = Gslang()
    tool.prepare()
    rules = tool.rules(job)
    tool.rewrite(tool.load(str(model_file(FAMILY_OF_JOB[job], 24, "json")), job), rules)
    graph = tool.load(str(model_file(FAMILY_OF_JOB[job], nodes, "json")), job)
    if rewrite:
        tool.rewrite(graph, rules)
    sys.stdout.flush()
    os._exit(0)


def instructions(job: str, nodes: int, rewrite: bool) -> int:
    """The count of one process. Raises `RuntimeError` with what valgrind said."""
    model_file(FAMILY_OF_JOB[job], nodes, "json")
    model_file(FAMILY_OF_JOB[job], 24, "json")
    with tempfile.TemporaryDirectory() as folder:
        counted = [
            sys.executable, "-m", "benchmarks.instructions", "--job", job, "--work", str(nodes),
            *(["--rewrite"] if rewrite else []),
        ]
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={Path(folder) / 'out'}", *counted]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        # Checked rules and compiled modules are cached: a first run that is not counted, so that each counted
        # one finds them.
        subprocess.run(counted, cwd=ROOT, env=environment, capture_output=True)
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or found is None:
        raise RuntimeError(run.stderr[-2000:])
    return int(found.group(1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job", default="tt", choices=FAMILY_OF_JOB)
    parser.add_argument("--nodes", type=int, nargs=2, default=[600, 1800], metavar=("SMALL", "LARGE"))
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rewrite", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.work is not None:
        work(a.job, a.work, a.rewrite)
    if shutil.which("valgrind") is None:
        print("valgrind is not installed; the package of that name has it", file=sys.stderr)
        return 3
    small, large = a.nodes
    counts = {(n, r): instructions(a.job, n, r) for n in a.nodes for r in (False, True)}
    more = family_of(a.job).calls(large) - family_of(a.job).calls(small)
    reading = (counts[large, False] - counts[small, False]) / more
    rewriting = (
        counts[large, True] - counts[large, False] - counts[small, True] + counts[small, False]
    ) / more
    if min(reading, rewriting) < 0:
        print("start-up did not cancel out: was gslang edited meanwhile? Run it again", file=sys.stderr)
        return 1
    print(
        f"{a.job}: instructions per node: {reading:,.0f} reading, {rewriting:,.0f} rewriting (between "
        f"{small} and {large} nodes)"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
