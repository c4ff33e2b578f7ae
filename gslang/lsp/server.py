"""The language server as an object: its documents, what it has told the client, and when it tells more.

Edits are judged at once. Other files that import the edited one wait until nobody types, and so do lints that
hold items against each other: these run in a process of their own (`lint_process`), so that a user who types
meanwhile is answered as fast as ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from gslang import __version__
from gslang.base.open_types import JsonDict
from gslang.check.checked import CheckedRule
from gslang.graph.graph import Graph
from gslang.lsp.code_lenses import Ran
from gslang.lsp.diagnostics import shown
from gslang.lsp.document import Document
from gslang.lsp.lint_process import LintProcess
from gslang.lsp.store import Store

_PAUSE = 0.4  # seconds without an edit, after which costly lints run


class _Protocol(LanguageServerProtocol):
    """Texts are kept by `Store` alone: what pygls would keep breaks lines where the protocol does not."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: lsp.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: lsp.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None

    @lsp_method(lsp.SHUTDOWN)
    def lsp_shutdown(self, *given: object) -> Generator[Any, Any, None]:
        """As pygls has it, which stumbles over requests that end while it cancels them."""
        if (handler := self.fm.features.get(lsp.SHUTDOWN)) is not None:
            yield handler, given, None
        for number, future in list(self._request_futures.items()):
            if number != self.msg_id and not future.done():
                future.cancel()
        self._shutdown = True

    def structure_message(self, data: JsonDict) -> Any:
        """A request that is not as it should be is answered with an error; pygls would leave its sender
        waiting.
        """
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" not in data or "method" not in data:
                raise
            self._send_response(data["id"], None, error.to_response_error())
            return lsp.CancelNotification(lsp.CancelParams(data["id"]))


class Server(LanguageServer):
    """The language server with its documents. `told`: what was published last for each document; `ran`: tests
    that were run, by URI, rule and title; `graphs`: models that were read, by path, with the time of the
    file; `counts`: matches by URI, rule and model, with the rule and the time of the model that they are
    about.
    """

    def __init__(self) -> None:
        super().__init__(
            "gslang", __version__, protocol_cls=_Protocol,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
        )
        self.store = Store()
        self.told: dict[str, list[lsp.Diagnostic]] = {}
        self.ran: dict[tuple[str, str, str], Ran] = {}
        self.graphs: dict[str, tuple[float, Graph]] = {}
        self.counts: dict[tuple[str, str, str], tuple[CheckedRule, int, str]] = {}
        self.exited = False
        self.lints = LintProcess(self.store, lambda document: self.tell(document, True, False))
        self._waiting: asyncio.TimerHandle | None = None
        self._settling: asyncio.Future[None] | None = None  # held, or it could be thrown away half-way
        self._edits = 0

    def document(self, uri: str) -> Document | None:
        return self.store.get(uri)

    def tell(self, document: Document, costly: bool, edited: bool) -> None:
        """Publish the findings of an open document: those of an edited one always, others if they are not
        what was published before.
        """
        found = shown(self.store, document, self.store.findings(document, costly))
        if edited or self.told.get(document.uri) != found:
            self.told[document.uri] = found
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(document.uri, found, document.version)
            )
        for problem in self.store.problems:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, problem))
        self.store.problems.clear()

    def edited(self, document: Document) -> None:
        """Publish what is quickly found of a new version, and the rest after a pause."""
        self.tell(document, False, True)
        self.lints.stop_stale()
        self.settle(document.uri)

    def settle(self, first: str = "") -> None:
        """After a pause: everything about all open documents, beginning with that of the given URI."""
        self._edits += 1
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(_PAUSE, self._begin, first)

    def _begin(self, first: str) -> None:
        self._settling = asyncio.ensure_future(self._settled(first))

    async def _settled(self, first: str) -> None:
        edits, slow = self._edits, []
        for uri in sorted(self.store.open, key=lambda uri: uri != first):
            if document := self.store.open.get(uri):
                self.tell(document, self.store.linted(document), False)
                if not self.store.linted(document):
                    slow.append(document)
            await asyncio.sleep(0)  # who has asked something meanwhile is answered
            if self._edits != edits:
                return
        self.lints.ask(slow)
