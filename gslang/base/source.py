"""Texts with a name, and ranges in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from functools import cached_property

from gslang.base.quick_dataclass import dataclass


@dataclass(frozen=True)
class Source:
    """One text and the name to show for it: a file, "<stdin>", or an editor's buffer."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> list[int]:
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a code point, both from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (from 1), without its line feed."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of code points in one source. Lines and columns are computed only for display."""

    source: Source
    start: int
    end: int

    def to(self, other: Span) -> Span:
        return Span(self.source, self.start, other.end)

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line_column(self) -> tuple[int, int]:
        return self.source.position(self.start)

    def __str__(self) -> str:
        line, column = self.line_column
        return f"{self.source.name}:{line}:{column}"
