"""Rule files that tests write."""

from __future__ import annotations

from pathlib import Path

from gslang.check.check import check_bytes
from gslang.check.checked import CheckedProgram


def check_file(path: Path) -> CheckedProgram:
    """Check a file."""
    return check_bytes(str(path), path.read_bytes())
