"""Formatting with `gslang.fmt`, as small edits, so that cursors and folds stay where they are. Line ends stay
what they are.

In a file with syntax errors the items that can be read are formatted, each where it stands.
"""

from __future__ import annotations

import re

from lsprotocol import types as lsp

from gslang.base.source import Source
from gslang.fmt.format_source import FormatterBug, format_source
from gslang.lsp.diagnostics import range_of
from gslang.lsp.document import Document
from gslang.lsp.line_edits import changed_lines
from gslang.lsp.pieces import Piece

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")


def format_document(document: Document, lines: tuple[int, int] | None = None) -> list[lsp.TextEdit]:
    """Edits that format the document, or the items that touch some lines (from 0, both ends included).

    None at all where the formatter would not keep the meaning.
    """
    chosen = None if lines is None else (lines[0] + 1, lines[1] + 1)
    try:
        broken = any(piece.parsed.diagnostics for piece in document.pieces)
        result = None if broken else format_source(Source(document.name, document.text), chosen).text
        if result is None:
            result = _piecewise(document, lines)
    except FormatterBug:
        return []
    if "\r\n" in document.text:
        result = result.replace("\r\n", "\n").replace("\n", "\r\n")
    if document.text.startswith("\ufeff"):
        result = "\ufeff" + result.removeprefix("\ufeff")
    return _edits(document, result)


def _piecewise(document: Document, lines: tuple[int, int] | None) -> str:
    """Runs of items that can be read, each formatted where it stands."""
    parts: list[str] = []
    run: list[Piece] = []
    line = 1  # of what comes next

    def end_run() -> None:
        nonlocal line
        text = "".join(piece.text for piece in run)
        inside = text.strip()
        if inside:
            begin = text.index(inside)
            first = line + text.count("\n", 0, begin)
            chosen = None if lines is None else (lines[0] + 2 - first, lines[1] + 2 - first)
            formatted = format_source(Source(document.name, inside), chosen).text
            if formatted is not None:
                text = text[:begin] + formatted.rstrip("\n") + text[begin + len(inside) :]
        line += sum(piece.text.count("\n") for piece in run)
        parts.append(text)
        run.clear()

    for piece in document.pieces:
        if piece.items:
            run.append(piece)
        else:
            end_run()
            parts.append(piece.text)
            line += piece.text.count("\n")
    end_run()
    return "".join(parts)


def _edits(document: Document, result: str) -> list[lsp.TextEdit]:
    """The lines that differ, replaced."""
    if result == document.text:
        return []
    old, new = _LINE.findall(document.text), _LINE.findall(result)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    return [
        lsp.TextEdit(range_of(document, starts[i1], starts[i2]), "".join(new[j1:j2]))
        for i1, i2, j1, j2 in changed_lines(old, new)
    ]
