"""One version of one text: its pieces, where they stand, and how offsets become positions.

Immutable but for what is remembered.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source, Span
from gslang.lsp.pieces import Piece, cut, cut_file
from gslang.lsp.positions import Lines


@dataclass(frozen=True, eq=False)
class Document:
    """`name`: the path of a file, else the URI. `version`: the editor's number, None for a file that is not
    open.

    `memo` goes from version to version; what is in it carries what it depended on.
    """

    uri: str
    name: str
    text: str
    version: int | None
    lines: Lines
    pieces: tuple[Piece, ...]
    memo: dict[object, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each piece begins."""
        found = []
        at = 0
        for piece in self.pieces:
            found.append(at)
            at += len(piece.text)
        return tuple(found)

    @cached_property
    def _start_of(self) -> dict[int, int]:
        return {id(piece.source): start for piece, start in zip(self.pieces, self.starts)}

    def holds(self, source: Source) -> bool:
        """True if a text is that of one of the pieces."""
        return id(source) in self._start_of

    def start_of(self, piece: Piece) -> int:
        return self._start_of[id(piece.source)]

    def range_of(self, span: Span) -> tuple[int, int]:
        """Offsets of a span in one of the pieces."""
        start = self._start_of[id(span.source)]
        return start + span.start, start + span.end

    def piece_at(self, offset: int) -> tuple[Piece, int] | None:
        """The piece at an offset, and the offset in it. At the end of the file it is the last piece."""
        if not self.pieces:
            return None
        number = max(bisect_right(self.starts, offset) - 1, 0)
        return self.pieces[number], offset - self.starts[number]


def open_document(
    uri: str, name: str, text: str, version: int | None, unit: str, old: Document | None = None
) -> Document:
    """A document; pieces that `old` has with the same text are those of `old`."""
    read = " " + text[1:] if text.startswith("\ufeff") else text  # a byte order mark is white space
    pieces = (
        cut_file(name, read) if version is None and old is None
        else cut(name, read, old.pieces if old is not None else ())
    )
    return Document(uri, name, text, version, Lines(text, unit), pieces, old.memo if old is not None else {})


def edited(text: str, start: int, end: int, new: str) -> str:
    """The text with a range replaced."""
    return text[: min(start, end)] + new + text[max(start, end) :]


def folder_of(document: Document) -> Path:
    """Where a search for configuration begins, and what import paths are relative to."""
    return Path(document.name).parent
