"""Whether a text parses. Long texts are read without places first, which is faster; the errors always come from the parser itself."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from gslang.base.cache import cache_folder
from gslang.base.diagnostics import Diagnostic
from gslang.base.resources import grammar_path
from gslang.base.source import Source
from gslang.syntax.parser import parse

if TYPE_CHECKING:
    from lark import Lark

_LONG = 50_000  # characters; below it the tables of a second parser would cost more than they save
_DEEPEST = 100  # levels of a tree; far fewer than the parser allows, whichever way it counts


def syntax_errors(source: Source) -> tuple[Diagnostic, ...]:
    """What is wrong with the syntax of a text, as `parse` says it."""
    if len(source.text) > _LONG and _is_plain(source.text):
        return ()
    return parse(source).diagnostics


def _is_plain(text: str) -> bool:
    """Whether a text parses and has nothing that the parser could refuse later: what is reserved, bad escapes, deep nesting."""
    from lark import Tree, UnexpectedInput

    if "\0" in text or "\\" in text:
        return False
    try:
        level = [_grammar().parse(text)]
    except UnexpectedInput:
        return False
    if any(isinstance(item, Tree) and item.data.startswith("reserved") for item in level[0].children):
        return False
    for _ in range(_DEEPEST):
        level = [child for tree in level for child in tree.children if isinstance(child, Tree)]
        if not level:
            return True
    return False


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    from lark import Lark
    from lark import __version__ as version

    text = grammar_path("gsl.lark").read_text(encoding="utf-8")
    folder = cache_folder()
    key = hashlib.sha256(f"{version} without places\n{text}".encode()).hexdigest()[:16]
    return Lark(text, parser="lalr", propagate_positions=False, cache=False if folder is None else str(folder / f"grammar-{key}"))
