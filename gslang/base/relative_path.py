"""Paths of files in reports: programs that read them know the checkout by other folders."""

from __future__ import annotations

import os
from pathlib import PurePath


def relative_path(name: str) -> str:
    """A file below the working directory relative to it, with slashes; others as they are."""
    path = PurePath(name)
    if path.is_absolute():
        try:
            path = path.relative_to(os.getcwd())
        except ValueError:
            pass
    return path.as_posix()
