"""Colours of summaries and tables: on terminals only, unless `--color` says otherwise."""

from __future__ import annotations

import argparse
import os
from typing import Final, TextIO

from gslang.base.style import Paint, Style, plain

_CODES: Final[dict[Style, str]] = {"head": "1", "count": "1;36", "good": "1;32", "bad": "1;31", "quiet": "2"}


def painter(options: argparse.Namespace, stream: TextIO) -> Paint:
    """A function that colours text which is to be written to `stream`, or leaves it unchanged."""
    wanted = (
        options.color == "always" or options.color == "auto" and stream.isatty()
        and "NO_COLOR" not in os.environ
    )
    return (lambda style, text: f"\x1b[{_CODES[style]}m{text}\x1b[0m") if wanted else plain
