"""Paths of files in reports: programs that read them know the checkout by other folders."""

from __future__ import annotations

import os
from pathlib import Path, PurePath


def relative_path(name: str, root: Path | None = None) -> str:
    """A file below `root` (the working directory) relative to it, with slashes; others as they are."""
    path = PurePath(name)
    if path.is_absolute():
        try:
            path = path.relative_to(root or Path(os.getcwd()))
        except ValueError:
            pass
    return path.as_posix()
