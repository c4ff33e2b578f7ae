"""Notifications of the client: texts that are opened, changed and closed, files and folders that come and go.
"""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp

from gslang.lsp.document import edited
from gslang.lsp.server import Server
from gslang.lsp.store import path_of


def register(server: Server) -> None:
    # Long on purpose: the handlers one after the other; each is short.
    store = server.store

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        store.unit = str(
            getattr(
                server.protocol.workspace.position_encoding, "value",
                server.protocol.workspace.position_encoding,
            )
            or "utf-16"
        )
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        store.roots = [path for uri in folders if uri and (path := path_of(uri)) is not None]
        if not store.roots and params.root_path:
            store.roots = [Path(params.root_path)]

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        if (
            workspace is not None and workspace.did_change_watched_files is not None
            and workspace.did_change_watched_files.dynamic_registration
        ):
            watchers = [
                lsp.FileSystemWatcher(f"**/{name}") for name in ("*.gsl", "gslang.toml", "pyproject.toml")
            ]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = lsp.Registration("gslang.files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([registration]))

    @server.feature(lsp.EXIT)
    def exit(params: None) -> None:
        server.exited = True

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        given = params.text_document
        server.edited(store.put(given.uri, given.text, given.version))

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
        server.edited(store.put(document.uri, text, params.text_document.version))

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
        store.roots += [
            path
            for folder in params.event.added
            if (path := path_of(folder.uri)) is not None and path not in store.roots
        ]
