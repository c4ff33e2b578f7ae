"""The parser's tables that are shipped are those of the grammar that is shipped."""

from __future__ import annotations

import json
from pathlib import Path

import lark
import pytest

from gslang.base.resources import grammar_path
from gslang.base.source import Source
from gslang.syntax import grammar
from gslang.syntax.parser import parse

TEXT = (Path(__file__).parent.parent.parent / "stdlib_rules" / "relay" / "conv.gsl").read_text(
    encoding="utf-8"
)


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for found in (grammar.grammar, grammar.grammar_without_places):
        monkeypatch.setattr(grammar, found.__name__, found.__wrapped__)
    return monkeypatch


def test_they_are_in_step() -> None:
    shipped = grammar_path("gsl.json").read_text(encoding="utf-8")
    found = json.loads(shipped)
    assert found["grammar"] == grammar._digest(), "run `make grammar`"
    if found["lark"] == lark.__version__:
        assert shipped == grammar.serialised(), "run `make grammar`"


def test_they_parse_as_the_grammar_does(anew: pytest.MonkeyPatch) -> None:
    ready, unplaced = grammar.grammar(), grammar.grammar_without_places()
    assert ready.source_path == unplaced.source_path == "<deserialized>"
    anew.setattr(grammar, "_tables", lambda: None)
    made = grammar.grammar()
    assert made.source_path != "<deserialized>"
    for text in (TEXT, "rule r(a): f(a) => a;", "", "pass p { repeat { a; } }"):
        assert ready.parse(text) == made.parse(text) == unplaced.parse(text)
    tree, same = ready.parse(TEXT), made.parse(TEXT)
    assert [t.meta.start_pos for t in tree.iter_subtrees()] == [
        t.meta.start_pos for t in same.iter_subtrees()
    ]


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"grammar": 3}', "nothing"])
def test_damaged_tables_are_made_anew(damage: str, anew: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("gsl.lark", "gsl.json"):
        (tmp_path / name).write_bytes(grammar_path(name).read_bytes())
    anew.setattr(grammar, "grammar_path", lambda name: tmp_path / name)
    (tmp_path / "gsl.json").write_text(damage)
    assert grammar.grammar().parse(TEXT)


def test_tables_that_this_lark_cannot_read_are_made_anew(anew: pytest.MonkeyPatch) -> None:
    anew.setattr(grammar, "_tables", lambda: {"data": {"parser": {"parser": {}}}, "memo": {}})
    assert grammar.grammar().parse(TEXT)


def test_the_parser_uses_them() -> None:
    assert parse(Source("t", TEXT)).program.items
    assert grammar.grammar().source_path == "<deserialized>"
