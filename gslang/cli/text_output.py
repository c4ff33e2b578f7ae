"""Where a text goes: a file, or standard output."""

from __future__ import annotations

import sys

from gslang.base.file_errors import file_errors


def write_output(text: str, path: str | None) -> None:
    """Write a text to a file, or to stdout without one. Raises `InputError`."""
    from gslang.base.atomic_write import write_text

    if path is None or path == "-":
        sys.stdout.write(text)
        return
    with file_errors(path, "cannot be written"):
        write_text(path, text)
