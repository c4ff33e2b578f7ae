"""Find valid but suspicious code in rule files: gslc lint rules.gsl

`gslc explain L0101` explains a code; `@allow(L0101)` above a rule suppresses it there; `[lint]` in
gslang.toml or `[tool.gslang.lint]` in pyproject.toml configures a project. The exit code is 1 if there are
findings other than notes, unless --exit-zero is given.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.file_errors import file_errors
from gslang.base.rule_files import rule_files
from gslang.cli.main import ExitCode, Refusal
from gslang.cli.shared import load_rules

if TYPE_CHECKING:
    from gslang.base.diagnostics import Diagnostic
    from gslang.base.source import Source
    from gslang.check.checked import CheckedProgram
    from gslang.lint.lint_paths import Choice, Linted
    from gslang.syntax.parser import Parsed

_FORMATS = ("text", "concise", "json", "sarif", "github", "junit", "gitlab")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from gslang.lint.codes import LINTS

    listed = "\n".join(
        f"  {info.code} {info.name:<21}{info.title}{'' if info.default else ' (only if selected)'}"
        for info in LINTS.values()
    )
    parser.epilog = f"lints:\n{listed}"
    parser.add_argument("rules", nargs="+", help=".gsl files, folders, `-`, or shipped modules")
    parser.add_argument("--format", choices=_FORMATS, default="text")
    parser.add_argument(
        "--select", metavar="CODES", action="append", default=[],
        help="run only these lints: comma-separated codes, prefixes, names, or `all`",
    )
    parser.add_argument("--ignore", metavar="CODES", action="append", default=[], help="lints not to run")
    parser.add_argument("--fix", action="store_true", help="apply safe fixes to the files")
    parser.add_argument(
        "--unsafe-fixes", action="store_true",
        help="with --fix or --diff: also apply fixes that change what a rule matches",
    )
    parser.add_argument(
        "--diff", action="store_true",
        help="only show what --fix would change; exit code 1 if it would change anything",
    )
    parser.add_argument(
        "--graphs", metavar="DIR", type=Path,
        help="write the example graphs of findings to DIR, for `gslc match`",
    )
    parser.add_argument(
        "--together", action="store_true",
        help="cross-check the rules of all files, which run as one set",
    )
    parser.add_argument("--statistics", action="store_true", help="print only how often each code was found")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    parser.add_argument("--jobs", metavar="N", type=_count, default=1, help="lint files in N processes (1)")
    parser.add_argument(
        "--cache", action=argparse.BooleanOptionalAction, default=True,
        help="cache findings by the contents of files",
    )


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 256, not `{text}`")
    return int(text)


def run(options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean
    from gslang.lint.codes import LINTS
    from gslang.lint.lint_paths import Choice
    from gslang.lint.selectors import selected_codes

    # syntax trees hold no circles, and looking for some takes a third of the time
    gc.set_threshold(200_000, 50, 100)
    choice = Choice(_split(options.select), _split(options.ignore), options.cache)
    try:
        selected_codes(choice.select, choice.ignore)
    except ValueError as error:
        guess = did_you_mean(str(error), [*LINTS, *(info.name for info in LINTS.values())])
        help = f"did you mean `{guess}`?" if guess else "`gslc lint --help` lists them"
        raise Refusal(f"gslc lint: unknown lint `{error}`\n  help: {help}\n") from None
    files = _lint(options.rules, choice, options.jobs, options.together)
    if options.diff or options.fix:
        files, fixed, diffs = _fixed(files, choice, options)
        if options.diff:
            sys.stdout.writelines(diffs)
            sys.stderr.write(f"{fixed} would be fixed\n")
            return ExitCode.FINDINGS if diffs and not options.exit_zero else ExitCode.FINE
    shown = [
        d
        for file in files
        for d in (*file.errors, *(d for d in file.found if options.format == "sarif" or not _allowed(d)))
    ]
    shown = list({(d.order, d.help): d for d in shown}.values())  # an error of an imported file is shown once
    counted = [d for d in shown if not _allowed(d)]
    _show(counted if options.statistics else shown, files, options)
    if options.graphs is not None:
        _write_graphs(counted, options.graphs)
    rules, count = sum(file.rules for file in files), len(counted)
    if options.fix:
        sys.stderr.write(f"{fixed} fixed, {count} left\n")
    elif options.format == "text" and not options.statistics:
        count_fixable = _fixable(files)
        more = f", {count_fixable} of them can be fixed with --fix" if count_fixable else ""
        sys.stderr.write(
            f"{rules} rule{'s' * (rules != 1)}, {count or 'no'} finding{'s' * (count != 1)}{more}\n"
        )
    broken = any(file.broken for file in files)
    failing = any(d.severity.value != "note" for d in counted)
    return ExitCode.FINDINGS if broken or failing and not options.exit_zero else ExitCode.FINE


def _split(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(code for text in texts for code in text.replace(",", " ").split())


def _allowed(diagnostic: Diagnostic) -> bool:
    return bool(getattr(diagnostic, "allowed", False))


def _lint(names: Sequence[str], choice: Choice, jobs: int, together: bool) -> list[Linted]:
    from gslang.check.parameters import ANY_VALUES
    from gslang.lint.lint_paths import lint_paths, lint_programs, with_joint_findings

    paths = _paths(names) if jobs > 1 and not together else None
    if paths is not None and len(paths) > 1:
        return lint_paths(paths, choice, jobs)
    parsed: dict[Source, Parsed] = {}
    programs = load_rules(names, parsed, ANY_VALUES).programs
    files = lint_programs(programs, choice, parsed)
    return with_joint_findings(files, programs, choice) if together else files


def _paths(names: Sequence[str]) -> list[str] | None:
    """The files that names stand for; None if one stands for no file, or for none that is there."""
    found: list[str] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            found += [str(p) for p in rule_files(path)]
        elif path.is_file():
            found.append(name)
        else:
            return None
    if not all(map(os.path.isfile, found)):  # links to nowhere, told with all other findings
        return None
    return list(dict.fromkeys(found))


def _fixed(
    files: list[Linted], choice: Choice, options: argparse.Namespace
) -> tuple[list[Linted], int, list[str]]:
    """The findings left after fixing, how many were fixed, and the changes as a diff.

    With `--diff` nothing is written.
    """
    import difflib
    from dataclasses import replace

    from gslang.lint.fixes import fix_source
    from gslang.lint.run_lints import lint_files

    result: list[Linted] = []
    count = 0
    diffs: list[str] = []
    for file in files:
        if not _is_writable(file):
            result.append(file)
            continue
        configuration = choice.configuration_of(file.source.name)
        found = [d for d in file.found if not _allowed(d)]
        parsed: dict[Source, Parsed] = {}
        fixed = fix_source(
            file.source, found, lambda new: _checked(new, parsed),
            lambda new, program: lint_files(
                [(new, program)], configuration, parsed=parsed, cache=choice.cache
            ),
            options.unsafe_fixes,
        )
        if fixed.count:
            name = file.source.name
            diffs += difflib.unified_diff(
                file.source.text.splitlines(keepends=True), fixed.text.splitlines(keepends=True), name, name
            )
            if not options.diff:
                _write(Path(name), fixed.text)
        count += fixed.count
        result.append(replace(file, source=fixed.source, found=fixed.remaining))
    return result, count, diffs


def _is_writable(file: Linted) -> bool:
    """False for standard input, and for what gslang ships: these are only read."""
    from gslang.base.resources import stdlib_path

    path = Path(file.source.name)
    return path.is_file() and stdlib_path() not in path.resolve().parents


def _checked(source: Source, parsed: dict[Source, Parsed] | None = None) -> CheckedProgram:
    from gslang.check.check import check_module
    from gslang.check.imports import Importer
    from gslang.check.parameters import ANY_VALUES

    return check_module(source, Importer(check_module, parsed, ANY_VALUES)).program


def _fixable(files: Sequence[Linted]) -> int:
    """The number of findings that `--fix` can fix."""
    from gslang.lint.fixes import fixable

    found = [
        d
        for file in files if _is_writable(file)
        for d in fixable(file.source, [d for d in file.found if not _allowed(d)], _checked)
    ]
    return len({(d.order, d.help) for d in found})


def _write(path: Path, text: str) -> None:
    """Write a fixed file with the line ends and the byte order mark that it had."""
    from gslang.base.atomic_write import write_text

    with file_errors(path, "cannot be written"):
        before = path.read_bytes()
        mark = "\ufeff" if before.startswith(b"\xef\xbb\xbf") else ""
        write_text(path, mark + (text.replace("\n", "\r\n") if b"\r\n" in before else text))


def _write_graphs(found: Sequence[Diagnostic], folder: Path) -> None:
    from gslang.lint.reports import write_graphs

    with file_errors(folder, "cannot be written"):
        written = write_graphs(found, folder)
    for d, path in written:
        sys.stderr.write(f"gslc match {d.primary.span.source.name} {path}\n")


def _show(found: Sequence[Diagnostic], files: Sequence[Linted], options: argparse.Namespace) -> None:
    from gslang import __version__
    from gslang.base import render, render_ci
    from gslang.lint import reports
    from gslang.lint.codes import LINTS

    if options.statistics:
        for code, count in sorted(
            Counter(d.code for d in found).items(), key=lambda item: (-item[1], item[0])
        ):
            title = LINTS[code].title if code in LINTS else ""
            sys.stdout.write(f"{count:>6}  {code}  {title}\n")
        return
    match options.format:
        case "text":
            sys.stdout.write(render.render_text(found, _colored(options)))
        case "concise":
            sys.stdout.write(render.render_concise(found))
        case "json":
            sys.stdout.write(reports.json_report(found))
        case "sarif":
            sys.stdout.write(reports.sarif_report(found, __version__))
        case "github":
            sys.stdout.write(render.render_github(found))
        case "junit":
            sys.stdout.write(render_ci.render_junit(found, [file.source.name for file in files]))
        case _:
            sys.stdout.write(render_ci.render_gitlab(found))


def _colored(options: argparse.Namespace) -> bool:
    """Findings go to standard output, unlike the errors of other verbs."""
    import os

    return bool(
        options.color == "always" or options.color == "auto" and sys.stdout.isatty()
        and "NO_COLOR" not in os.environ
    )
