"""Names on output: unique, and such that they read back as one name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from gslang.formats.relay.lexer import END, tokenise

_ILLEGAL: Final = re.compile(r"[^\w.:/-]")
_RESERVED: Final = frozenset((
    "let", "fn", "def", "if", "else", "type", "match", "match?", "extern", "free_var", "ref", "ref_read",
    "ref_write", "True", "False", "None", "nullptr", "_", "Tensor",
))
_FIELD: Final = re.compile(r"(.+)\.\d+")


def variable_names(wanted: Iterable[str | None]) -> list[str]:
    """A name for each, without `%`: TVM's rules (prefix `v` unless it starts with a letter, a number if it is
    taken).
    """
    taken: set[str] = set()
    result = []
    for name in wanted:
        text = name if name else "v"
        if not text[0].isalpha():
            text = "v" + text
        if not _reads_back(text):
            text = _ILLEGAL.sub("_", text)
            if not _reads_back(text):
                text = re.sub(r"\W", "_", text)
        if (field := _FIELD.fullmatch(text)) and field[1] in taken:
            text = text.replace(".", "_")  # `%x.0` would be a field of `%x`
        unique, number = text, 0
        while unique in taken:
            number += 1
            unique = f"{text}{number}"
        taken.add(unique)
        result.append(unique)
    return result


def function_name(name: str) -> str:
    """A global function's name, without `@`, that reads back as one name."""
    text = re.sub(r"\W", "_", name) if tokenise("@" + name)[0] != "@" + name else name
    return text if text[:1].isalpha() or text[:1] == "_" else "f" + text


def is_of_memory_dialect(operator: str) -> bool:
    """True for operators that manage memory: they are no computation, and are not read."""
    return operator.startswith(("memory.", "vm.")) and operator != "vm.shape_of"


@lru_cache(maxsize=4096)
def is_word(name: str) -> bool:
    """True if an operator (`@f` for a function) or attribute may have this name in Relay text."""
    return (
        name not in _RESERVED and not is_of_memory_dialect(name) and (name[:1].isalpha() or name[:1] in "_@")
        and tokenise(name)[:2] == [name, END]
    )


def _reads_back(name: str) -> bool:
    return tokenise("%" + name)[0] == "%" + name
