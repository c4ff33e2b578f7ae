"""Check rule files: gslc check rules.gsl"""

from __future__ import annotations

import argparse
import sys

from gslang.cli.main import ExitCode
from gslang.cli.shared import add_define_option, defines_of, load_rules, show_findings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_define_option(parser)
    parser.add_argument("rules", nargs="+", help=".gsl files, folders, `-`, or shipped modules")
    parser.add_argument("--format", choices=("text", "concise", "json", "sarif", "github"), default="text")


def run(options: argparse.Namespace) -> int:
    from gslang import __version__
    from gslang.base import render, render_sarif
    from gslang.check.parameters import ANY_VALUES

    rules = load_rules(options.rules, defines={**ANY_VALUES, **defines_of(options)})
    if options.format == "text":
        failed = show_findings(rules, options)
        if not failed:
            count = len(rules)
            sys.stderr.write(f"{count} rule{'s' * (count != 1)}, no errors\n")
        return ExitCode.FINDINGS if failed else ExitCode.FINE
    found = rules.diagnostics
    match options.format:
        case "json":
            sys.stdout.write(render.render_json(found))
        case "sarif":
            sys.stdout.write(render_sarif.render_sarif(found, __version__))
        case "github":
            sys.stdout.write(render.render_github(found))
        case _:
            sys.stdout.write(render.render_concise(found))
    return ExitCode.FINDINGS if any(d.severity.value == "error" for d in found) else ExitCode.FINE
