"""Translate rules of other tools: gslc import taso graph_subst.json -o rules/

`taso` reads the substitutions of TASO's generator as JSON, and writes `taso.gsl` (rules `taso_000` …) and `operators.gsl`.
"""

from __future__ import annotations

import argparse
import sys

from gslang.cli.main import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("taso",), help="what the file is")
    parser.add_argument("file", help="the file to translate")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder for the rule files; made if need be")
    parser.add_argument("--with-conditions", action="store_true", help="add the conditions under which the substitutions hold")


def run(options: argparse.Namespace) -> int:
    from gslang.taso.read import read_substitutions
    from gslang.taso.write import write_rules

    rules = read_substitutions(options.file)
    files = write_rules(rules, options.file, options.output, options.with_conditions)
    sys.stderr.write(f"{len(rules)} rules: {', '.join(map(str, files))}\n")
    return ExitCode.FINE
