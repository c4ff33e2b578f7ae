"""`format_source`: the one style.

What it returns says the same as what it was given, and would not change again.
"""

from __future__ import annotations

import re

from gslang.base.diagnostics import Diagnostic
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.fmt.items import item_doc
from gslang.fmt.layout import render
from gslang.fmt.parts import Item, items
from gslang.fmt.proof import says_the_same
from gslang.fmt.syntax_check import syntax_errors
from gslang.fmt.tokens import Bracket, Part, Token, first, last, tokens, tree

_ROUNDS = 6  # a comment between tokens may move once or twice until it rests
_SWITCH = re.compile(r"#\s*fmt:\s*(off|on)\s*")
_SKIP = re.compile(r"#\s*fmt:\s*skip\s*")


class FormatterBug(Exception):
    """The formatted text would not say the same, or would change again. Nothing was written."""


@dataclass(frozen=True)
class Formatted:
    """`text` is None if there are syntax errors."""

    text: str | None
    diagnostics: tuple[Diagnostic, ...] = ()


def format_source(source: Source, lines: tuple[int, int] | None = None) -> Formatted:
    """Format a file, or only the items that touch some lines (from 1, both ends included).

    Raises `FormatterBug` if the result would not mean the same.
    """
    text = source.text.removeprefix("\ufeff").replace("\r\n", "\n")
    errors = syntax_errors(Source(source.name, text))
    if errors:
        return Formatted(None, errors)
    result = layout(text, lines)
    if result != text and not says_the_same(text, result):
        raise FormatterBug(f"{source.name}: the formatted text would not mean the same")
    return Formatted(result)


def layout(text: str, lines: tuple[int, int] | None = None) -> str:
    """The text in the one style. It is known to parse.

    Items between the comments `# fmt: off` and `# fmt: on`, and those that touch none of the `lines`, stay as
    they are, with what is above them.
    """
    found = tokens(text)
    end = found.pop()
    pieces: list[str] = []
    before: Item | None = None
    off = False
    stop = 0  # where the item before ends, its comment included
    for item in items(tree(found)):
        ending = last(item.parts[-1])
        begin, stop = stop, _line_end(text, ending)
        above = list(first(item.parts[0]).above)
        off = _switched(above, off)
        if off or has_switch(item) or lines is not None and not _touches(text, item, lines):
            pieces.append(text[begin:stop] if pieces else text[:stop].lstrip("\n"))
        else:
            left, shown = _settled(item, text[first(item.parts[0]).start : stop])
            above += left
            head, gap = _above(above, before, item, shown)
            pieces.append("\n" * (gap if pieces else 0) + head + shown)
        before = item
    tail = _trim(end.above)
    if off:
        pieces.append(text[stop:].rstrip())
    elif tail:
        gap = 2 if end.above[0] is None else 1
        pieces.append("\n" * (gap if pieces else 0) + "\n".join(line or "" for line in tail))
    return "".join(pieces).strip("\n") + "\n" if pieces else ""


def _settled(item: Item, written: str) -> tuple[list[str | None], str]:
    """The item in the one style, which would not change it again; and comments that had to leave it, to stand
    above.
    """
    left: list[str | None] = []
    first(item.parts[0]).above = []
    for _ in range(_ROUNDS):
        shown = render(item_doc(item))
        if shown == written:
            return left, shown
        found = tokens(shown)[:-1]
        if found[0].above:
            left += found[0].above
            shown = shown[found[0].start :]
            found[0].above = []
        written = shown
        item = next(items(tree(found)))
    raise FormatterBug(f"an item that would change again and again: {written}")


def _switched(above: list[str | None], off: bool) -> bool:
    """True if formatting is switched off behind these comments."""
    for text in above:
        if text is not None and (match := _SWITCH.fullmatch(text)):
            off = match[1] == "off"
    return off


def has_switch(item: Item) -> bool:
    """True if an item has `# fmt: off` inside, or `# fmt: skip` at its end: it stays as it is, as a whole."""
    ending = last(item.parts[-1])
    if ending.trailing is not None and _SKIP.fullmatch(ending.trailing):
        return True
    stack: list[Part] = list(item.parts[1:])
    while stack:
        part = stack.pop()
        if isinstance(part, Bracket):
            stack += [part.open, part.close, *part.items]
        elif part.above and _switched(part.above, False):
            return True
    return False


def _line_end(text: str, ending: Token) -> int:
    """The offset behind a token and the comment at its end."""
    if ending.trailing is None:
        return ending.end
    return text.index(ending.trailing, ending.end) + len(ending.trailing)


def _trim(lines: list[str | None]) -> list[str | None]:
    while lines and lines[-1] is None:
        lines = lines[:-1]
    while lines and lines[0] is None:
        lines = lines[1:]
    return lines


def _above(above: list[str | None], before: Item | None, item: Item, shown: str) -> tuple[str, int]:
    """The comment lines above an item, and how many line feeds stand before them."""
    blank = bool(above) and above[0] is None
    lines = above[1:] if blank else above
    head = "".join(f"{line or ''}\n" for line in lines)
    documented = any(line is not None for line in lines)
    wide = item.word in ("rule", "pass") and "\n" in shown
    return head, 2 if before is not None and (
        blank or wide or (documented and item.word in ("rule", "pass", "test"))
    ) else 1


def _touches(text: str, item: Item, lines: tuple[int, int]) -> bool:
    begin, end = first(item.parts[0]).start, last(item.parts[-1]).end
    return text.count("\n", 0, begin) + 1 <= lines[1] and text.count("\n", 0, end) + 1 >= lines[0]

