"""Checks before any work is done: an output that cannot be written, two readers of standard input, one file
for two things.
"""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gslang.base.diagnostics import InputError


def refuse_two_stdins(first: str, second: str | None, both: str = "the rules and the graph") -> None:
    """Raises `InputError` if both are to come from standard input."""
    if first == "-" == second:
        raise InputError(f"{both} cannot both come from standard input", help="give one of them as a file")


def not_to_stdout(options: argparse.Namespace, *files: str) -> str | None:
    """Why the report cannot go to standard output beside the graph, or one of these options not at all, if it
    is to.
    """
    if options.report == "-" and options.output in (None, "-"):
        return (
            "gslc: the graph and the report cannot both go to stdout\n  help: give the graph a file with -o\n"
        )
    for name in files:
        if getattr(options, name) == "-":
            what, example = _ONLY_FILES[name]
            option = name.replace("_", "-")
            return f"gslc: {what} must be written to a file\n  help: --{option} {example}\n"
    return None


_ONLY_FILES: Final = {
    "trace": ("a trace", "trace.jsonl"), "html": ("a page", "page.html"),
    "save_egraph": ("an e-graph", "e.json"),
}


def refuse_graph_output(options: argparse.Namespace) -> None:
    """Raises `InputError` if a graph and its parameters could never be written there, or there is no graph:
    then the output is not what is wrong.

    What only the writing tells is not looked for.
    """
    from gslang.formats.registry import known_output_format, refuse_missing

    refuse_missing(options.graph)
    path, name = options.output, options.output_format
    if path is not None and path != "-":
        refuse_output(path)
        name = known_output_format(path, name)
    elif name is not None:
        known_output_format("", name)
    if options.output_params is not None:
        refuse_weights_output(options.output_params)
        if name not in (None, "relay"):
            raise InputError(
                "only Relay text has its parameters in a separate file", path=options.output_params,
                help="remove --output-params",
            )


def refuse_weights_output(path: str) -> None:
    """Raises `InputError` if no weights file can appear at a path, or none has such a name."""
    from gslang.formats.weights import is_weights_name

    refuse_output(path)
    if not is_weights_name(path):
        raise InputError(
            "not the name of a weights file", path=path, help="use .npz or .safetensors"
        )


def refuse_output(path: str) -> None:
    """Raises `InputError` if no file can appear at a path: it is a folder, or lies in none that can be
    written to.
    """
    if not path:
        raise InputError("the name of the output is empty", help="give a file name with -o")
    target = Path(path)
    if target.is_dir():
        raise InputError("cannot be written: is a directory", path=path, help="give a file name")
    if not target.exists():
        folder = target.parent
        if not folder.is_dir():
            raise InputError(f"cannot be written: no folder `{folder}`", path=path)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"cannot be written: permission denied in `{folder}`", path=path)


def written_with(options: argparse.Namespace) -> dict[str, str | None]:
    """The files that a graph is written to, by what they are: `shared_file` takes them."""
    path: str | None = options.output
    found = {"the graph": path}
    if path is None or path == "-":
        found["its parameters"] = options.output_params
        return found
    from gslang.formats.registry import format_of

    match format_of(path, options.output_format):
        case "relay":
            found["its parameters"] = options.output_params or str(Path(path).with_suffix(".npz"))
        case "onnx":
            found["its data"] = f"{path}.data"
    return found


def graph_takes_place(options: argparse.Namespace, kept: Mapping[str, str | None]) -> str | None:
    """The error message if a graph and the files written with it would overwrite each other, files that are
    `kept`, or files that are only read.

    The graph may replace the graph that was read; only then its parameters may replace those that were read.
    """
    written, output, given = written_with(options), options.output, options.graph
    in_place = (
        output not in (None, "-") and given not in (None, "-") and _identity(output) == _identity(given)
    )
    beside = {what: path for what, path in written.items() if what != "the graph"}
    read = {**kept, "the input parameters": None if in_place else options.params}
    return shared_file(written, read) or shared_file(beside, {"the input graph": given})


def outputs_conflict(written: Mapping[str, str | None], read: Mapping[str, str | None]) -> str | None:
    """The error message of `shared_file`. Raises `InputError` if one of the files cannot be written."""
    for path in written.values():
        if path is not None and path != "-":
            refuse_output(path)
    return shared_file(written, read)


def shared_file(written: Mapping[str, str | None], read: Mapping[str, str | None]) -> str | None:
    """The error message if one file would be written twice, or is read and written.

    Keys describe the files.
    """
    seen = {_identity(path): what for what, path in read.items() if path is not None and path != "-"}
    for what, path in written.items():
        if path is None or path == "-" or _is_stream(path):
            continue
        other = seen.setdefault(_identity(path), what)
        if other != what:
            return f"{path}: {what} would overwrite {other}\n  help: give {what} a separate file\n"
    return None


def _identity(path: str) -> tuple[int, int] | str:
    """The identity of a file, equal for links and other spellings of its name."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return os.path.realpath(path)
    return state.st_dev, state.st_ino


def _is_stream(path: str) -> bool:
    """True if this is not a file that could be replaced: a pipe, `/dev/null`."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
