"""Find what is right but suspicious in rule files: gslc lint rules.gsl

Codes are explained by `gslc explain L0101`; `@allow(L0101)` above a rule silences one there.
Findings end with exit code 1, unless --exit-zero is given.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError
from gslang.cli.main import ExitCode
from gslang.cli.shared import colored, load_rules

if TYPE_CHECKING:
    from gslang.base.diagnostics import Diagnostic
    from gslang.base.source import Source
    from gslang.check.checked import CheckedProgram
    from gslang.lint.configuration import Configuration

_FORMATS = ("text", "concise", "json", "sarif", "github", "junit", "gitlab")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from gslang.lint.codes import LINTS

    listed = "\n".join(f"  {info.code} {info.name:<21}{info.title}{'' if info.default else ' (only if selected)'}" for info in LINTS.values())
    parser.epilog = f"lints:\n{listed}"
    parser.add_argument("rules", nargs="+", help=".gsl files, folders, `-`, or shipped modules")
    parser.add_argument("--format", choices=_FORMATS, default="text")
    parser.add_argument("--select", metavar="CODES", action="append", default=[], help="only these: codes, prefixes, names, `all`; with commas")
    parser.add_argument("--ignore", metavar="CODES", action="append", default=[], help="not these")
    parser.add_argument("--fix", action="store_true", help="mend what can be mended safely, in the files")
    parser.add_argument("--statistics", action="store_true", help="only how often each code was found")
    parser.add_argument("--exit-zero", action="store_true", help="exit code 0 also with findings")


def run(options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean
    from gslang.lint.codes import LINTS
    from gslang.lint.configuration import find_configuration
    from gslang.lint.run_lints import lint_files, selected_codes

    configuration = find_configuration(_folder(options.rules[0]))
    select = tuple(code for text in options.select for code in text.replace(",", " ").split())
    ignore = tuple(code for text in options.ignore for code in text.replace(",", " ").split())
    configuration = replace(configuration, select=select or configuration.select, ignore=(*configuration.ignore, *ignore))
    try:
        selected_codes(configuration.select, configuration.ignore)
    except ValueError as error:
        guess = did_you_mean(str(error), [*LINTS, *(info.name for info in LINTS.values())])
        help = f"did you mean `{guess}`?" if guess else "`gslc lint --help` lists them"
        sys.stderr.write(f"gslc lint: there is no lint `{error}`\n  help: {help}\n")
        return ExitCode.USAGE
    rules = load_rules(options.rules)
    files = [(_source_of(program), program) for program in rules.programs]
    if any(not program.ok for _, program in files):
        # what does not check cannot be linted: the errors are shown instead
        _show(rules.diagnostics, files, options)
        return ExitCode.FINDINGS
    found = lint_files(files, configuration)
    fixed = 0
    if options.fix:
        found, fixed = _fix(files, found, configuration)
    _show(found, files, options)
    if options.fix:
        sys.stderr.write(f"{fixed} fixed, {len(found)} left\n")
    elif options.format == "text" and not options.statistics:
        mendable = sum(d.fix is not None for d in found)
        more = f", {mendable} of them can be mended by --fix" if mendable else ""
        sys.stderr.write(f"{len(rules)} rule{'s' * (len(rules) != 1)}, {len(found) or 'no'} finding{'s' * (len(found) != 1)}{more}\n")
    return ExitCode.FINDINGS if found and not options.exit_zero else ExitCode.FINE


def _folder(name: str) -> Path:
    """Where the search for a configuration begins: at the first file, else in the working directory."""
    path = Path(name)
    if not path.exists():
        return Path.cwd()
    return (path if path.is_dir() else path.parent).resolve()


def _source_of(program: CheckedProgram) -> Source:
    from gslang.base.source import Source
    from gslang.syntax.parser import read_source

    for name in program.own_rules:
        return program.rules[name].span.source
    try:
        source = read_source(program.name)
    except OSError:
        return Source(program.name, "")
    return source if isinstance(source, Source) else Source(program.name, "")


def _fix(files: list[tuple[Source, CheckedProgram]], found: list[Diagnostic], configuration: Configuration) -> tuple[list[Diagnostic], int]:
    from gslang.base.atomic_write import write_text
    from gslang.base.resources import stdlib_path
    from gslang.check.check import check_source
    from gslang.lint.fixes import fix_source
    from gslang.lint.run_lints import lint_files

    remaining: list[Diagnostic] = []
    count = 0
    for k, (source, _) in enumerate(files):
        own = [d for d in found if d.primary.span.source.name == source.name]
        path = Path(source.name)
        if not path.is_file() or stdlib_path() in path.resolve().parents:
            remaining += own  # standard input, and what gslang ships, are only read
            continue
        fixed = fix_source(source, own, check_source, lambda new, program: lint_files([(new, program)], configuration))
        if fixed.count:
            try:
                write_text(path, fixed.text)
            except OSError as error:
                raise InputError(f"cannot be written: {error}", path=str(path)) from None
        remaining += fixed.remaining
        count += fixed.count
        if fixed.remaining:
            files[k] = (fixed.remaining[0].primary.span.source, files[k][1])
    return remaining, count


def _show(found: list[Diagnostic] | tuple[Diagnostic, ...], files: list[tuple[Source, CheckedProgram]], options: argparse.Namespace) -> None:
    from gslang import __version__
    from gslang.base import render, render_ci
    from gslang.lint.codes import LINTS

    if options.statistics:
        for code, count in sorted(Counter(d.code for d in found).items(), key=lambda item: (-item[1], item[0])):
            title = LINTS[code].title if code in LINTS else ""
            sys.stdout.write(f"{count:>6}  {code}  {title}\n")
        return
    match options.format:
        case "text":
            sys.stdout.write(render.render_text(found, options.color != "never" and colored(options) and sys.stdout.isatty()))
        case "concise":
            sys.stdout.write(render.render_concise(found))
        case "json":
            sys.stdout.write(render.render_json(found))
        case "sarif":
            titles = {code: info.title for code, info in LINTS.items()}
            sys.stdout.write(render.render_sarif(found, __version__, titles))
        case "github":
            sys.stdout.write(render.render_github(found))
        case "junit":
            sys.stdout.write(render_ci.render_junit(found, [source.name for source, _ in files]))
        case _:
            sys.stdout.write(render_ci.render_gitlab(found))
