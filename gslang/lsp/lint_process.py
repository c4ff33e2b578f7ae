"""The server's end of the process in which costly lints run: what is sent there, what is still awaited, and
what has become stale.

The process is started when it is first needed. Where there can be none, or it ends by itself, errors and the
other lints go on.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from typing import BinaryIO

from gslang.lsp.analysis import Analysis
from gslang.lsp.document import Document
from gslang.lsp.lint_worker import LENGTH, Answer, Job, Wanted, command, unpacked
from gslang.lsp.store import Store

_LOG = logging.getLogger(__name__)


class LintProcess:
    """`awaited`: what was asked for, by ticket, in the order in which it is answered, each with the analysis
    that it is about. `answered` is called with each document whose lints have come.
    """

    def __init__(self, store: Store, answered: Callable[[Document], None]) -> None:
        self.awaited: dict[int, tuple[Wanted, Analysis]] = {}
        self._store = store
        self._answered = answered
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: dict[str, Document] = {}
        self._tickets = 0
        self._refused: list[Analysis] = []  # those over which a process ended

    def ask(self, documents: Iterable[Document]) -> None:
        """Ask for the lints of documents that lack them; what was asked for before and is still wanted goes
        on.
        """
        wanted = []
        for document in documents:
            analysis, selected = self._store.analysis(document), self._store.selected(document)
            if not self._store.linted(document) and not any(analysis is other for other in self._refused):
                known = next(
                    (w for w, other in self.awaited.values() if other is analysis and w.selected == selected),
                    None,
                )
                wanted.append((known or Wanted(self._ticket(), document.uri, selected), analysis))
        if wanted or self.awaited:
            first = next(iter(self.awaited), 0)
            wanted.sort(key=lambda one: one[0].ticket != first)  # what is being worked out stays the first
            self._send([w for w, _ in wanted])
            self.awaited = (
                {w.ticket: (w, analysis) for w, analysis in wanted} if self._process is not None else {}
            )

    def stop_stale(self) -> None:
        """After an edit: have the process leave what it is at, if that is about a text that is no more."""
        for wanted, analysis in self.awaited.values():
            document = self._store.open.get(wanted.uri)
            if document is None or self._store.analysis(document) is not analysis:
                self.awaited = {}
                self._send([])
            return  # only the first is being worked out

    def _ticket(self) -> int:
        self._tickets += 1
        return self._tickets

    def _send(self, wanted: list[Wanted]) -> None:
        try:
            if self._process is None:
                self._start()
            opened = self._store.open
            texts = tuple(
                (uri, document.text)
                for uri, document in opened.items() if self._sent.get(uri) is not document
            )
            closed = tuple(uri for uri in self._sent if uri not in opened)
            assert self._process is not None and self._process.stdin is not None
            pickle.dump(Job(texts, closed, tuple(wanted)), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
            self._sent = dict(opened)
        except OSError as error:
            _LOG.error("lints that take long do not run: %s", error)
            self._process = None

    def _start(self) -> None:
        self._sent = {}
        process = self._process = subprocess.Popen(
            command(sys.path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        atexit.register(process.kill)
        assert process.stdout is not None
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=_listen, args=(process.stdout, loop, self._arrived, lambda: self._ended(process)),
            daemon=True,
        ).start()

    def _arrived(self, data: bytes) -> None:
        answer: Answer = unpacked(self._store, data)
        wanted, analysis = self.awaited.pop(answer.ticket, (None, None))
        document = self._store.open.get(wanted.uri) if wanted is not None else None
        if (
            wanted is None or document is None or self._store.analysis(document) is not analysis
            or self._store.selected(document) != wanted.selected
        ):
            return
        if answer.failure:
            _LOG.error("a lint failed: %s", answer.failure)
            self._refused = [*self._refused[-100:], analysis]
        elif all(document.holds(finding.primary.span.source) for finding in answer.found):
            self._store.keep_lints(document, list(answer.found))
            self._answered(document)

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        atexit.unregister(process.kill)
        if process is self._process:
            self._process = None
            for _, analysis in self.awaited.values():
                _LOG.error("the process for lints that take long has ended by itself")
                self._refused = [*self._refused[-100:], analysis]
                break
            self.awaited = {}


def _listen(
    stream: BinaryIO,
    loop: asyncio.AbstractEventLoop,
    arrived: Callable[[bytes], None],
    ended: Callable[[], None],
) -> None:
    """Hand each answer to the server's own thread."""
    try:
        while len(head := stream.read(LENGTH.size)) == LENGTH.size:
            loop.call_soon_threadsafe(arrived, stream.read(LENGTH.unpack(head)[0]))
        loop.call_soon_threadsafe(ended)
    except (RuntimeError, OSError, ValueError):
        pass  # the server has ended
