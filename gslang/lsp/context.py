"""Where the cursor stands in text that need not parse: in which call, at which argument, behind which dot, in
what part of an item.
"""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.lsp.pieces import Piece

_NOT_CALLED = ("where", "in", "and", "or", "not", "if", "else", "keep", "ordered")


@dataclass(frozen=True, slots=True)
class InCall:
    """A call around the cursor. `callee`: its dotted name; `opening`: its bracket; `argument`: how many
    commas stand before the cursor.

    `given`: names of arguments that are there already; `keyword`: the one whose value the cursor is in."""

    callee: str
    opening: int
    argument: int
    given: tuple[str, ...]
    keyword: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """`last`: the last token before the word at the cursor.

    `word`: what is typed of it, dots included (`nn.con`), from `start`.
    """

    piece: Piece
    offset: int
    last: int
    word: str
    start: int

    def text(self, back: int = 0) -> str:
        """The text of a token before the cursor."""
        return self.piece.tokens.text(self.last - back)


def cursor(piece: Piece, offset: int) -> Cursor | None:
    """The place of an offset; None inside of a comment or a string."""
    t = piece.tokens
    if any(c.start < offset <= c.end for c in t.comments):
        return None
    k = t.before(offset)
    if k >= 0 and t.all[k].kind == "string" and offset <= t.all[k].end:
        ended = t.all[k].text[1:].endswith('"')
        if offset < t.all[k].end or not ended:
            return None
    start = offset
    if k >= 0 and t.all[k].kind == "word" and t.all[k].end >= offset:
        start = t.all[k].start
        k -= 1
    while (
        t.text(k) == "." and (k < 1 or t.all[k - 1].kind == "word") and t.all[k].end == start and k >= 1
        and t.all[k - 1].end == t.all[k].start
    ):
        start = t.all[k - 1].start
        k -= 2
    return Cursor(piece, offset, k, piece.text[start:offset], start)


def call_around(piece: Piece, last: int) -> InCall | None:
    """The innermost call that is open behind token `last`."""
    t = piece.tokens
    opening = t.open_at(last)
    while opening >= 0:
        before = opening - 1 - (t.text(opening - 1) == "?")
        if (
            t.text(opening) == "(" and before >= 0 and t.all[before].kind == "word"
            and t.text(before) not in _NOT_CALLED
        ):
            break
        opening = t.around[opening]
    if opening < 0:
        return None
    first = before = opening - 1 - (t.text(opening - 1) == "?")
    while t.text(first - 1) == "." and first >= 2 and t.all[first - 2].kind == "word":
        first -= 2
    callee = "".join(token.text for token in t.all[first : before + 1])
    inside = [k for k in range(opening + 1, t.end_of_bracket(opening)) if t.around[k] == opening]
    given = tuple(
        t.text(k)
        for k in inside if t.all[k].kind == "word" and t.text(k + 1) == "=" and t.text(k - 1) in ("(", ",")
    )
    commas = [k for k in inside if t.text(k) == "," and k <= last]
    begin = commas[-1] if commas else opening
    keyword = t.text(begin + 1) if t.text(begin + 2) == "=" and begin + 2 <= last else ""
    return InCall(callee, opening, len(commas), given, keyword)
