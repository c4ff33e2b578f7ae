"""Completions of strings: what an attribute may be, before the quotes and inside of them; paths of `use`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp

from gslang.dialect.domain import literals
from gslang.dialect.signature import AttributeSpec, Signature
from gslang.lsp.analysis import Analysis
from gslang.lsp.context import call_around
from gslang.lsp.diagnostics import range_of
from gslang.lsp.document import Document, folder_of
from gslang.lsp.hover import signatures_of_call
from gslang.lsp.kinds import operators_named
from gslang.lsp.names import marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store

_K = lsp.CompletionItemKind
DTYPES = (
    "float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "uint16",
    "uint32", "uint64", "bool",
)


def in_quotes(
    store: Store, document: Document, piece: Piece, at: int, offset: int
) -> list[lsp.CompletionItem] | None:
    """The completions inside of a string; None elsewhere."""
    t = piece.tokens
    k = t.before(at)
    if k < 0 or t.all[k].kind != "string" or at > t.all[k].end:
        return None
    token = t.all[k]
    closed = token.text[1:].endswith('"')
    if piece.keyword == "use":
        return _paths(document, piece.text[token.start + 1 : at].rstrip('"'), offset)
    if closed and at == token.end:
        return None
    analysis = store.analysis(document)
    first = offset - (at - token.start) + 1
    place = range_of(document, first, first + len(token.text) - 1 - closed)
    found = {
        value: f"{spec.name} of {signature.name}"
        for signature, spec in declared_at(analysis, piece, k - 1)
        for value in literals(spec.domain) if isinstance(value, str)
    }
    if not found and _is_of_dtypes(piece, k - 1):
        found = dict.fromkeys(DTYPES, "")
    return [
        lsp.CompletionItem(
            label=value, kind=_K.Value, detail=detail or None, text_edit=lsp.TextEdit(place, value)
        )
        for value, detail in found.items()
    ]


def declared_at(analysis: Analysis, piece: Piece, last: int) -> Iterator[tuple[Signature, AttributeSpec]]:
    """The attributes, each with its operator, whose value comes behind token `last`: of a call, `mode = `, or
    of a node that it is compared with, `y.mode == `.
    """
    t = piece.tokens
    if t.text(last) in ("==", "!=") and t.text(last - 2) == ".":
        name = t.text(last - 1)
        signatures = [analysis.dialect.get(op) for op in operators_named(analysis, piece, t.text(last - 3))]
        yield from _with_attribute([found for found in signatures if found is not None], name)
    call = call_around(piece, last)
    if (
        t.text(last) in ("=", "|") and call is not None and call.keyword and t.open_at(last) == call.opening
    ):
        yield from _with_attribute(called(analysis, piece, call.callee, call.opening), call.keyword)


def _with_attribute(
    signatures: list[Signature], name: str
) -> Iterator[tuple[Signature, AttributeSpec]]:
    for signature in signatures:
        spec = signature.attribute(name)
        if spec is not None:
            yield signature, spec


def _is_of_dtypes(piece: Piece, last: int) -> bool:
    t, call = piece.tokens, call_around(piece, last)
    if t.text(last) in ("==", "!="):
        return t.text(last - 1) == "dtype" and t.text(last - 2) == "."
    return t.text(last) in ("=", "|") and call is not None and call.keyword == "dtype"


def called(analysis: Analysis, piece: Piece, callee: str, opening: int) -> list[Signature]:
    """The operators that a call may be of."""
    at = piece.tokens.all[opening].start
    mark = next(
        (
            m
            for m in marks(piece)
            if m.role in ("callee", "name", "kind") and m.text == callee and m.end <= at
        ),
        None,
    )
    return list(signatures_of_call(analysis, piece, mark)) if mark is not None else []


def _paths(document: Document, typed: str, offset: int) -> list[lsp.CompletionItem]:
    """Files and folders that go on where what is typed ends."""
    folder = folder_of(document) / typed.rpartition("/")[0]
    start = offset - len(typed.rpartition("/")[2])
    found = []
    try:
        entries = sorted(folder.iterdir())
    except (OSError, ValueError):
        entries = []
    for path in entries[:500]:
        if (
            path.name.startswith(".") or path == Path(document.name)
            or not (path.is_dir() or path.suffix == ".gsl")
        ):
            continue
        text = path.name + ("/" if path.is_dir() else "")
        if not typed:
            text = "./" + text
        kind = _K.Folder if path.is_dir() else _K.File
        found.append(lsp.CompletionItem(
            label=text, kind=kind, text_edit=lsp.TextEdit(range_of(document, start, offset), text)
        ))
    if not typed:
        found.append(lsp.CompletionItem(
            label="../", kind=_K.Folder, text_edit=lsp.TextEdit(range_of(document, start, offset), "../")
        ))
    return found
