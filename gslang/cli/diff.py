"""Compare two graphs up to names: gslc diff a.json b.relay"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gslang.cli.main import ExitCode
from gslang.cli.shared import add_graph_options, load_graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", help="a .json or .relay graph")
    parser.add_argument("b", help="another")
    add_graph_options(parser)


def run(options: argparse.Namespace) -> int:
    from gslang.dialect.load import load_dialect
    from gslang.graph.compare import differences

    a, b = load_graph(options.a, options), load_graph(options.b, options)
    mixed = Path(options.a).suffix.lower() != Path(options.b).suffix.lower()
    found = differences(a, b, dialect=load_dialect(a.dialect), across_formats=mixed)
    for line in found:
        sys.stdout.write(line + "\n")
    return ExitCode.FINDINGS if found else ExitCode.FINE
