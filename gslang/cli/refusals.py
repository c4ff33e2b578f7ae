"""What can be refused before any work is done: an output that cannot be written, two readers of standard input, one file for two things."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gslang.base.diagnostics import InputError


def refuse_two_stdins(first: str, second: str | None) -> None:
    """Raises `InputError` if both the rules and the graph are to come from standard input."""
    if first == "-" == second:
        raise InputError("the rules and the graph cannot both come from standard input", help="give one of them as a file")


def refuse_graph_output(path: str | None, output_format: str | None) -> None:
    """Raises `InputError` if a graph could never be written there. What only the writing tells is not looked for."""
    from gslang.formats.registry import known_output_format

    if path is not None and path != "-":
        refuse_output(path)
        known_output_format(path, output_format)
    elif output_format is not None:
        known_output_format("", output_format)


def refuse_output(path: str) -> None:
    """Raises `InputError` if no file can appear at a path: it is a folder, or lies in none that can be written to."""
    if not path:
        raise InputError("the name of the output is empty", help="give a file's name with -o")
    target = Path(path)
    if target.is_dir():
        raise InputError("cannot be written: is a directory", path=path, help="give a file's name")
    if not target.exists():
        folder = target.parent
        if not folder.is_dir():
            raise InputError(f"cannot be written: there is no folder `{folder}`", path=path)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"cannot be written: permission denied in `{folder}`", path=path)


def shared_file(written: Mapping[str, str | None], read: Mapping[str, str | None]) -> str | None:
    """What is wrong if one file is to have two contents, or is to be written though it is read. Both by what they are called."""
    seen = {os.path.realpath(path): what for what, path in read.items() if path not in (None, "-")}  # type: ignore[type-var]
    for what, path in written.items():
        if path is None or path == "-" or Path(path).exists() and not Path(path).is_file():
            continue
        other = seen.setdefault(os.path.realpath(path), what)
        if other != what:
            return f"gslc: {path}: {what} would take the place of {other}\n  help: give {what} a file of its own\n"
    return None
