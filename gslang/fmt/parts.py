"""Parts of items: what a part is, where items, sides and templates end, and what every layout shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.fmt.expressions import bracket, token_doc
from gslang.fmt.layout import Above, Doc, Indent, Line
from gslang.fmt.tokens import Bracket, Part, Token, first

# characters: names of neighbouring statements that differ by at most this have their `=` in line
ALIGNED = 4

HARD = Line("", hard=True)


@dataclass(frozen=True, slots=True)
class Item:
    """`parts`: from the first annotation to the closing `;` or `}`."""

    parts: list[Part]
    word: str  # rule, test, op, …


def is_token(part: Part | None, text: str) -> bool:
    return isinstance(part, Token) and part.text == text and part.kind != "string"


def is_block(part: Part | None) -> bool:
    return isinstance(part, Bracket) and part.open.text == "{"


def items(parts: list[Part]) -> Iterator[Item]:
    """Cut the file into items; `parts` without its end token."""
    at = 0
    while at < len(parts):
        start = at
        while is_token(parts[at], "@"):
            at += 2
            if isinstance(parts[at], Bracket):
                at += 1
        word = first(parts[at]).text
        if word in ("test", "pass"):
            while not is_block(parts[at]):
                at += 1
        elif word == "rule":
            while not is_token(parts[at], ":") and not is_block(parts[at]):
                at += 1
            if is_token(parts[at], ":"):
                while not is_token(parts[at], "=>"):
                    at += 1
                at = side_end(parts, at + 1)
                while not is_token(parts[at], ";"):
                    at += 1
        else:
            while not is_token(parts[at], ";"):
                at += 1
        at += 1
        yield Item(parts[start:at], word)


def side_end(parts: Sequence[Part], at: int) -> int:
    """The index behind the statements that begin at `at`: where the outputs begin."""
    while at < len(parts):
        if is_template(parts, at):
            at = template_end(parts, at) + 1
        elif (
            at + 1 < len(parts) and isinstance(parts[at], Token)
            and (is_token(parts[at + 1], "=") or is_token(parts[at + 1], ":"))
        ):
            while not is_token(parts[at], ";"):
                at += 1
            at += 1
        else:
            break
    return at


def is_template(parts: Sequence[Part], at: int) -> bool:
    """True if an `each` or a `chain` begins here; `chain` may be a name too."""
    return (
        is_token(parts[at], "each") or is_token(parts[at], "chain") and at + 2 < len(parts)
        and is_token(parts[at + 2], "in")
    )


def template_end(parts: Sequence[Part], at: int) -> int:
    """The index of the block of an `each` or `chain` that begins at `at`; the arms of a `match` in its bounds
    are not it.
    """
    arms = 0
    while not is_block(parts[at]) or arms:
        if is_block(parts[at]):
            arms -= 1
        elif is_token(parts[at], "match") and not is_token(parts[at - 1], "."):
            arms += 1
        at += 1
    return at


def words_doc(parts: Sequence[Part], fill: bool = False) -> Doc:
    """Header words in a row: a name and its brackets stand together."""
    docs: list[Doc] = []
    before: Part | None = None
    tight = True
    for part in parts:
        # a row of a table is not a call
        apart = before is not None and any(is_token(before, text) for text in ("for", "in", ","))
        joined = (
            isinstance(part, Bracket) and not apart
            or any(is_token(part, text) for text in (".", ":", ";", ","))
        )
        if not tight and not joined:
            docs.append(" ")
        docs.append(token_doc(part) if isinstance(part, Token) else bracket(part, before, fill))
        tight = is_token(part, ".") or is_token(part, "@")
        before = part
    return tuple(docs)


def bare(token: Token) -> Token:
    return Token(token.kind, token.text, token.start, token.end, trailing=token.trailing)


def closing_doc(part: Bracket) -> tuple[Doc]:
    lines = tuple(part.close.above)
    while lines and lines[-1] is None:
        lines = lines[:-1]
    return (Indent((HARD, Above(lines))) if lines else "",)


def written_broken(part: Bracket) -> bool:
    """Did the author begin a new line right behind `{`?"""
    return bool(part.items) and first(part.items[0]).newlines > 0


def blank_above(part: Part, allowed: bool) -> Doc:
    """The comments and the blank line above a statement; its first token forgets them."""
    token = first(part)
    lines = tuple(token.above)
    token.above = []
    while lines and lines[0] is None and not allowed:
        lines = lines[1:]
    return Above(lines) if lines else ""
