"""`use`: reading each module once, and refusing circles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.file_errors import reason_of
from gslang.base.source import Source
from gslang.base.suggest import did_you_mean
from gslang.check.module_files import find_module, module_names
from gslang.dialect.load import dialect_names
from gslang.syntax import nodes as n
from gslang.syntax.parser import Parsed, parse, read_source

if TYPE_CHECKING:
    from gslang.check.check import Module


class Importer:
    """The modules read so far, by path, and the chain of files being read.

    `parsed`: keeps what was parsed, for who wants the syntax too.
    """

    def __init__(
        self,
        check: Callable[[Source, Importer], Module],
        parsed: dict[Source, Parsed] | None = None,
        defines: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self._check = check
        self.defines = defines  # values for parameters of the files, by name
        self._parsed = parsed
        self._done: dict[str, Module] = {}
        self._chain: list[str] = []

    def parse(self, source: Source) -> Parsed:
        found = parse(source)
        if self._parsed is not None:
            self._parsed[source] = found
        return found

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        self._chain.append(_key(name))
        try:
            yield
        finally:
            self._chain.pop()

    def modules(self, item: n.Use, source: Source) -> tuple[list[Module], Diagnostic | None]:
        """The modules that a `use` names, or what is wrong with it."""
        label = Label(item.span)
        try:
            if item.is_path:
                base = Path(source.name).parent
                paths = [base / item.module]
                if not paths[0].is_file():
                    near = did_you_mean(
                        Path(item.module).name,
                        [p.name for p in paths[0].parent.glob("*.gsl")] if paths[0].parent.is_dir() else [],
                    )
                    help = f"did you mean `{near}`?" if near else "the path is relative to this file"
                    return [], Diagnostic("E0204", f"file `{item.module}` not found", label, help=help)
            elif item.module.startswith("std.") or item.module == "std":
                paths = find_module(item.module)
            else:
                help = (
                    f"`dialect {item.module};`, as the first line, selects the operators; "
                    f"`use std.{item.module};` names the shipped rules"
                    if item.module in dialect_names()
                    else f'shipped modules begin with `std.`; a file is written `use "./{item.module}.gsl";`'
                )
                return [], Diagnostic("E0204", f"unknown module `{item.module}`", label, help=help)
        except FileNotFoundError:
            guess = did_you_mean(item.module, module_names())
            help = f"did you mean `{guess}`?" if guess else f"shipped: {', '.join(module_names())}"
            return [], Diagnostic("E0204", f"unknown module `{item.module}`", label, help=help)
        found = []
        for path in paths:
            key = _key(str(path))
            if key in self._chain:
                if not item.is_path and len(paths) > 1:
                    continue  # a module of a package may use the package
                loop = [Path(k).name for k in self._chain[self._chain.index(key) :]] + [path.name]
                return [], Diagnostic(
                    "E0205", f"circular import: {' → '.join(loop)}", label,
                    help="move the shared part to a third file",
                )
            if key not in self._done:
                try:
                    text = read_source(path)
                except OSError as error:
                    return [], Diagnostic(
                        "E0204", f"`{item.module}` cannot be read: {reason_of(error)}", label,
                        help="make the file readable, or name another one",
                    )
                if isinstance(text, Diagnostic):
                    return [], Diagnostic(
                        "E0204", f"`{item.module}` cannot be read: {text.message}", label, help=text.help
                    )
                self._done[key] = self._check(text, self)
            found.append(self._done[key])
        return found, None


def _key(name: str) -> str:
    try:
        return str(Path(name).resolve())
    except OSError:
        return name
