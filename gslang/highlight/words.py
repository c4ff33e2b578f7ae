"""The one table of words that editors colour. Words and signs of the syntax are read from the grammar, so
that they cannot drift from it; what is a plain name to the grammar (kinds, built-in functions) is listed here
and held to the checker by a test.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gslang.base.resources import grammar_path

KINDS = ("any", "var", "input", "param", "const", "fixed")
# as calls, too: `var()`; `any(…)` is the built-in function there
PATTERN_KINDS = ("var", "input", "param", "const", "fixed")
BUILTINS = (
    "len", "range", "reversed", "zip", "sum", "prod", "min", "max", "any", "all", "concat", "cumsum", "abs",
    "numel", "broadcast", "normalize_axis", "layout_remap", "close", "users", "is_output", "calls",
)
# words that may also be names; no keyword before one of `(.=`
SOFT = ("chain", "from", "repeat", "unchanged")
CONSTANTS = ("none", "true", "false")
_ITEMS = ("dialect", "use", "op", "fn", "rule", "pass", "test", "repeat")
_TERMINALS = ("NAME:", "INT:", "FLOAT:", "STRING:", "COMMENT:", "WHITE_SPACE:", "!field")


@lru_cache(maxsize=1)
def words() -> tuple[str, ...]:
    """All words in quotes in the grammar, and the one that its context tells, sorted."""
    return tuple(sorted({
        *re.findall(r'"([a-z]+)"', _grammar()), *re.findall(r"^CHAIN\S* /([a-z]+)", _grammar(), re.MULTILINE),
    }))


@lru_cache(maxsize=1)
def operators() -> tuple[str, ...]:
    """All signs in quotes in the grammar, longest first."""
    found = set(re.findall(r'"([^"a-zA-Z_\s\\]+)"', _grammar()))
    return tuple(sorted(found, key=lambda sign: (-len(sign), sign)))


def signs() -> tuple[str, ...]:
    """The operators that are no punctuation, longest first."""
    return tuple(sign for sign in operators() if sign not in tuple("()[]{},;:.@"))


def items() -> tuple[str, ...]:
    """Words that begin an item or a block of a pass."""
    return tuple(word for word in _ITEMS if word in words())


def keywords() -> tuple[str, ...]:
    """All other words, without the constants."""
    return tuple(word for word in words() if word not in _ITEMS and word not in CONSTANTS)


def _grammar() -> str:
    text = grammar_path("gsl.lark").read_text(encoding="utf-8")
    rules = re.sub(r"^//.*$", "", text, flags=re.MULTILINE)
    return "\n".join(line for line in rules.splitlines() if not line.startswith(_TERMINALS))
