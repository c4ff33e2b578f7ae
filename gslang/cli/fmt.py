"""Format rule files: gslc fmt rules.gsl"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors, reason_of
from gslang.base.read_file import read_bytes
from gslang.base.rule_files import rule_files
from gslang.cli.main import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", help=".gsl files, folders, or `-` (from standard input to standard output)"
    )
    parser.add_argument(
        "--check", action="store_true", help="only list files that would change; exit code 1 if any would"
    )
    parser.add_argument("--diff", action="store_true", help="only show what would change")
    parser.add_argument(
        "--range", metavar="A:B", type=_lines, help="format only the items that touch these lines (from 1)"
    )


def _lines(text: str) -> tuple[int, int]:
    begin, colon, end = text.partition(":")
    if not colon or not begin.isdigit() or not end.isdigit() or not 1 <= int(begin) <= int(end):
        raise argparse.ArgumentTypeError(f"expected two line numbers, as in 3:9, not `{text}`")
    return int(begin), int(end)


def run(options: argparse.Namespace) -> int:
    # trees and documents hold no circles; looking for some would take a third of the time
    gc.set_threshold(200_000, 50, 100)
    worst = ExitCode.FINE
    for path in _files(options.files):
        try:
            worst = max(worst, _one(path, options))
        except InputError as error:  # of this file: the others are formatted all the same
            sys.stderr.write(f"gslc: {error}\n")
            worst = max(worst, ExitCode.BAD_INPUT)
    return worst


def _files(given: list[str]) -> list[str]:
    found: list[str] = []
    for name in given:
        if name != "-" and Path(name).is_dir():
            inside = [str(path) for path in rule_files(Path(name))]
            if not inside:
                raise InputError("no .gsl files in this folder", path=name)
            found += inside
        else:
            found.append(name)
    return list(dict.fromkeys(found))


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return read_bytes(path)
    except OSError as error:
        raise InputError(reason_of(error), path=path) from error


def _one(path: str, options: argparse.Namespace) -> ExitCode:
    """Format one file; what became of it."""
    from gslang.base.atomic_write import write_text
    from gslang.base.diagnostics import Diagnostic
    from gslang.base.render import render_text
    from gslang.fmt.format_source import format_source
    from gslang.syntax.parser import source_of

    data = _read(path)
    name = "<stdin>" if path == "-" else path
    source = source_of(name, data)
    if isinstance(source, Diagnostic):
        sys.stderr.write(render_text([source]))
        return ExitCode.FINDINGS
    written = data.decode("utf-8")
    result = format_source(source, options.range)
    if result.text is None:
        sys.stderr.write(render_text(result.diagnostics))
        return ExitCode.FINDINGS
    changed = result.text != written
    if options.diff:
        import difflib

        before, after = written.splitlines(keepends=True), result.text.splitlines(keepends=True)
        sys.stdout.writelines(difflib.unified_diff(before, after, name, name))
    if options.check:
        if changed and not options.diff:
            sys.stdout.write(f"{name}\n")
        return ExitCode.FINDINGS if changed else ExitCode.FINE
    if path == "-" and not options.diff:
        sys.stdout.write(result.text)
    elif changed and not options.diff:
        with file_errors(path, "cannot be written"):
            write_text(Path(path).resolve(), result.text)
        sys.stderr.write(f"formatted {name}\n")
    return ExitCode.FINE
