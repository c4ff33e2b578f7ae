"""One verb on many graphs: each in a process of its own if asked for, results in a folder, a table at the end.

A graph that fails is told in the table, and does not stop the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from copy import copy
from importlib import import_module
from io import StringIO
from pathlib import Path

from gslang.base.diagnostics import InputError
from gslang.cli.main import ExitCode


def run_many(verb: str, options: argparse.Namespace, graphs: Sequence[str], jobs: int) -> int:
    """Run `run_one` of a verb's module for each graph, with `-o` as the folder; the exit code of all. Raises `InputError`."""
    folder = Path(options.output or "")
    if not options.output or folder.exists() and not folder.is_dir():
        raise InputError("several graphs need a folder for the results", path=options.output or "", help="give one with -o DIR")
    targets: dict[str, str] = {}
    for graph in graphs:
        name = Path(graph).name
        if name in targets:
            raise InputError(f"has the same file name as {targets[name]}: both would be written to one file", path=graph)
        targets[name] = graph
    folder.mkdir(parents=True, exist_ok=True)
    tasks = []
    for name, graph in targets.items():
        own = copy(options)
        own.graph, own.output = graph, str(folder / name)
        tasks.append((verb, own))
    if jobs > 1 and len(tasks) > 1:
        with ProcessPoolExecutor(jobs) as pool:
            results = list(pool.map(_one, tasks))
    else:
        results = list(map(_one, tasks))
    width = max(map(len, targets), default=0)
    for name, (_, told) in zip(targets, results):
        sys.stdout.write(f"{name:<{width}}  {told}\n")
    return max((code for code, _ in results), default=0)


def _one(task: tuple[str, argparse.Namespace]) -> tuple[int, str]:
    """The exit code for one graph, and the last line that it wrote, or its error."""
    from gslang.cli.main import failed

    verb, options = task
    run: Callable[[argparse.Namespace], int] = import_module(f"gslang.cli.{verb}").run_one
    said = StringIO()
    with redirect_stderr(said):
        try:
            code = int(run(options))
        except Exception as error:
            code = failed(error)
    lines = [line for line in said.getvalue().splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("gslc:", "error:"))]
    return code, (errors or lines[-1:] or [""])[0] if code != ExitCode.FINE else (lines or [""])[-1]
