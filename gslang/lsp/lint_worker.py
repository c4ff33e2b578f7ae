"""The process beside the language server in which costly lints run: texts come in, findings go out, one
document after another.

It talks to `lint_process` alone, in pickles on its standard input and output, and ends when its input does.
It keeps documents and their analyses as the server does, so that after an edit only what changed is judged
again.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import queue
import signal
import struct
import sys
import threading
import traceback
from _thread import interrupt_main
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.lint.linted_file import Finding
from gslang.lsp.linting import lint
from gslang.lsp.store import Store

LENGTH = struct.Struct("<Q")
"""Stands before each answer: how many bytes it has."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Lints to run on a document.

    `ticket` tells this version of it, and of what it imports, from all others.
    """

    ticket: int
    uri: str
    selected: frozenset[str]


@dataclass(frozen=True, slots=True)
class Job:
    """`texts`: URIs and texts of documents that were opened or changed. What is not among `wanted` is not
    wanted any more.
    """

    texts: tuple[tuple[str, str], ...]
    closed: tuple[str, ...]
    wanted: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The findings, or how the lints failed."""

    ticket: int
    found: tuple[Finding, ...]
    failure: str = ""


class _Stale(BaseException):
    """Nobody waits for what is being worked out.

    No `Exception`, so that nothing on the way takes it for one of its own.
    """


class _Current:
    """The work in progress, shared by the thread that reads jobs and the one that does them."""

    def __init__(self) -> None:
        self.ticket = 0  # of the document; 0 between documents
        self.stale = False
        self.lock = threading.Lock()

    def interrupt(self, signal_number: int, frame: object) -> None:
        """The handler of an interruption: it counts only while there is stale work."""
        if self.ticket and self.stale:
            self.stale = False
            raise _Stale


def main() -> None:
    """Do jobs until standard input ends."""
    if hasattr(os, "nice"):
        os.nice(5)  # the server goes first
    gc.set_threshold(200_000, 50, 100)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write between the answers
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    current = _Current()
    signal.signal(signal.SIGINT, current.interrupt)
    threading.Thread(target=_read, args=(sys.stdin.buffer, jobs, current), daemon=True).start()
    store = Store()
    wanted: list[Wanted] = []
    done: set[int] = set()
    while True:
        for job in _waiting(jobs, not wanted):
            for uri, text in job.texts:
                store.put(uri, text, 1)
            for uri in job.closed:
                store.close(uri)
            wanted = [one for one in job.wanted if one.ticket not in done]
        if wanted:
            answer = _answer(store, wanted.pop(0), current)
            if answer is not None:
                done.add(answer.ticket)
                data = packed(store, answer)
                answers.write(LENGTH.pack(len(data)) + data)
                answers.flush()


def _read(stream: BinaryIO, jobs: queue.SimpleQueue[Job], current: _Current) -> None:
    """Pass jobs on, and interrupt work that a job makes stale.

    The end of the input is the end of the process.
    """
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            job: Job = pickle.load(stream)
            jobs.put(job)
            with current.lock:
                if current.ticket and current.ticket not in [one.ticket for one in job.wanted]:
                    current.stale = True
                    interrupt_main()
    os._exit(0)


def _waiting(jobs: queue.SimpleQueue[Job], idle: bool) -> list[Job]:
    """The jobs that have come; where there is nothing to do, at least one."""
    found = [jobs.get()] if idle else []
    while not jobs.empty():
        found.append(jobs.get())
    return found


def _answer(store: Store, wanted: Wanted, current: _Current) -> Answer | None:
    """The lints of one document; None if a later job has made them stale, or the document is closed."""
    document = store.open.get(wanted.uri)
    if document is None:
        return None
    try:
        with current.lock:
            # in this order, or an old interruption would count
            current.stale, current.ticket = False, wanted.ticket
        try:
            return Answer(wanted.ticket, tuple(lint(store.analysis(document), wanted.selected)))
        # a defect of a lint must reach the server's log, and leave the other documents theirs
        except Exception:
            return Answer(wanted.ticket, (), traceback.format_exc())
        finally:
            current.ticket = 0
    except _Stale:
        current.ticket = 0
        return None


class _Pickler(pickle.Pickler):
    """Texts of items go as the name of their file, their number in it, and themselves: the server has objects
    of its own for them.
    """

    def __init__(self, stream: io.BytesIO, places: dict[int, int]) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._places = places

    def persistent_id(self, given: object) -> tuple[str, int, str] | None:
        return (
            (given.name, self._places.get(id(given), -1), given.text) if isinstance(given, Source) else None
        )


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, store: Store) -> None:
        super().__init__(stream)
        self._store = store

    def persistent_load(self, given: tuple[str, int, str]) -> Source:
        name, number, text = given
        for document in self._store.known():
            if (
                document.name == name and 0 <= number < len(document.pieces)
                and document.pieces[number].text == text
            ):
                return document.pieces[number].source
        return Source(name, text)


def packed(store: Store, answer: Answer) -> bytes:
    """An answer as bytes."""
    places = (
        {id(piece.source): k for document in store.known() for k, piece in enumerate(document.pieces)}
        if answer.found
        else {}
    )
    stream = io.BytesIO()
    _Pickler(stream, places).dump(answer)
    return stream.getvalue()


def unpacked(store: Store, data: bytes) -> Answer:
    """An answer with spans in the pieces of `store`, where it has these."""
    found: Answer = _Unpickler(io.BytesIO(data), store).load()
    return found


def command(path: Sequence[str]) -> list[str]:
    """The command that starts the process: with the module path of this one, whatever the working directory
    contains.
    """
    start = "import sys; sys.path[:] = sys.argv[1:]; from gslang.lsp.lint_worker import main; main()"
    return [sys.executable, "-c", start, *path]
