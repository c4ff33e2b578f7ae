"""One verb on many graphs: each in a process of its own if asked for, results in a folder, a table at the
end.

A graph that fails is reported in the table, and does not stop the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from copy import copy
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Final

from gslang.base.diagnostics import InputError
from gslang.base.processes import workers
from gslang.cli.main import ExitCode
from gslang.cli.option_types import positive

_SUFFIXES: Final = (".onnx", ".json", ".relay")


def add_many_options(parser: argparse.ArgumentParser) -> None:
    """The way in which several graphs are worked on."""
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="number of processes (1)")
    add_cluster_option(parser)


def add_cluster_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster", metavar="ADDRESS",
        help="run on this Dask cluster, whose workers need gslang and the same files (gslang[dask])",
    )


def _is_folder(name: str) -> bool:
    return name != "" and Path(name).is_dir()


def graph_files(names: Sequence[str]) -> list[str]:
    """The given files, and those of the given folders that are graphs by their names, in order.

    Raises `InputError` for a folder without one.
    """
    found: list[str] = []
    for name in names:
        if not _is_folder(name):
            found.append(name)
            continue
        inside = sorted(
            str(path) for path in Path(name).iterdir() if path.suffix in _SUFFIXES and path.is_file()
        )
        if not inside:
            raise InputError(f"no graphs in this folder: no file ends in {', '.join(_SUFFIXES)}", path=name)
        found += inside
    return found


def is_one(options: argparse.Namespace) -> bool:
    """True for one graph, so that options which name one file make sense."""
    names: list[str] = options.graph
    return len(names) < 2 and not any(map(_is_folder, names))


def refuse_cluster(options: argparse.Namespace) -> None:
    """Raises `InputError` if one graph, which is worked on here, was to go to a cluster."""
    if options.cluster:
        raise InputError(
            "--cluster is for several graphs", path=options.cluster,
            help="give several, or a folder of them, and a folder with -o",
        )


def run_many(verb: str, options: argparse.Namespace) -> int:
    """Run `run_one` of a verb's module for each graph, with `-o` as the folder; the exit code of all.

    Raises `InputError`.
    """
    folder = Path(options.output or "")
    if not options.output or folder.exists() and not folder.is_dir():
        raise InputError(
            "several graphs need a folder for the results", path=options.output or "",
            help="give one with -o DIR",
        )
    if options.rules == "-":
        raise InputError(
            "rules from standard input can be used with one graph only", path="-",
            help="write the rules to a file",
        )
    targets: dict[str, str] = {}
    for graph in graph_files(options.graph):
        name = Path(graph).name
        if name in targets:
            raise InputError(
                f"has the same file name as {targets[name]}: both would be written to one file", path=graph
            )
        targets[name] = graph
    folder.mkdir(parents=True, exist_ok=True)
    tasks = []
    for name, graph in targets.items():
        own = copy(options)
        own.graph, own.output = graph, str(folder / name)
        tasks.append((verb, own))
    if options.cluster or options.jobs > 1 and len(tasks) > 1:
        with workers(options.jobs, options.cluster) as pool:
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
    lines = [line for line in said.getvalue().splitlines() if line.strip() and not line.startswith("  help:")]
    errors = [line for line in lines if line.startswith(("gslc:", "error:"))]
    return code, (errors or lines[-1:] or [""])[0] if code != ExitCode.FINE else (lines or [""])[-1]
