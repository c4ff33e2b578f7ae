"""Relay text → tokens, by one regular expression.

A token is its text; what it is follows from its first character. Frequent groups are one token: a tensor type
without metadata references (`Tensor[(1, 64), float32]`), a simple attribute (`axis=1`, `padding=[1, 1]`), the
beginning of a binding (`%3 =`) and of any other attribute (`name=`). Offsets are computed only when somebody
asks (errors, nested functions). Comments are no tokens; info comments are kept beside the token that they
follow.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable
from typing import Final

from gslang.formats.relay.comments import flatten_nested

END: Final = "\0"  # behind the last token

DTYPE: Final = r"(?:(?:u?int|b?float)\d*(?:x\d+)?|bool|e4m3_float8|e5m2_float8)"
# After a colon inside a name, the beginning of a type ends the name: `%x:int32` is `%x` of type int32.
_TYPE_FOLLOWS: Final = rf"(?:Tensor\s*\[|fn\b|{DTYPE}(?![\w.:/-]))"
_VALUE: Final = r'(?:"[^"\\\n]*"|-?\w+(?:\.\d+)?(?:[eE][+-]?\d+)?[fi]?\d*|\[[-\w., ]*\])'

TOKEN: Final = re.compile(
    rf"""(?:\s+|//[^\n]*)*
    (
      /\*[^*]*\*+(?:[^/*][^*]*\*+)*/ | /\*
    | %\d+\s*=(?![=>])
    | %(?:\d+|[^\W\d](?:\w+|[.-]|/(?![*/])|:(?!{_TYPE_FOLLOWS}))*(?<![.:]))
    | \.\d+
    | -*\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[fi](?:16|32|64)?)?(?!\w)
    | -*(?:inff|nanf)(?:16|32|64)?(?!\w)
    | Tensor\[\([^()\[\]%"/]*\),\s*{DTYPE}\s*\]
    | meta\[[^\[\]\s]*\]\[\d+\]
    | [^\W\d]\w*(?:\.\w+)*={_VALUE}(?=\s*[,)}}])
    | (?!(?:{DTYPE}|_)\s*=)[^\W\d]\w*(?:\.\w+)*\s*=(?![=>])
    | match\?
    | [^\W\d]\w*(?:\.\w+)*
    | @[^\W\d](?:\w+|[.:-](?=\w))*
    | "(?:[^"\\]|\\.)*"
    | \.\.\. | ;; | -> | => | <= | >= | == | != | :=
    | \S
    )""",
    re.VERBOSE | re.DOTALL,
)
# Behind the text, so that a token follows every blank and comment: the skipping before a token never has to
# backtrack.
_SENTINEL: Final = "\n" + END


class Tokens:
    """`text[i]` is token i, then `END`s; `notes[i]` the info comments behind token i."""

    __slots__ = ("_lines", "_starts", "notes", "source", "text")

    def __init__(self, source: str) -> None:
        raw = TOKEN.findall(source + _SENTINEL)
        if any(t[0] == "/" and (t == "/*" or (t[1:2] == "*" and "/*" in t[2:])) for t in raw):
            source = flatten_nested(source)
            raw = TOKEN.findall(source + _SENTINEL)
        self.source = source
        self.notes: dict[int, list[str]] = {}
        self._starts: array[int] | None = None
        self._lines: list[int] | None = None
        self.text: list[str] = raw
        if any(map(_is_comment, raw)):
            self.text = []
            add = self.text.append
            for token in raw:
                if token[0] == "/" and token[1:2] == "*" and token != "/*":
                    if "ty=" in token or "span=" in token:
                        self.notes.setdefault(len(self.text) - 1, []).append(token)
                else:
                    add(token)
        self.text += [END] * 3

    @property
    def starts(self) -> array[int]:
        """The offset of each token; for the `END`s, that of the end of the text."""
        if self._starts is None:
            found = TOKEN.finditer(self.source + _SENTINEL)
            self._starts = array(
                "q", [m.start(1) for m in found if not _is_comment(m.group(1)) or m.group(1) == "/*"]
            )
            self._starts[-1] = len(self.source)
            self._starts.extend([len(self.source)] * 3)
        return self._starts

    def end_of(self, index: int) -> int:
        """The offset right behind a token."""
        return self.starts[index] + len(self.text[index])

    def place(self, index: int) -> str:
        """"line:column" of a token, from 1; behind the last one if the text ends before it."""
        if self._lines is None:
            self._lines = [0] + [m.end() for m in re.finditer("\n", self.source)]
        last = len(self.text) - 5
        offset = self.starts[index] if index <= last else self.end_of(last) if last >= 0 else 0
        line = bisect_right(self._lines, offset)
        return f"{line}:{offset - self._lines[line - 1] + 1}"


def _is_comment(token: str) -> bool:
    return token.startswith("/*")


def tokenise(text: str) -> list[str]:
    """The tokens of a short text, without comments (types inside comments)."""
    return [t for t in TOKEN.findall(text + _SENTINEL) if not _is_comment(t)] + [END] * 3


def substitute(text: str, replace: Callable[[str], str]) -> str:
    """The text with each token that starts with `%` replaced; comments, strings and blanks stay."""

    def one(found: re.Match[str]) -> str:
        token = found.group(1)
        if token[0] != "%":
            return found.group()
        return found.group()[: found.start(1) - found.start()] + replace(token)

    return TOKEN.sub(one, text + _SENTINEL)[: -len(_SENTINEL)]
