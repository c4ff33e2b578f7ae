"""The server: what the protocol asks, handed to the file that answers it. Nothing is computed here.

Edits are judged at once; lints that run rules, and other files that import the edited one, wait until nobody types.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from gslang import __version__
from gslang.lsp import symbols
from gslang.lsp.diagnostics import shown
from gslang.lsp.document import Document, edited
from gslang.lsp.store import Store, path_of

_PAUSE = 0.4  # seconds without an edit, after which costly lints run


class _Protocol(LanguageServerProtocol):
    """Texts are kept by `Store` alone: what pygls would keep breaks lines where the protocol does not."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class Server(LanguageServer):
    """The language server with its documents. `told`: what was published last for each document."""

    def __init__(self) -> None:
        super().__init__("gslang", __version__, protocol_cls=_Protocol, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self.store = Store()
        self.told: dict[str, list[lsp.Diagnostic]] = {}
        self._waiting: asyncio.TimerHandle | None = None

    def document(self, uri: str) -> Document | None:
        return self.store.get(uri)

    def tell(self, document: Document, costly: bool) -> None:
        """Publish the findings of an open document, unless they are what was published before."""
        found = shown(self.store, document, self.store.findings(document, costly))
        if self.told.get(document.uri) != found or not costly:
            self.told[document.uri] = found
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, found, document.version))
        for problem in self.store.problems:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, problem))
        self.store.problems.clear()

    def settle(self) -> None:
        """After a pause: everything about all open documents."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(_PAUSE, self._settled)

    def _settled(self) -> None:
        self._waiting = None
        for document in list(self.store.open.values()):
            self.tell(document, True)


def serve() -> None:
    """Talk on standard input and output until the client says `exit`."""
    logging.basicConfig(level=logging.WARNING)
    make_server().start_io()


def make_server() -> Server:
    """A server with all that it can do."""
    server = Server()
    _documents(server)
    _outlines(server)
    return server


def _documents(server: Server) -> None:
    store = server.store

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        store.unit = str(getattr(server.protocol.workspace.position_encoding, "value", server.protocol.workspace.position_encoding) or "utf-16")
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        store.roots = [path for uri in folders if uri and (path := path_of(uri)) is not None]

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        given = params.text_document
        server.tell(store.put(given.uri, given.text, given.version), False)
        server.settle()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        document = store.open.get(params.text_document.uri)
        if document is None:
            return
        text, lines = document.text, document.lines
        for change in params.content_changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                begin = lines.offset(change.range.start.line, change.range.start.character)
                end = lines.offset(change.range.end.line, change.range.end.character)
                text = edited(text, begin, end, change.text)
            else:
                text = change.text
            lines = type(lines)(text, store.unit)
        server.tell(store.put(document.uri, text, params.text_document.version), False)
        server.settle()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        store.close(params.text_document.uri)
        server.told.pop(params.text_document.uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))
        server.settle()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        store.forget_configuration()
        server.settle()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        store.forget_configuration()
        server.settle()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        gone = {path_of(folder.uri) for folder in params.event.removed}
        store.roots = [root for root in store.roots if root not in gone]
        store.roots += [path for folder in params.event.added if (path := path_of(folder.uri)) is not None and path not in store.roots]


def _outlines(server: Server) -> None:
    store = server.store

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol] | None:
        document = server.document(params.text_document.uri)
        return symbols.document_symbols(document) if document is not None else None

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def workspace_symbol(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        return symbols.workspace_symbols(store, params.query)
