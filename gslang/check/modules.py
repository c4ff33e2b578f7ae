"""Finding modules and loading them checked: from the cache where they were checked before.

What a run with known rules needs of this package is here and in `checked`; parser and checker load only for
new text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from gslang.base.cache import cached
from gslang.base.file_errors import reason_of
from gslang.base.read_file import read_bytes
from gslang.base.resources import stdlib_path
from gslang.base.rule_files import rule_files
from gslang.check import footprint  # noqa: F401 (it says how rules are stored)
from gslang.check.checked import CheckedProgram
from gslang.check.module_files import find_module

if TYPE_CHECKING:
    from gslang.base.source import Source
    from gslang.syntax.parser import Parsed


_SHIPPED: dict[tuple[str | bytes, ...], tuple[CheckedProgram, ...]] = {}
"""Shipped modules that this process has loaded, by what they were made from: they stay the same objects, with
the code compiled for them.
"""


def load_module(
    name: str,
    parsed: dict[Source, Parsed] | None = None,
    defines: Mapping[str, object] = MappingProxyType({}),
) -> list[CheckedProgram]:
    """The programs of a shipped module (`std.relay.conv`; a package includes its modules), a file, or a
    folder.

    `parsed` receives the syntax of what had to be parsed for that. `defines`: values for parameters of the
    files.

    Raises `FileNotFoundError` if there is no such module.
    """
    paths = find_module(name) if name.startswith("std.") or name == "std" else _files(Path(name))

    contents, unreadable = _contents(name, paths)  # once: a pipe gives it once
    paths = [path for path in paths if path not in unreadable]
    if unreadable:
        from gslang.check.check import check_unreadable

        return [*_checked(name, paths, contents, parsed, defines), *map(check_unreadable, unreadable.items())]
    return _checked(name, paths, contents, parsed, defines)


def _contents(name: str, paths: list[Path]) -> tuple[list[bytes], dict[Path, str]]:
    """The contents of the files; the files of a folder that cannot be read, and why."""
    contents, unreadable = [], {}
    for path in paths:
        try:
            contents.append(read_bytes(path))
        except OSError as error:
            if path == Path(name):
                raise
            unreadable[path] = reason_of(error)
    return contents, unreadable


def _checked(
    name: str,
    paths: list[Path],
    contents: list[bytes],
    parsed: dict[Source, Parsed] | None,
    defines: Mapping[str, object],
) -> list[CheckedProgram]:
    """The programs of files, in their order."""

    def check() -> list[CheckedProgram]:
        from gslang.check.check import check_bytes, check_module
        from gslang.check.imports import Importer

        importer = Importer(check_module, parsed, defines)
        return [check_bytes(str(path), data, importer) for path, data in zip(paths, contents)]

    if any(b'use "' in text for text in contents):
        return check()  # what such a file means also depends on files that only reading it would tell
    shipped = [path.read_bytes() for path in rule_files(stdlib_path())]
    given = [repr(sorted(defines.items()))] if defines else []
    parts: tuple[str | bytes, ...] = (*map(str, paths), *contents, *shipped, *given)
    if not (name == "std" or name.startswith("std.")):
        return cached("program", parts, check)
    if parts not in _SHIPPED:
        _SHIPPED[parts] = tuple(cached("program", parts, check))
    return list(_SHIPPED[parts])


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return rule_files(path)
    if not path.exists():
        raise FileNotFoundError(str(path))
    return [path]
