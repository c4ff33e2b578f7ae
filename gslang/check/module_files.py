"""The files of shipped modules."""

from __future__ import annotations

from pathlib import Path

from gslang.base.resources import stdlib_path
from gslang.base.rule_files import rule_files


def find_module(name: str) -> list[Path]:
    """The files of a shipped module: `std.relay.conv` one, a package (`std.relay`) all of its modules.

    Raises `FileNotFoundError` if there is none.
    """
    path = stdlib_path().joinpath(*name.split(".")[1:])
    if path.is_dir():
        return [p for p in rule_files(path) if p.name != "ops.gsl"]
    file = path.with_suffix(".gsl")
    if file.is_file():
        return [file]
    raise FileNotFoundError(name)


def module_names() -> list[str]:
    """All shipped modules and packages."""
    root = stdlib_path()
    names = []
    for path in rule_files(root):
        if path.name != "ops.gsl":
            names.append("std." + ".".join(path.relative_to(root).with_suffix("").parts))
    return sorted({*names, *(".".join(name.split(".")[:2]) for name in names)})
