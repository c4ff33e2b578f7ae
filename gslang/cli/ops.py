"""List operators and their signatures: gslc ops, gslc ops nn.conv2d"""

from __future__ import annotations

import argparse
import sys

from gslang.cli.main import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("operator", nargs="?", help="one operator")
    parser.add_argument("--dialect", default="relay", metavar="NAME", help="relay")


def run(options: argparse.Namespace) -> int:
    from gslang.base.suggest import did_you_mean
    from gslang.dialect.load import dialect_names, load_dialect

    if options.dialect not in dialect_names():
        sys.stderr.write(f"gslc ops: there is no dialect `{options.dialect}`\n  help: dialects: {', '.join(dialect_names())}\n")
        return ExitCode.USAGE
    operators = load_dialect(options.dialect).operators
    if options.operator is None:
        for name in sorted(operators):
            sys.stdout.write(str(operators[name]) + "\n")
        return ExitCode.FINE
    if options.operator not in operators:
        guess = did_you_mean(options.operator, operators)
        sys.stderr.write(f"gslc ops: there is no operator `{options.operator}`\n" + (f"  help: did you mean `{guess}`?\n" if guess else ""))
        return ExitCode.USAGE
    sys.stdout.write(str(operators[options.operator]) + "\n")
    return ExitCode.FINE
