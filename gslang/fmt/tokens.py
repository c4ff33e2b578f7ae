"""Source text → tokens with their comments → a tree of brackets.

The text is known to parse. A comment belongs to the token before it if it ends that token's line, otherwise
to the token behind it.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Union

from gslang.base.quick_dataclass import dataclass

_TOKEN = re.compile(
    r'(?P<space>[ \t\f\r\n]+)|(?P<comment>#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9]*)|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<sign><=>|=>|->|\.\.<|\.\.|:=|==|!=|<=|>=|//|\*\*|[-+*/%|?<>=.,;:@(){}\[\]])"
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True)
class Token:
    """`above`: own-line comments before it (`None`: a blank line).

    `newlines`: line feeds between it and the token before.
    """

    kind: str
    text: str
    start: int
    end: int
    newlines: int = 0
    above: list[str | None] = field(default_factory=list)
    trailing: str | None = None


@dataclass(slots=True)
class Bracket:
    """The contents of two brackets. `flat`: its text on one line, once it is known."""

    open: Token
    items: list[Part]
    close: Token
    flat: str | None = None


Part = Union[Token, Bracket]


def first(part: Part) -> Token:
    return part if isinstance(part, Token) else part.open


def last(part: Part) -> Token:
    return part if isinstance(part, Token) else part.close


def tokens(text: str) -> list[Token]:
    """All tokens; the last one is empty and holds the comments at the end of the file."""
    found: list[Token] = []
    above: list[str | None] = []
    newlines = since = at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None, f"no token at {at}"
        kind, piece, at = str(match.lastgroup), match.group(), match.end()
        if kind == "space":
            count = piece.count("\n")
            newlines += count
            since += count
            continue
        if since > 1 and (above or kind == "comment" or found) and (not above or above[-1] is not None):
            above.append(None)
        if kind == "comment":
            if newlines == 0 and found and found[-1].trailing is None:
                found[-1].trailing = piece.rstrip()
            else:
                above.append(piece.rstrip())
            since = 0
            continue
        found.append(Token(kind, piece, match.start(), match.end(), newlines, above))
        above, newlines, since = [], 0, 0
    found.append(Token("end", "", at, at, newlines, above))
    return found


def tree(found: list[Token]) -> list[Part]:
    """The bracket structure, made with a stack."""
    open_: list[tuple[Token, list[Part]]] = []
    current: list[Part] = []
    for token in found:
        if token.kind == "sign" and token.text in _CLOSING:
            open_.append((token, current))
            current = []
        elif token.kind == "sign" and token.text in ")]}":
            opening, outer = open_.pop()
            outer.append(Bracket(opening, current, token))
            current = outer
        else:
            current.append(token)
    return current


def has_comments(part: Part) -> bool:
    """Any comment in it: above its first token, inside, or at its end."""
    stack: list[Part] = [part]
    while stack:
        match stack.pop():
            case Token() as token:
                if token.trailing is not None or any(a is not None for a in token.above):
                    return True
            case Bracket(open=opening, items=items, close=closing):
                stack += [opening, closing, *items]
    return False
