"""All documents that the server knows: what is open in the editor, what was read from disk, and what is known
about each.

An open text stands for its file wherever another file imports it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gslang.base.diagnostics import Diagnostic, InputError, Label
from gslang.base.file_errors import reason_of
from gslang.base.resources import stdlib_path
from gslang.base.rule_files import rule_files
from gslang.base.source import Source, Span
from gslang.check.check import Module
from gslang.check.imports import Importer
from gslang.check.limits import RuleFailed
from gslang.lint.configuration import Configuration, find_configuration
from gslang.lint.linted_file import Finding
from gslang.lint.selectors import selected_codes
from gslang.lsp.analysis import Analysis, analyse
from gslang.lsp.document import Document, folder_of, open_document
from gslang.lsp.linting import COSTLY, lint
from gslang.syntax import nodes as n
from gslang.syntax.parser import read_source

_LOG = logging.getLogger(__name__)
_MOST_FILES = 5000
_PASSED_OVER = ("node_modules", "build", "dist", "__pycache__")


class Store:
    """`unit`: how the client counts characters. `roots`: the folders of the workspace."""

    def __init__(self) -> None:
        self.unit = "utf-16"
        self.roots: list[Path] = []
        self.open: dict[str, Document] = {}
        self._disk: dict[str, Document] = {}
        self._configurations: dict[Path, Configuration] = {}
        self.problems: list[str] = []  # of configuration files, to be told once

    # ── documents ──

    def put(self, uri: str, text: str, version: int | None) -> Document:
        """A text that the editor has open, or a new version of it."""
        name = name_of(uri)
        old = self.open.get(uri) or self._disk.get(_key(name))
        document = self.open[uri] = open_document(uri, name, text, version, self.unit, old)
        return document

    def close(self, uri: str) -> None:
        self.open.pop(uri, None)

    def get(self, uri: str) -> Document | None:
        """An open document, or a file."""
        if uri in self.open:
            return self.open[uri]
        path = path_of(uri)
        return self.file(path) if path is not None else None

    def file(self, path: Path) -> Document | None:
        """A file as it is now: open in the editor, else on disk; None if it cannot be read."""
        key = _key(str(path))
        for document in self.open.values():
            if _key(document.name) == key:
                return document
        try:
            source = read_source(path)
        except (OSError, ValueError):
            return None
        return self._on_disk(source) if isinstance(source, Source) else None

    def _on_disk(self, source: Source) -> Document:
        key = _key(source.name)
        known = self._disk.get(key)
        if known is None or known.text != source.text:
            uri = Path(key).as_uri() if Path(key).is_absolute() else key
            known = self._disk[key] = open_document(uri, key, source.text, None, self.unit, known)
        return known

    def workspace_files(self) -> Iterator[Document]:
        """All open documents and all `.gsl` files in the folders of the workspace, hidden and generated
        folders left out.
        """
        seen = {_key(document.name) for document in self.open.values()}
        yield from list(self.open.values())
        count = 0
        for root in self.roots:
            for folder, folders, files in os.walk(root):
                folders[:] = sorted(
                    name for name in folders if not name.startswith(".") and name not in _PASSED_OVER
                )
                for name in sorted(files):
                    key = _key(os.path.join(folder, name))
                    if name.endswith(".gsl") and key not in seen and count < _MOST_FILES:
                        seen.add(key)
                        count += 1
                        document = self.file(Path(key))
                        if document is not None:
                            yield document

    def shipped_files(self) -> Iterator[Document]:
        for path in rule_files(stdlib_path()):
            document = self.file(path)
            if document is not None:
                yield document

    def known(self) -> Iterator[Document]:
        """The open documents, and the files that were read."""
        yield from self.open.values()
        yield from self._disk.values()

    # ── what is known of them ──

    def analysis(self, document: Document) -> Analysis:
        return analyse(document, _Reader(self._module))

    def _module(self, source: Source, importer: Importer) -> Module:
        key = _key(source.name)
        document = next((d for d in self.open.values() if _key(d.name) == key), None) or self._on_disk(source)
        return analyse(document, importer).module

    def findings(self, document: Document, costly: bool = True) -> list[Diagnostic]:
        """Errors of a document and lints, in the order of the text. Without `costly`, of the costly lints
        what they found before, where it concerns only rules that have not changed since.
        """
        analysis = self.analysis(document)
        selected = self.selected(document)
        found = [d for d in analysis.program.diagnostics if document.holds(d.primary.span.source)]
        severity_of = self.configuration(folder_of(document)).severity_of
        known = document.memo.get("lints")
        if known is not None and known[0] is analysis and known[1] == selected:
            lints: list[Finding] = known[2]
        else:
            try:
                lints = lint(analysis, selected, costly)
            except RuleFailed as error:  # the next version may not have it
                _LOG.warning("lints of %s do not run: %s", document.name, error)
                lints = []
            if costly:
                document.memo["lints"] = (analysis, selected, lints)
            elif known is not None:
                lints += [
                    f
                    for f in known[2] if f.code in COSTLY and f.code in selected and _still_there(document, f)
                ]
        found += [replace(finding, severity=severity_of(finding.code)) for finding in lints]
        return sorted(found, key=lambda d: (*document.range_of(d.primary.span), d.code, d.message))

    def linted(self, document: Document) -> bool:
        """True if all lints of this version are known, or none of them takes long."""
        analysis, selected = self.analysis(document), self.selected(document)
        known = document.memo.get("lints")
        return (
            known is not None and known[0] is analysis and known[1] == selected or not analysis.program.ok
            or not selected & COSTLY
        )

    def keep_lints(self, document: Document, found: list[Finding]) -> None:
        """The findings of all lints in this version, computed elsewhere."""
        document.memo["lints"] = (self.analysis(document), self.selected(document), found)

    def selected(self, document: Document) -> frozenset[str]:
        configuration = self.configuration(folder_of(document))
        return selected_codes(
            configuration.select, (*configuration.ignore, *configuration.ignored_in(document.name))
        )

    def configuration(self, folder: Path) -> Configuration:
        """The configuration that holds in a folder; the usual one where it cannot be read."""
        if folder not in self._configurations:
            try:
                self._configurations[folder] = find_configuration(folder)
            except InputError as error:
                self.problems.append(str(error))
                self._configurations[folder] = Configuration()
        return self._configurations[folder]

    def forget_configuration(self) -> None:
        self._configurations.clear()

    def locate(self, span: Span) -> tuple[Document, int, int] | None:
        """The document of a span and its offsets there."""
        for document in self.known():
            if document.holds(span.source):
                return (document, *document.range_of(span))
        return None


def _still_there(document: Document, finding: Diagnostic) -> bool:
    """True if the rules that a finding speaks of are those of this version."""
    return all(document.holds(label.span.source) for label in (finding.primary, *finding.related))


def path_of(uri: str) -> Path | None:
    """The path of a `file:` URI; None for other URIs."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or "\0" in path:
        return None
    return Path(windows_path(unquote(parts.netloc), path) if os.name == "nt" else path)


def windows_path(host: str, path: str) -> str:
    """A path of Windows from the two parts of a `file:` URI: of a drive, or of a folder that another computer
    shares.
    """
    if host not in ("", "localhost"):
        return f"//{host}{path}"
    return path[1:] if path[:1] == "/" and path[2:3] == ":" else path


def name_of(uri: str) -> str:
    """The path of a file; of another document its URI, in characters that a file name can have: imports are
    looked for beside it.
    """
    path = path_of(uri)
    return str(path) if path is not None else uri.encode("utf-8", "replace").decode().replace("\0", "?")


def _key(name: str) -> str:
    try:
        return os.path.realpath(name) if os.path.isabs(name) else name
    except ValueError:  # no name that a file can have
        return name


class _Reader(Importer):
    """An importer for which a file that may not be read is a finding, since it may be readable a moment
    later.
    """

    def modules(self, item: n.Use, source: Source) -> tuple[list[Module], Diagnostic | None]:
        try:
            return super().modules(item, source)
        except OSError as error:
            return [], Diagnostic(
                "E0204", f"`{item.module}` cannot be read: {reason_of(error)}", Label(item.span),
                help="make the file readable, or name another one",
            )
