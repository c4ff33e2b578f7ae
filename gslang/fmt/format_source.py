"""`format_source`: the one style. What it returns says the same as what it was given, and would not change again."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.fmt.items import Item, item_doc, items
from gslang.fmt.layout import render
from gslang.fmt.tokens import Token, first, last, tokens, tree
from gslang.syntax.parser import parse

_ROUNDS = 6  # a comment between tokens may move once or twice until it rests


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
    parsed = parse(Source(source.name, text))
    if parsed.diagnostics:
        return Formatted(None, parsed.diagnostics)
    result = layout(text, lines)
    if lines is None and result != text:
        for _ in range(_ROUNDS):
            again = layout(result)
            if again == result:
                break
            result = again
        else:
            raise FormatterBug(f"{source.name}: the formatted text would change again")
    if result != text:
        after = parse(Source(source.name, result))
        kept = sorted(c.text.rstrip() for c in parsed.comments) == sorted(c.text for c in after.comments)
        if after.diagnostics or not same(after.program, parsed.program) or not kept:
            raise FormatterBug(f"{source.name}: the formatted text would not mean the same")
    return Formatted(result)


def same(left: object, right: object) -> bool:
    """Equality of syntax trees, without spans and without recursion."""
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            stack.extend(zip(a, b))
        elif is_dataclass(a):
            stack.extend((getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.compare)
        elif a != b:
            return False
    return True


def layout(text: str, lines: tuple[int, int] | None = None) -> str:
    """The text in the one style. It is known to parse."""
    found = tokens(text)
    end = found.pop()
    pieces: list[str] = []
    before: Item | None = None
    for item in items(tree(found)):
        token = first(item.parts[0])
        above = list(token.above)
        start = token.start
        token.above = []
        shown = render(item_doc(item))
        if lines is not None and not _touches(text, item, lines):
            shown = _as_written(text, item, start)
        head, gap = _above(above, before, item, shown)
        pieces.append("\n" * gap + head + shown)
        before = item
    tail = _trim(end.above)
    if tail:
        gap = 2 if end.above[0] is None else 1
        pieces.append("\n" * (gap if pieces else 0) + "\n".join(line or "" for line in tail))
    return "".join(pieces).lstrip("\n") + "\n" if pieces else ""


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
    return head, 2 if before is not None and (blank or wide or (documented and item.word in ("rule", "pass", "test"))) else 1


def _touches(text: str, item: Item, lines: tuple[int, int]) -> bool:
    begin, end = first(item.parts[0]).start, last(item.parts[-1]).end
    return text.count("\n", 0, begin) + 1 <= lines[1] and text.count("\n", 0, end) + 1 >= lines[0]


def _as_written(text: str, item: Item, start: int) -> str:
    ending: Token = last(item.parts[-1])
    return text[start : ending.end] + (f"  {ending.trailing}" if ending.trailing else "")
