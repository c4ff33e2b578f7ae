"""The language server for editors: gslc lsp

Speaks the Language Server Protocol on standard input and output. Editors start it; see docs/lsp.md.
"""

from __future__ import annotations

import argparse

from gslang.cli.main import ExitCode, Refusal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true",
        help="communicate over standard input and output (no effect: this is the default)",
    )


def run(options: argparse.Namespace) -> int:
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise Refusal(
            "gslc lsp: the package `pygls` is missing\n  help: pip install 'gslang[lsp]'\n"
        ) from None
    from gslang.lsp.serve import serve

    return ExitCode.FINE if serve() else ExitCode.FINDINGS
