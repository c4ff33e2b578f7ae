"""Cells run side by side: each a fresh process with a limit of time and memory, tool by tool in turn, median
of n rounds.

Tools take turns within a round so that a busy machine hits all alike: only ratios within one run mean
anything. Not here: what a cell does (`cell`), tables (`report`).
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from benchmarks.cell import WARM_UP_NODES
from benchmarks.families import FAMILY_OF_JOB
from benchmarks.models import model_file
from benchmarks.tools import make_tool

ROOT = Path(__file__).parent.parent
STEPS = (
    "import_s", "rules_s", "load_s", "rewrite_s", "rewrite_cpu_s", "save_s", "memory_loaded_mb",
    "memory_rewritten_mb", "process_s", "process_mb",
)


@dataclass(frozen=True)
class Limits:
    """Of one process: seconds, and MB of address space (0: none).

    `patience`: a cell that has taken so many seconds is not repeated.
    """

    seconds: float = 60.0
    memory_mb: int = 0
    patience: float = 20.0


@dataclass(frozen=True)
class Cell:
    tool: str
    job: str
    nodes: int
    whole: bool = False

    @property
    def able(self) -> bool:
        return self.job in make_tool(self.tool).jobs


@dataclass
class Row:
    """A cell's measurements; `failure` says why there are none (or no more)."""

    cell: Cell
    runs: list[dict[str, float]] = field(default_factory=list)
    failure: str = ""
    complete: bool | None = None

    def median(self, step: str) -> float | None:
        values = [run[step] for run in self.runs if step in run]
        return statistics.median(values) if values else None

    def spread(self, step: str) -> tuple[float, float] | None:
        values = [run[step] for run in self.runs if step in run]
        return (min(values), max(values)) if values else None

    def as_json(self) -> dict[str, object]:
        cell = self.cell
        steps = {step: round(value, 6) for step in STEPS if (value := self.median(step)) is not None}
        kind = "whole" if cell.whole else "inside"
        return {
            "tool": cell.tool,
            "job": cell.job,
            "nodes": cell.nodes,
            "mode": kind,
            "runs": len(self.runs), **steps,
            "rewrite_cpu_range_s": self.spread("rewrite_cpu_s"),
            "complete": self.complete,
            "failure": self.failure,
        }


def run_cells(
    cells: Sequence[Cell], rounds: int, limits: Limits, note: Callable[[str], None] = lambda line: None
) -> list[Row]:
    """Measure cells of one job and size in turn, `rounds` times."""
    rows = [Row(cell) for cell in cells if cell.able]
    for row in rows:
        prepare_models(row.cell)
    for number in range(rounds):
        for row in rows:
            tired = sum(run["process_s"] for run in row.runs) > limits.patience
            if not row.failure and not tired:
                run_once(row, limits)
                note(f"round {number + 1}: {line_of(row)}")
    return rows


def line_of(row: Row) -> str:
    cell, last = row.cell, row.runs[-1] if row.runs else {}
    what = (
        row.failure
        or f"rewrite {last.get('rewrite_s', 0) * 1e3:.1f} ms, process {last.get('process_s', 0) * 1e3:.0f} ms"
    )
    return f"{cell.job} {cell.nodes} {cell.tool}{' (whole)' if cell.whole else ''}: {what}"


def prepare_models(cell: Cell) -> tuple[Path, Path]:
    """The model of a cell and the small one of its warm-up.

    They are written by another process: this one stays small.
    """
    family, suffix = FAMILY_OF_JOB[cell.job], make_tool(cell.tool).suffix
    paths = []
    for nodes in (cell.nodes, WARM_UP_NODES):
        path = ROOT / "benchmarks" / "work" / "models" / f"{family}_{nodes}.{suffix}"
        if not path.exists():
            subprocess.run(
                [sys.executable, "-m", "benchmarks.models", family, str(nodes), suffix], cwd=ROOT, check=True
            )
        assert path == model_file(family, nodes, suffix)
        paths.append(path)
    return paths[0], paths[1]


def run_once(row: Row, limits: Limits) -> None:
    """One process; what it found is added to the row."""
    cell = row.cell
    path, small = prepare_models(cell)
    with tempfile.TemporaryDirectory(dir=path.parent.parent) as folder:
        out = Path(folder) / "out.onnx"
        command = (
            whole_gslc(cell.job, path, out) if cell.whole and cell.tool == "gslang"
            else [
                sys.executable, "-m", "benchmarks.cell", cell.tool, cell.job, str(cell.nodes), str(path),
                str(small), str(out), "--memory-mb", str(limits.memory_mb),
                *(["--whole"] if cell.whole else []),
            ]
        )
        found = Path(f"{out}.found")
        status, seconds, megabytes, errors = spawn(command, limits.seconds)
        if status == 0:
            measured = json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}
            complete = measured.pop("complete", None)
            row.complete = complete if row.complete is None else row.complete and complete is not False
            row.runs.append({**measured, "process_s": seconds, "process_mb": megabytes})
        elif seconds >= limits.seconds:
            row.failure = f"> {limits.seconds:g} s"
        else:
            last = (errors.strip().splitlines() or ["no message"])[-1][:120]
            row.failure = f"status {status}: {last}"


def whole_gslc(job: str, path: Path, out: Path) -> list[str]:
    """As a user runs it: the whole process of gslang is its command, JSON to JSON."""
    rules = ROOT / "benchmarks" / "rules" / f"{job}.gsl"
    fold = ["--fold"] if job.endswith("_fold") else []
    return [sys.executable, "-m", "gslang", str(rules), str(path), "-o", str(out.with_suffix(".json")), *fold]


def spawn(command: Sequence[str], seconds: float) -> tuple[int, float, float, str]:
    """Run a command: its status (-9 if it was stopped), seconds, peak MB, and the end of what it wrote to
    standard error.
    """
    # tools may lie in a folder that only PYTHONPATH names
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONPATH": path}
    # installed packages have their bytecode, so the checkout shall too
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as errors:
        began = perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=errors,
            start_new_session=True,
        )

        def stop(*_: object) -> None:
            os.killpg(process.pid, signal.SIGKILL)

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        elapsed = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return (
            process.returncode, elapsed, usage.ru_maxrss / 1024,
            errors.read()[-4000:].decode(errors="replace"),
        )
