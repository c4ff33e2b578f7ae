"""Completion items: names, fields, arguments and snippets at the cursor of an item."""

from __future__ import annotations

from lsprotocol import types as lsp

from gslang.lsp.analysis import Analysis
from gslang.lsp.context import Cursor
from gslang.lsp.diagnostics import range_of
from gslang.lsp.document import Document
from gslang.lsp.store import Store

_K = lsp.CompletionItemKind


class ItemsAt:
    """The cursor in an item. `start`: where the piece begins in the document."""

    def __init__(self, store: Store, document: Document, here: Cursor, start: int) -> None:
        self.store, self.document, self.here, self.start = store, document, here, start
        self.piece = here.piece
        self.analysis: Analysis = store.analysis(document)

    def plain(
        self,
        label: str,
        kind: lsp.CompletionItemKind,
        detail: str = "",
        doc: str = "",
        data: dict[str, str] | None = None,
    ) -> lsp.CompletionItem:
        given = {"uri": self.document.uri, **data} if data else None
        return lsp.CompletionItem(
            label=label, kind=kind, detail=detail or None, documentation=doc or None, data=given
        )

    def dotted(
        self, label: str, kind: lsp.CompletionItemKind, detail: str, data: dict[str, str]
    ) -> lsp.CompletionItem:
        """A name with dots: it replaces all that is typed of it, also before the last dot."""
        item = self.plain(label, kind, detail, data=data)
        place = range_of(self.document, self.start + self.here.start, self.start + self.here.offset)
        item.text_edit, item.filter_text = lsp.TextEdit(place, label), label
        return item

    def field(
        self, label: str, kind: lsp.CompletionItemKind, detail: str, data: dict[str, str] | None = None
    ) -> lsp.CompletionItem:
        """The completion after a dot: only the part behind it is replaced."""
        item = self.plain(label, kind, detail, data=data)
        typed = self.here.word.rpartition(".")[2]
        place = range_of(
            self.document, self.start + self.here.offset - len(typed), self.start + self.here.offset
        )
        item.text_edit = lsp.TextEdit(place, label)
        return item

    def argument(self, name: str, detail: str, data: dict[str, str]) -> lsp.CompletionItem:
        item = self.plain(f"{name} =", _K.Field, detail, data=data)
        item.filter_text, item.sort_text = name, f" {name}"
        item.insert_text = f"{name} = "
        return item

    def snippet(self, label: str, detail: str, text: str) -> lsp.CompletionItem:
        return lsp.CompletionItem(
            label=label, kind=_K.Snippet, detail=detail, insert_text=text,
            insert_text_format=lsp.InsertTextFormat.Snippet,
        )
