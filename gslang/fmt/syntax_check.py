"""Syntax checks of texts.

Long texts are read without places first, which is faster; the errors always come from the parser itself.
"""

from __future__ import annotations

from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.syntax.grammar import grammar_without_places
from gslang.syntax.parser import parse

_LONG = 50_000  # characters; below it the tables of a second parser would cost more than they save
_DEEPEST = 100  # levels of a tree; far fewer than the parser allows, whichever way it counts


def syntax_errors(source: Source) -> tuple[Diagnostic, ...]:
    """The syntax errors of a text, as `parse` reports them."""
    if len(source.text) > _LONG and _is_plain(source.text):
        return ()
    return parse(source).diagnostics


def _is_plain(text: str) -> bool:
    """True if a text parses and has nothing that the parser could refuse later: what is reserved, bad
    escapes, deep nesting.
    """
    from lark import Tree, UnexpectedInput

    if "\0" in text or "\\" in text:
        return False
    try:
        level = [grammar_without_places().parse(text)]
    except UnexpectedInput:
        return False
    if any(isinstance(item, Tree) and item.data.startswith("reserved") for item in level[0].children):
        return False
    for _ in range(_DEEPEST):
        level = [child for tree in level for child in tree.children if isinstance(child, Tree)]
        if not level:
            return True
    return False
