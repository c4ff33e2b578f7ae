"""Offsets in a text ↔ line and character as the protocol counts them.

A line ends at `\\n`, `\\r\\n` or `\\r` and nowhere else. Characters are counted in the unit that client and
server agreed on: UTF-16 code units, bytes of UTF-8, or code points ("utf-32"). Positions outside of the text
are moved into it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from gslang.base.quick_dataclass import dataclass

_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Lines:
    """The lines of one text. `unit`: "utf-16", "utf-8" or "utf-32"."""

    text: str
    unit: str = "utf-16"

    @cached_property
    def starts(self) -> list[int]:
        return [0, *(found.end() for found in _BREAK.finditer(self.text))]

    def end_of(self, line: int) -> int:
        """The offset behind the last character of a line, its break left out."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        end = self.starts[line + 1] - 1
        return (
            end - 1 if self.text[end] == "\n" and end > self.starts[line] and self.text[end - 1] == "\r"
            else end
        )

    def position(self, offset: int) -> tuple[int, int]:
        """Line and character, both from 0. Inside of a line break it is the end of the line."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return line, self.width(self.text[self.starts[line] : min(offset, self.end_of(line))])

    def offset(self, line: int, character: int) -> int:
        """The offset of a position.

        Inside of a character that takes several units it is the character's beginning.
        """
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.end_of(line)
        piece = self.text[start:end]
        if self.unit == "utf-32" or piece.isascii():
            return start + min(max(character, 0), len(piece))
        units = 0
        for k, letter in enumerate(piece):
            units += self.width(letter)
            if units > character:
                return start + k
        return end

    def width(self, piece: str) -> int:
        """The length in units of a text without line breaks."""
        if self.unit == "utf-32" or piece.isascii():
            return len(piece)
        if self.unit == "utf-8":
            return len(piece.encode("utf-8", "surrogatepass"))
        return len(piece) + sum(letter > "\uffff" for letter in piece)
