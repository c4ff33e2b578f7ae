"""Imports as links to the files that they name."""

from __future__ import annotations

from lsprotocol import types as lsp

from gslang.lsp.diagnostics import range_of
from gslang.lsp.document import Document
from gslang.lsp.lookup import Import, imported_files
from gslang.lsp.names import marks
from gslang.lsp.store import Store


def document_links(store: Store, document: Document) -> list[lsp.DocumentLink]:
    """A package of several modules is no link: there is no one file to open."""
    found = []
    for piece, start in zip(document.pieces, document.starts):
        for mark in marks(piece):
            if mark.role in ("path", "module"):
                inside = int(mark.role == "path")
                files = imported_files(document, Import(mark.text.strip('"'), mark.role == "path", None))
                other = store.file(files[0]) if len(files) == 1 else None
                if other is not None:
                    place = range_of(document, start + mark.start + inside, start + mark.end - inside)
                    found.append(
                        lsp.DocumentLink(range=place, target=other.uri, tooltip=f"open {files[0].name}")
                    )
    return found
