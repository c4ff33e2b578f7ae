"""The quick run of Lark's tables gives Lark's trees, places included, and leaves mistakes to Lark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lark import Token, Tree, UnexpectedInput

from gslang.base.resources import stdlib_path
from gslang.base.rule_files import rule_files
from gslang.syntax import lalr
from gslang.syntax.grammar import grammar

FILES = [path for path in rule_files(stdlib_path()) if path.stat().st_size < 20_000][::3]


def parts(node: Any) -> list[object]:
    """A tree with the places of all that is in it, as a list."""
    found: list[object] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, Tree):
            meta = current.meta
            found.append((current.data, len(current.children), meta.empty or (meta.start_pos, meta.end_pos)))
            stack += current.children
        elif isinstance(current, Token):
            found.append((current.type, str(current), current.start_pos, current.end_pos))
        else:
            found.append(current)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_trees_are_those_of_lark(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    expected = parts(grammar().parse(text))
    monkeypatch.setattr(type(grammar()), "parse", None)  # it is not asked
    assert parts(lalr.parse(grammar(), text)) == expected


@pytest.mark.parametrize(
    "text", ["rule r(x): x => ;", "rule r(x): x", "rule r(x): $ => x;", "pass p { a; } }"]
)
def test_mistakes_are_told_by_lark(text: str) -> None:
    with pytest.raises(UnexpectedInput) as expected:
        grammar().parse(text)
    with pytest.raises(UnexpectedInput) as found:
        lalr.parse(grammar(), text)
    assert str(found.value) == str(expected.value)


def test_an_empty_text() -> None:
    assert lalr.parse(grammar(), "") == grammar().parse("")


def test_a_lark_that_is_built_otherwise_parses_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(lark: object) -> object:
        raise AttributeError("_parse_table")

    monkeypatch.setattr(lalr, "_known", {})
    monkeypatch.setattr(lalr, "_tables", none)
    text = "rule r(x): nn.relu(x) => x;"
    assert lalr.parse(grammar(), text) == grammar().parse(text)
