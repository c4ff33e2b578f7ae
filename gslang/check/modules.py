"""Finding modules and loading them checked: from the cache where they were checked before.

What a run with known rules needs of this package is here and in `checked`; parser and checker load only for new text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.cache import cached
from gslang.base.resources import stdlib_path
from gslang.base.rule_files import rule_files
from gslang.check.checked import CheckedProgram

if TYPE_CHECKING:
    from gslang.base.source import Source
    from gslang.syntax.parser import Parsed


def load_module(name: str, parsed: dict[Source, Parsed] | None = None) -> list[CheckedProgram]:
    """The programs of a shipped module (`std.relay.conv`; a package includes its modules), a file, or a folder.

    `parsed` receives the syntax of what had to be parsed for that.

    Raises `FileNotFoundError` if there is no such module.
    """
    paths = find_module(name) if name.startswith("std.") or name == "std" else _files(Path(name))

    def check() -> list[CheckedProgram]:
        from gslang.check.check import check_file, check_module
        from gslang.check.imports import Importer

        importer = Importer(check_module, parsed)
        return [check_file(path, importer) for path in paths]

    contents = [path.read_bytes() for path in paths]
    if any(b'use "' in text for text in contents):
        return check()  # what such a file means also depends on files that only reading it would tell
    shipped = [path.read_bytes() for path in rule_files(stdlib_path())]
    return cached("program", [*map(str, paths), *contents, *shipped], check)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return rule_files(path)
    if not path.exists():
        raise FileNotFoundError(str(path))
    return [path]


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
