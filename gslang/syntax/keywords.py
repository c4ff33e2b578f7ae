"""Keywords that stand where a name should: `each = nn.relu(x);`."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from gslang.syntax.grammar import grammar

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_WORD_BEFORE: Final = re.compile(r"\b[A-Za-z_]\w*(?=\s*\Z)|(?<=\bchain )not(?= in \d*\Z)")
_BEFORE_NAME: Final = re.compile(
    r"(?:(?P<block>\b(?:each|chain)\s+)|(?P<statement>(?:[;{}]|=>)\s*)|[(,\[]\s*)\Z"
)
_IN: Final = re.compile(r"\s+in\b")
_BOUND: Final = re.compile(r"\s*(?::=|=(?![=>]))")
_TYPED: Final = re.compile(r"\s*:(?!=)")
_COUNTED: Final = re.compile(r"\s+for\s+(?:\(\s*)?(?:\w+\s*,\s*)*(\w+)")


def is_keyword(word: str) -> bool:
    """True for a word that the grammar reserves: nothing can be called that."""
    return word.isidentifier() and _name().fullmatch(word) is None


@cache
def _name() -> re.Pattern[str]:
    return re.compile(grammar().get_terminal("NAME").pattern.to_regexp())


def keyword_for_name(code: str, start: int, at: int, expected: Collection[str]) -> tuple[int, int] | None:
    """Where a keyword stands that something is to be called, if parsing stopped at it or right behind it.

    `code` is a text without comments and strings; `start`: where the item begins that is at fault;
    `expected`: the terminals that the grammar would take.
    """
    here = _WORD.match(code, at)
    only_a_name = "NAME" in expected and "STRING" not in expected and code[:at].rstrip()[-1:] != "@"
    if here is not None and is_keyword(here[0]) and (only_a_name or _is_named(code, start, *here.span())):
        return here.span()
    before = _WORD_BEFORE.search(code, start, at)
    if before is not None and is_keyword(before[0]) and _is_named(code, start, *before.span()):
        return before.span()
    return None


def _is_named(code: str, start: int, begin: int, end: int) -> bool:
    """True if the word from `begin` to `end` is given to something, as in `(t :=`, `; t =`, `each t in`."""
    before = _BEFORE_NAME.search(code, start, begin)
    if before is None:
        return False
    if before["block"]:
        return _IN.match(code, end) is not None
    if before["statement"] is not None and _TYPED.match(code, end) is not None:
        return True
    counted = _COUNTED.match(code, end)
    return _BOUND.match(code, end) is not None or counted is not None and counted[1] == code[begin:end]
