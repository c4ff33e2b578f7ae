"""Colours by meaning: what each name is, beyond what a grammar of single lines can tell."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from lsprotocol import types as lsp

from gslang.lsp import words
from gslang.lsp.analysis import Analysis
from gslang.lsp.diagnostics import offset_of
from gslang.lsp.document import Document
from gslang.lsp.names import Mark, marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store
from gslang.lsp.tokens import RESERVED

TYPES = (
    "keyword", "comment", "string", "number", "decorator", "class", "function", "method", "variable",
    "parameter", "property", "type", "enumMember", "namespace", "event",
)
MODIFIERS = ("declaration", "documentation", "defaultLibrary")
LEGEND = lsp.SemanticTokensLegend(list(TYPES), list(MODIFIERS))
_DECLARED, _DOCUMENTATION, _LIBRARY = 1, 2, 4
_OF_ROLE = {
    "rule": "class",
    "test-rule": "class",
    "pass": "event",
    "pass-item": "class",
    "fn": "function",
    "param": "variable",
    "op": "method",
    "import": "class",
    "input": "parameter",
    "variable": "parameter",
    "parameter": "parameter",
    "graph-input": "parameter",
    "binding": "variable",
    "template": "variable",
    "counter": "variable",
    "name": "variable",
    "field": "property",
    "keyword": "property",
    "meaning": "property",
    "kind": "type",
    "type": "type",
    "dtype": "type",
    "trait": "enumMember",
    "code": "enumMember",
    "annotation": "decorator",
    "module": "namespace",
    "dialect": "namespace",
    "test": "string",
    "path": "string",
}

Found = tuple[int, int, int, int]  # start, end, type, modifiers: offsets in the document


def tokens_in(store: Store, document: Document, start: int, end: int) -> Iterator[Found]:
    """The coloured words between two offsets, in order."""
    analysis = store.analysis(document)
    for piece, at in zip(document.pieces, document.starts):
        if at < end and at + len(piece.text) > start:
            for a, b, kind, modifiers in _of_piece(analysis, piece):
                if at + b > start and at + a < end:
                    yield at + a, at + b, kind, modifiers


def _of_piece(analysis: Analysis, piece: Piece) -> list[Found]:
    key = tuple(
        _of_mark(analysis, m, {}) for m in marks(piece) if m.role in ("callee", "name") and m.local is None
    )
    known = piece.memo.get("colours")
    if known is None or known[0] != key:
        known = piece.memo["colours"] = (key, sorted(_colours(analysis, piece)))
    return known[1]  # type: ignore[no-any-return]


def _colours(analysis: Analysis, piece: Piece) -> Iterator[Found]:
    t = piece.tokens
    named: set[int] = set()
    begins = [token.start for token in t.all]
    roles = {m.start: m.role for m in marks(piece) if m.defines}
    for mark in marks(piece):
        kind, modifiers = _of_mark(analysis, mark, roles)
        for k in range(bisect_left(begins, mark.start), len(t.all)):
            token = t.all[k]
            if token.start >= mark.end:
                break
            if token.kind in ("word", "string") and k not in named:
                named.add(k)
                yield token.start, token.end, TYPES.index(kind), modifiers
    for k, token in enumerate(t.all):
        if k in named:
            continue
        if token.kind in ("string", "number"):
            yield token.start, token.end, TYPES.index(token.kind), 0
        elif token.kind == "word" and (token.text in RESERVED or token.text in ("repeat", "unchanged")):
            yield token.start, token.end, TYPES.index("keyword"), 0
    for comment in t.comments:
        documents = comment.text.startswith(("#!", "##")) and not comment.text.startswith("###")
        yield comment.start, comment.end, TYPES.index("comment"), _DOCUMENTATION if documents else 0


def _of_mark(analysis: Analysis, mark: Mark, roles: dict[int, str]) -> tuple[str, int]:
    modifiers = _DECLARED if mark.defines and mark.role not in ("test", "path") else 0
    if mark.local is not None and not mark.defines:
        return _OF_ROLE.get(roles.get(mark.local, ""), "variable"), modifiers
    if mark.role == "callee" or mark.role == "name":
        name = mark.text.removeprefix(analysis.dialect.name + ".")
        if mark.text in analysis.functions:
            return "function", modifiers
        if name in analysis.dialect.operators and mark.role == "callee":
            return "method", modifiers
        if name in words.KINDS:
            return "type", modifiers
        if name in words.FUNCTIONS:
            return "function", modifiers | _LIBRARY
        return "method" if mark.role == "callee" or "." in name else "variable", modifiers
    return _OF_ROLE.get(mark.role, "variable"), modifiers


def encoded(document: Document, found: Iterator[Found]) -> list[int]:
    """Five numbers for each word: lines and characters since the one before, its width, type and modifiers.
    """
    data: list[int] = []
    line = character = 0
    for start, end, kind, modifiers in found:
        at = document.lines.position(start)
        width = document.lines.width(document.text[start:end])
        data += (at[0] - line, at[1] - (character if at[0] == line else 0), width, kind, modifiers)
        line, character = at
    return data


def full(store: Store, document: Document) -> lsp.SemanticTokens:
    data = encoded(document, tokens_in(store, document, 0, len(document.text) + 1))
    number = int(document.memo.get("tokens", ("0", []))[0]) + 1
    document.memo["tokens"] = (str(number), data)
    return lsp.SemanticTokens(data, str(number))


def in_range(store: Store, document: Document, given: lsp.Range) -> lsp.SemanticTokens:
    return lsp.SemanticTokens(encoded(
        document,
        tokens_in(store, document, offset_of(document, given.start), offset_of(document, given.end)),
    ))


def delta(store: Store, document: Document, previous: str) -> lsp.SemanticTokens | lsp.SemanticTokensDelta:
    """The changes since an earlier answer; everything if that is no longer known."""
    before, old = document.memo.get("tokens", ("", []))
    new = full(store, document)
    if before != previous:
        return new
    data = list(new.data)
    head = 0
    while head < min(len(old), len(data)) and old[head] == data[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(data)) - head and old[-1 - tail] == data[-1 - tail]:
        tail += 1
    edits = (
        [lsp.SemanticTokensEdit(head, len(old) - head - tail, data[head : len(data) - tail])] if old != data
        else []
    )
    return lsp.SemanticTokensDelta(edits, new.result_id)
