"""A tolerant lexer: any text gives tokens, whatever is wrong with it, and each token knows the bracket around
it.

The grammar's lexer stops at the first character that it does not know; an editor has to go on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gslang.base.quick_dataclass import dataclass

RESERVED = frozenset(
    (
        "none true false for in if else and or not where each match keep ordered rule fn op is pass test use "
        "dialect"
    ).split()
)
"""Words that are no names (the grammar's NAME)."""

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n\r]|\r(?!\n)|\\.)*"?)
      | (?P<comment>\#(?:[^\n\r]|\r(?!\n))*)
      | (?P<number>[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)?)
      | (?P<word>[A-Za-z_][A-Za-z_0-9]*)
      | (?P<sign><=>|=>|->|:=|[=!<>]=|\*\*|//|\.\.|\S)""",
    re.VERBOSE,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}


class Token(NamedTuple):
    """`kind`: "word", "number", "string", "comment" or "sign"."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a text without its comments. `around[k]`: the number of the innermost bracket that is
    open at token k, or -1; a bracket stands outside of itself. `closing`: opening bracket → the one that
    closes it, where there is one.
    """

    all: tuple[Token, ...]
    comments: tuple[Token, ...]
    around: tuple[int, ...]
    closing: dict[int, int]

    def before(self, offset: int) -> int:
        """The number of the last token that begins before an offset; -1 without one."""
        low, high = 0, len(self.all)
        while low < high:
            middle = (low + high) // 2
            if self.all[middle].start < offset:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def open_at(self, number: int) -> int:
        """The innermost bracket that is open behind token `number`."""
        if number < 0:
            return -1
        text = self.all[number].text
        if text in ("(", "[", "{") and self.all[number].kind == "sign":
            return number
        return self.around[number]

    def text(self, number: int) -> str:
        """The text of a token, empty where there is none."""
        return self.all[number].text if 0 <= number < len(self.all) else ""

    def end_of_bracket(self, number: int) -> int:
        """The token that closes an opening bracket, else the number behind the last token."""
        return self.closing.get(number, len(self.all))


def tokens_of(text: str) -> Tokens:
    """All tokens. A `}` closes also what is still open inside of it; a `)` or `]` only what it belongs to."""
    found: list[Token] = []
    comments: list[Token] = []
    around: list[int] = []
    closing: dict[int, int] = {}
    stack: list[int] = []
    for match in _TOKEN.finditer(text):
        token = Token(match.lastgroup or "sign", match.group(), match.start(), match.end())
        if token.kind == "comment":
            comments.append(token)
            continue
        if token.kind == "sign" and token.text in _CLOSES:
            opening = _CLOSES[token.text]
            if token.text == "}" and any(found[k].text == "{" for k in stack):
                while found[stack[-1]].text != "{":
                    stack.pop()
            if stack and found[stack[-1]].text == opening:
                closing[stack.pop()] = len(found)
        around.append(stack[-1] if stack else -1)
        if token.kind == "sign" and token.text in ("(", "[", "{"):
            stack.append(len(found))
        found.append(token)
    return Tokens(tuple(found), tuple(comments), tuple(around), closing)
