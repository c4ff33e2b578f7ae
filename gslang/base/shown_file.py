"""Names of rule files as pages and listings show them."""

from __future__ import annotations

from pathlib import Path

from gslang.base.relative_path import relative_path
from gslang.base.resources import stdlib_path


def shown_file(name: str) -> str:
    """A file's name that does not depend on where gslang is installed: `std.onnx.fuse` for a shipped file,
    else a relative path.
    """
    path = Path(name)
    shipped = stdlib_path()
    if path.is_relative_to(shipped):
        return ".".join(("std", *path.relative_to(shipped).with_suffix("").parts))
    return relative_path(name)
