"""The one corpus of all highlighters, and what the compiler itself says about it: `python -m
tests.editors.corpus` prints both as JSON.

The corpus: every `.gsl` file of the repository that the parser reads without a finding. The tokens are those
of the parser's own lexer; comments, which it skips, are what is left between them.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gslang.base.source import Source
from gslang.highlight import words
from gslang.syntax.grammar import grammar
from gslang.syntax.parser import parse

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("stdlib_rules", "examples", "benchmarks", "tests")


class Token(NamedTuple):
    """`line` from 1, `column` from 0 and `length` in code points.

    `kind`: comment string number keyword constant field name sign.
    """

    line: int
    column: int
    length: int
    kind: str
    text: str


@cache
def corpus(step: int = 1) -> tuple[Path, ...]:
    """Every `step`-th of the files, in the order of their names."""
    found = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.gsl"))
    return tuple(path for path in found[::step] if not parse(Source(path.name, text_of(path))).diagnostics)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def tokens(text: str) -> list[Token]:
    """All tokens of a text that parses, and its comments, in order."""
    reader = grammar().parse_interactive(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    found = list(reader.iter_parse())
    result: list[Token] = []
    end = 0
    for k, token in enumerate(found):
        assert token.start_pos is not None
        result += _comments(text, starts, end, token.start_pos)
        before = found[k - 1].value if k else ""
        after = found[k + 1].value if k + 1 < len(found) else ""
        result.append(_token(
            starts, token.start_pos, str(token.value), _kind(str(token.value), token.type, before, after)
        ))
        end = token.start_pos + len(token.value)
    return [*result, *_comments(text, starts, end, len(text))]


def _kind(value: str, terminal: str, before: str, after: str) -> str:
    if value[0] == '"':
        return "string"
    if value[0].isdigit():
        return "number"
    if not (value[0].isalpha() or value[0] == "_"):
        return "sign"
    if before == ".":
        return "field"
    if before == "op" or terminal == "NAME":
        return "name"  # `op where(…)` declares it; `repeat(x)` is a call
    if value in words.CONSTANTS and (after != "=" or before == "|"):
        return "constant"
    return "keyword" if value in words.words() and after != "=" else "name"


def _comments(text: str, starts: list[int], begin: int, end: int) -> Iterator[Token]:
    for found in re.finditer(r"#[^\n]*", text[begin:end]):
        yield _token(starts, begin + found.start(), found[0].rstrip(), "comment")


def _token(starts: list[int], at: int, value: str, kind: str) -> Token:
    line = bisect_right(starts, at)
    return Token(line, at - starts[line - 1], len(value), kind, value)


if __name__ == "__main__":
    table = {
        str(path.relative_to(ROOT)): {"text": text_of(path), "tokens": tokens(text_of(path))}
        for path in corpus()
    }
    json.dump(table, sys.stdout)
