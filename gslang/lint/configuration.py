"""A project's selection of lints: `[tool.gslang.lint]` in `pyproject.toml`, or `[lint]` in `gslang.toml`; the
nearest file upward decides.

A `pyproject.toml` without `[tool.gslang]` is skipped. Each rule file has the configuration of its own folder.
`configuration.schema.json` describes `gslang.toml`, and `[tool.gslang]`.
"""

from __future__ import annotations

import sys
from dataclasses import field
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

from gslang.base.diagnostics import InputError, Severity
from gslang.base.open_types import JsonObject
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import read_text
from gslang.base.suggest import did_you_mean
from gslang.lint.selectors import fits, selected_codes, weight

_KEYS = ("select", "ignore", "per-file-ignores", "severity")
_TABLES = ("lint", "model")  # `model`: the model that the language server matches rules in
_SEVERITIES = {severity.value: severity for severity in Severity}


@dataclass(frozen=True, slots=True)
class Configuration:
    """Selectors are codes, prefixes of codes, or names.

    `per_file_ignores`: (glob, selectors); `severity`: (selector, how bad).
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())
    severity: tuple[tuple[str, Severity], ...] = field(default=())

    def ignored_in(self, file: str) -> tuple[str, ...]:
        path = PurePath(file).as_posix()
        return tuple(
            s
            for glob, some in self.per_file_ignores if fnmatch(path, glob) or fnmatch(path, f"*/{glob}")
            for s in some
        )


    def severity_of(self, code: str) -> Severity:
        """The severity of a finding: that of the narrowest selector, of equally narrow ones the last; a
        warning otherwise."""
        fitting = [
            (weight(selector), k, severity)
            for k, (selector, severity) in enumerate(self.severity) if fits(selector, code)
        ]
        return max(fitting, key=lambda found: found[:2])[2] if fitting else Severity.WARNING


def find_configuration(folder: Path) -> Configuration:
    """The configuration that holds in a folder.

    Raises `InputError` for a file that is not as it should be.
    """
    for place in (folder, *folder.parents):
        for name in ("gslang.toml", "pyproject.toml"):
            path = place / name
            if path.is_file():
                table = _toml(path)
                if name == "pyproject.toml":
                    tool = table.get("tool", {})
                    if not isinstance(tool, dict) or "gslang" not in tool:
                        continue
                    table = tool["gslang"]
                return read_configuration(table, str(path))
    return Configuration()


def _toml(path: Path) -> dict[str, object]:
    toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table: dict[str, object] = toml.loads(read_text(path))
    # what is no TOML or no UTF-8, too long a number, too deep a table
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"cannot be read as TOML: {error}", path=str(path)) from None
    return table


def read_configuration(table: Any, path: str) -> Configuration:
    """A configuration from the table of its file. Raises `InputError`."""
    for key in _table(table, "gslang", path):
        if key not in _TABLES and (guess := did_you_mean(key, _TABLES)):
            raise InputError(f"unknown key `{key}`", path=path, help=f"did you mean `{guess}`?")
    lint = _table(table.get("lint", {}), "lint", path)
    for key in lint:
        if key not in _KEYS:
            guess = did_you_mean(key, _KEYS)
            help = f"did you mean `{guess}`?" if guess else f"known: {', '.join(_KEYS)}"
            raise InputError(f"unknown key `{key}` in `lint`", path=path, help=help)
    per_file = _table(lint.get("per-file-ignores", {}), "per-file-ignores", path)
    return Configuration(
        _selectors(lint.get("select", []), "select", path),
        _selectors(lint.get("ignore", []), "ignore", path),
        tuple((glob, _selectors(some, f"per-file-ignores.{glob}", path)) for glob, some in per_file.items()),
        _severities(_table(lint.get("severity", {}), "severity", path), path),
    )


def _severities(table: JsonObject, path: str) -> tuple[tuple[str, Severity], ...]:
    _selectors(list(table), "severity", path)
    for selector, word in table.items():
        if not isinstance(word, str) or word not in _SEVERITIES:
            raise InputError(
                f"`severity.{selector}` is `{word}`", path=path,
                help=f"one of {', '.join(_SEVERITIES)}; use `ignore` to disable a lint",
            )
    return tuple((selector, _SEVERITIES[word]) for selector, word in table.items())


def _table(value: object, what: str, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise InputError(f"`{what}` is a table", path=path, help=f"write it as `[…{what}]`")
    return value


def _selectors(value: object, what: str, path: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"`{what}` must be a list of codes", path=path, help=f'such as {what} = ["L0108"]')
    try:
        selected_codes((), value)
    except ValueError as error:
        raise InputError(
            f"`{what}`: unknown lint `{error}`", path=path, help="`gslc lint --help` lists them"
        ) from None
    return tuple(value)
