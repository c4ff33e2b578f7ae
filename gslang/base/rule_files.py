"""The rule files of a folder."""

from __future__ import annotations

from pathlib import Path


def rule_files(folder: Path) -> list[Path]:
    """All `.gsl` files in a folder and those below it, sorted; not what is hidden, such as the lock links
    that editors leave.
    """
    found = (
        path
        for path in folder.rglob("*.gsl")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    return sorted(path for path in found if not path.is_dir())
