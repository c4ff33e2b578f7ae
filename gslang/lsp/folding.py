"""Folding ranges and growing selections: from items, brackets, comments and the syntax tree where there is
one.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from gslang.lint.linted_file import walk
from gslang.lsp.diagnostics import offset_of, range_of
from gslang.lsp.document import Document
from gslang.lsp.pieces import Piece
from gslang.lsp.symbols import body_of


def folding_ranges(document: Document) -> list[lsp.FoldingRange]:
    """Items, brackets and comments of more than one line, and the imports together."""
    found: dict[tuple[int, int], lsp.FoldingRange] = {}
    uses: list[tuple[int, int]] = []
    for piece, start in zip(document.pieces, document.starts):
        begin, end = body_of(piece)
        if piece.keyword == "use":
            uses.append((start + begin, start + end))
        elif uses and piece.keyword:
            _fold(document, found, uses[0][0], uses[-1][1], lsp.FoldingRangeKind.Imports)
            uses = []
        if piece.keyword:
            _fold(document, found, start + begin, start + end, lsp.FoldingRangeKind.Region)
        for opening, closing in piece.tokens.closing.items():
            _fold(
                document, found, start + piece.tokens.all[opening].start,
                start + piece.tokens.all[closing].end, lsp.FoldingRangeKind.Region,
            )
        for first, last in _comment_blocks(piece):
            _fold(document, found, start + first, start + last, lsp.FoldingRangeKind.Comment)
    if uses:
        _fold(document, found, uses[0][0], uses[-1][1], lsp.FoldingRangeKind.Imports)
    return [found[key] for key in sorted(found)]


def _fold(
    document: Document,
    found: dict[tuple[int, int], lsp.FoldingRange],
    start: int,
    end: int,
    kind: lsp.FoldingRangeKind,
) -> None:
    first, last = document.lines.position(start)[0], document.lines.position(end)[0]
    if last > first:
        found.setdefault((first, last), lsp.FoldingRange(start_line=first, end_line=last, kind=kind))


def _comment_blocks(piece: Piece) -> Iterator[tuple[int, int]]:
    """Runs of lines that hold nothing but comments."""
    begin: int | None = None
    end = 0
    for comment in piece.tokens.comments:
        line = piece.text.rfind("\n", 0, comment.start) + 1
        alone = not piece.text[line : comment.start].strip()
        if (
            begin is not None and alone and not piece.text[end : comment.start].strip()
            and piece.text.count("\n", end, comment.start) == 1
        ):
            end = comment.end
            continue
        if begin is not None:
            yield begin, end
        begin, end = (comment.start, comment.end) if alone else (None, 0)
    if begin is not None:
        yield begin, end


def selection_ranges(document: Document, positions: list[lsp.Position]) -> list[lsp.SelectionRange]:
    return [_selection(document, offset_of(document, position)) for position in positions]


def _selection(document: Document, offset: int) -> lsp.SelectionRange:
    spans: set[tuple[int, int]] = {(0, len(document.text))}
    where = document.piece_at(offset)
    if where is not None:
        piece, at = where
        start = offset - at
        inside = {span for span in _spans(piece, at) if span[0] <= at <= span[1] and span[0] < span[1]}
        spans |= {(start + a, start + b) for a, b in inside}
    chain: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda s: (s[1] - s[0], s[0])):
        if not chain or span[0] <= chain[-1][0] and chain[-1][1] <= span[1]:
            chain.append(span)
    result: lsp.SelectionRange | None = None
    for a, b in reversed(chain):
        result = lsp.SelectionRange(range_of(document, a, b), result)
    return result or lsp.SelectionRange(range_of(document, offset, offset))


def _spans(piece: Piece, at: int) -> Iterator[tuple[int, int]]:
    t = piece.tokens
    yield body_of(piece)
    yield 0, len(piece.text)
    for token in (*t.all, *t.comments):
        if token.kind in ("word", "number", "string", "comment") and token.start <= at <= token.end:
            yield token.start, token.end
    for opening, closing in t.closing.items():
        yield t.all[opening].end, t.all[closing].start
        yield t.all[opening].start, t.all[closing].end
    for item in piece.items:
        yield from (
            (node.span.start, node.span.end) for node in walk(item) if node.span.source is piece.source
        )
