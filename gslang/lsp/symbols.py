"""Outlines: the items of a document with what is introduced in them, and all items of the workspace by a part
of their name.
"""

from __future__ import annotations

from lsprotocol import types as lsp

from gslang.lsp.diagnostics import location_of, range_of
from gslang.lsp.document import Document
from gslang.lsp.names import Mark, head, marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store

_KINDS = {
    "rule": lsp.SymbolKind.Class,
    "fn": lsp.SymbolKind.Function,
    "op": lsp.SymbolKind.Operator,
    "pass": lsp.SymbolKind.Event,
    "test": lsp.SymbolKind.Method,
    "param": lsp.SymbolKind.Constant,
}
_INNER = {
    "input": lsp.SymbolKind.Variable,
    "graph-input": lsp.SymbolKind.Variable,
    "variable": lsp.SymbolKind.Operator,
    "template": lsp.SymbolKind.Array,
    "binding": lsp.SymbolKind.Variable,
    "parameter": lsp.SymbolKind.Variable,
}
_MOST = 500


def body_of(piece: Piece) -> tuple[int, int]:
    """The item itself, from its first token (annotations included) to its last."""
    tokens = piece.tokens.all
    return (tokens[0].start, tokens[-1].end) if tokens else (0, 0)


def document_symbols(document: Document) -> list[lsp.DocumentSymbol]:
    found = []
    for piece, start in zip(document.pieces, document.starts):
        name = head(piece)
        if name is not None:
            begin, end = body_of(piece)
            inner = [
                _inner(document, start, mark) for mark in marks(piece) if mark.defines and mark.role in _INNER
            ]
            found.append(lsp.DocumentSymbol(
                name=_shown(name), kind=_KINDS[name.role],
                range=range_of(document, start + begin, start + end),
                selection_range=range_of(document, start + name.start, start + name.end),
                detail=_detail(piece, name), children=inner,
            ))
    return found


def _inner(document: Document, start: int, mark: Mark) -> lsp.DocumentSymbol:
    place = range_of(document, start + mark.start, start + mark.end)
    return lsp.DocumentSymbol(
        name=mark.text, kind=_INNER[mark.role], range=place, selection_range=place,
        detail=mark.role.replace("-", " "),
    )


def flat(document: Document, found: list[lsp.DocumentSymbol]) -> list[lsp.SymbolInformation]:
    """The items alone, for clients that know no outlines with levels."""
    return [
        lsp.SymbolInformation(location=lsp.Location(document.uri, s.range), name=s.name, kind=s.kind)
        for s in found
    ]


def _shown(name: Mark) -> str:
    return name.text.strip('"') or "(no title)" if name.role == "test" else name.text


def _detail(piece: Piece, name: Mark) -> str:
    if name.role == "test":
        rule = next((mark.text for mark in marks(piece) if mark.role == "test-rule"), "")
        return f"test for {rule}" if rule else "test"
    return name.role


def workspace_symbols(store: Store, query: str) -> list[lsp.WorkspaceSymbol]:
    """Items whose name has the letters of the query in this order, of the workspace and of the shipped
    library.
    """
    found: list[tuple[int, str, lsp.WorkspaceSymbol]] = []
    seen: set[str] = set()
    for rank, files in ((0, store.workspace_files()), (1, store.shipped_files())):
        for document in files:
            if document.name in seen:
                continue
            seen.add(document.name)
            for piece, start in zip(document.pieces, document.starts):
                # whose text has not even the letters need not be scanned for its name: thousands of files can
                # be searched
                name = (
                    head(piece) if piece.keyword and _has_letters(piece.text.lower(), query.lower()) else None
                )
                if (
                    name is not None and name.role != "test"
                    and _has_letters(name.text.lower(), query.lower())
                ):
                    symbol = lsp.WorkspaceSymbol(
                        location_of(document, start + name.start, start + name.end), name.text,
                        _KINDS[name.role],
                    )
                    symbol.container_name = document.name.rsplit("/", 1)[-1]
                    found.append((2 * rank + (query.lower() not in name.text.lower()), name.text, symbol))
    return [symbol for _, _, symbol in sorted(found, key=lambda item: item[:2])[:_MOST]]


def _has_letters(text: str, query: str) -> bool:
    at = 0
    for letter in query:
        at = text.find(letter, at) + 1
        if at == 0:
            return False
    return True
