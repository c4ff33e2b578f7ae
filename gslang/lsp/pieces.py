"""Cutting a file into its items, whatever is wrong in them, so that each one is parsed and judged on its own.

A piece is one item with the comments above it. An item ends at its `;` or `}`; a missing one is made up for
where the next item begins, since `rule NAME`, `test "…"` and their like stand nowhere inside of an item. What
belongs to no item is a piece of its own, unless an item ends on the same line. Pieces that did not change are
kept, with all that was found out about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from gslang.base.cache import cached
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.lsp.tokens import Tokens, tokens_of
from gslang.syntax import nodes as n
from gslang.syntax.parser import Parsed, parse

_TOKEN = re.compile(r'"(?:[^"\\\n\r]|\r(?!\n)|\\.)*"?|#[^\n]*|@|[()\[\]{};:=.]|[A-Za-z_][A-Za-z_0-9]*|\S')
_GAP = r"(?:\s|#[^\n]*(?:\n|$))"
_HEADER = {
    **{word: re.compile(_GAP + r"+[A-Za-z_]") for word in ("rule", "fn", "op", "pass")},
    # also a kind, as in `w: param float32[3]`
    "param": re.compile(_GAP + r"+[A-Za-z_][A-Za-z_0-9]*" + _GAP + "*:"),
    "dialect": re.compile(r"\s*(?:;|$)|" + _GAP + r"+[A-Za-z_]"),
    "test": re.compile(_GAP + r'*"'),
    "use": re.compile(_GAP + r'*(?:"|(?<=\s)[A-Za-z_])'),
}
_BLOCKS = ("rule", "fn", "pass", "test")
_HEADED = ("rule", "pass", "test")  # a `:` or `{` comes before all else: a `;` ends no header
_CLOSES = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, eq=False)
class Piece:
    """`source` holds the text of this piece alone, under the name of its file. `keyword`: "rule", "test", …,
    or empty.

    `memo` keeps what was computed for this very piece, each with what it depended on.
    """

    source: Source
    keyword: str
    memo: dict[object, Any] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        return self.source.text

    @cached_property
    def parsed(self) -> Parsed:
        file: tuple[Piece, ...] | None = self.memo.pop("file", None)
        if file is not None:
            _parse_all(file)
            return self.__dict__["parsed"]  # type: ignore[no-any-return]
        return parse(self.source)

    @property
    def items(self) -> tuple[n.Item, ...]:
        """The items that could be read, as a rule one."""
        return self.parsed.program.items

    @cached_property
    def tokens(self) -> Tokens:
        return tokens_of(self.text)


def cut(name: str, text: str, old: Iterable[Piece] = ()) -> tuple[Piece, ...]:
    """The pieces of a text; together they are the text. Those of `old` with the same text are taken again."""
    kept: dict[str, list[Piece]] = {}
    for piece in old:
        kept.setdefault(piece.text, []).append(piece)
    for pieces in kept.values():
        pieces.reverse()
    result = []
    places = list(_places(text))
    for k, (start, keyword) in enumerate(places):
        part = text[start : places[k + 1][0] if k + 1 < len(places) else len(text)]
        again = kept.get(part)
        result.append(again.pop() if again else Piece(Source(name, part), keyword))
    return tuple(result)


def cut_file(name: str, text: str) -> tuple[Piece, ...]:
    """The pieces of a file on disk.

    As soon as one of them is to be parsed, all are: from the cache where they were before.
    """
    pieces = cut(name, text)
    for piece in pieces:
        piece.memo["file"] = pieces
    return pieces


def _parse_all(pieces: tuple[Piece, ...]) -> None:
    for piece in pieces:
        piece.memo.pop("file", None)

    texts = (piece.text for piece in pieces)
    state = str(Path(__file__).stat().st_mtime_ns)
    found = cached(
        "pieces", (pieces[0].source.name, *texts, state), lambda: [parse(piece.source) for piece in pieces],
        [piece.source for piece in pieces],
    )  # fmt: skip
    for piece, parsed in zip(pieces, found):
        piece.__dict__.setdefault("parsed", parsed)


def _places(text: str) -> Iterator[tuple[int, str]]:
    """Where pieces begin, each with its keyword."""
    begin = 0  # of the piece
    keyword = ""
    # "empty": only comments so far; "marked": annotations; "open": an item; "ended": a complete one; "junk"
    state = "empty"
    form = ""  # of an open item: "", "line" or "block"
    stack: list[str] = []
    last = 0  # end of the last token that is no comment
    before = ""
    for found in _TOKEN.finditer(text):
        sign = found.group()
        if sign[0] == "#":
            continue
        heads = sign in _HEADER and before != "." and _HEADER[sign].match(text, found.end()) is not None
        begins = heads or sign == "@"
        if begins and state == "open" and sign in ("@", "param"):
            begins = heads = text.startswith("\n", found.start() - 1)  # else it is a mistake in the open item
        if begins:
            if state in ("open", "ended", "junk") or heads and keyword:
                yield begin, keyword
                begin, keyword = _boundary(text, last, found.start()), ""
            state = "open" if heads else "marked"
            keyword = sign if heads else ""
            form, stack = "", []
        elif state == "ended" and text.find("\n", last, found.start()) < 0:
            pass  # behind it on its last line: a mistake that concerns the item
        elif state == "ended":
            yield begin, keyword
            begin, keyword, state, stack = _boundary(text, last, found.start()), "", "junk", []
        elif state == "empty":
            state = "junk"
        elif state == "open" and not heads:
            if sign in "([{":
                if not stack and not form and sign == "{" and keyword in _BLOCKS:
                    form = "block"
                stack.append(sign)
            elif sign in _CLOSES:
                if sign == "}" and "{" in stack:
                    while stack[-1] != "{":
                        stack.pop()
                if stack and stack[-1] == _CLOSES[sign]:
                    stack.pop()
                    if not stack and form == "block" and sign == "}":
                        state = "ended"
            elif not stack and sign == ";" and (form == "line" or not form and keyword not in _HEADED):
                state = "ended"
            elif (
                not stack and not form
                and (sign == ":" and keyword == "rule" or sign == "=" and keyword == "fn")
            ):
                form = "line"
        last, before = found.end(), sign
    if begin < len(text):
        yield begin, keyword


def _boundary(text: str, last: int, start: int) -> int:
    """Where the next piece begins: behind the line of what stands before, if there is a line break between
    them.
    """
    at = text.find("\n", last, start)
    return at + 1 if at >= 0 else start
