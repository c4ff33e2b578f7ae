"""Names found from tokens are those of the syntax tree, on every shipped file; and what each one refers to, on small texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.check.context import BUILTIN_ARGUMENTS, KINDS
from gslang.check.marks import KNOWN
from gslang.dialect.signature import TRAITS
from gslang.highlight.words import words as grammar_words
from gslang.lint.linted_file import walk
from gslang.lsp import words
from gslang.lsp.names import marks
from gslang.lsp.pieces import cut, cut_file
from gslang.syntax import nodes as n

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "stdlib_rules").rglob("*.gsl"), *(ROOT / "examples").rglob("*.gsl")])


def introduced(item: n.Item) -> set[tuple[int, str]]:
    """What the syntax tree says."""
    found = []
    for node in walk(item):
        match node:
            case n.Bind() | n.Walrus() | n.Each() | n.Input() | n.FnParameter() | n.TestInput() | n.Rule() | n.FnDecl() | n.PassDecl() | n.OpDecl():
                found.append(node.name)
            case n.Parameter():
                found.append(node.name)
            case n.Comprehension():
                found += node.targets
    return {(name.span.start, name.id) for name in found}


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_what_is_introduced(path: Path) -> None:
    for piece in cut_file(str(path), path.read_text(encoding="utf-8")):
        for item in piece.items:
            found = {(m.start, m.text) for m in marks(piece) if m.defines and m.role != "test"}
            assert found == introduced(item)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_mention_is_found_and_resolved(path: Path) -> None:
    """Each name that an expression of the tree reads is a mention; it is local just if the item introduces it where it is seen."""
    for piece in cut_file(str(path), path.read_text(encoding="utf-8")):
        for item in piece.items:
            own = {name for _, name in introduced(item)}
            at = {m.start: m for m in marks(piece)}
            for node in walk(item):
                if isinstance(node, n.Call) and isinstance(node.callee, n.Attribute) and node.callee.span.start in at:
                    assert at[node.callee.span.start].role == "callee" or at[node.callee.span.start].local is not None
                if isinstance(node, n.Name) and "." not in node.id and node.id not in ("fold", "cse", "where"):
                    mark = at[node.span.start]
                    if mark.role == "name" and mark.text in own:
                        assert mark.local is not None, (piece.text, mark)


def resolved(text: str) -> dict[str, list[str]]:
    """Name → the lines' columns of its mentions, by where it is introduced."""
    (piece,) = cut("x", text)
    found: dict[str, list[str]] = {}
    for mark in marks(piece):
        if mark.local is not None:
            found.setdefault(f"{mark.text}@{mark.local}", []).append(mark.role)
    return found


def test_templates_and_their_names() -> None:
    found = resolved("rule r(x) { each b in 2.. { w = var(shape = first.w.shape); c = f(x, w); } *b.c => g([k.w for k in b], b[0].c.axis) }")
    names = {key.split("@")[0]: roles for key, roles in found.items()}
    assert names["w"] == ["binding", "field", "name", "field"]
    assert names["c"] == ["binding", "field", "field"]
    assert names["k"] == ["name", "counter"] and names["b"] == ["template", "name", "name", "name"]


def test_the_two_graphs_of_a_test_have_names_of_their_own() -> None:
    found = resolved('test "t" for r { x: input float32[2]; a = f(x); a => a = g(x); a }')
    assert sorted(key.split("@")[0] for key in found) == ["a", "a", "x"]
    assert all(roles == ["binding", "name"] for key, roles in found.items() if key[0] == "a")


def test_comprehension_variables_live_in_their_brackets() -> None:
    found = resolved("fn f(s) = ([v for v in s], [v for v in s]);")
    assert [roles for key, roles in found.items() if key[0] == "v"] == [["name", "counter"]] * 2


def test_names_in_text_that_does_not_parse() -> None:
    found = resolved("rule r(x, w: var { c = nn.conv2d(x, w; d = c + ")
    assert {key.split("@")[0]: roles for key, roles in found.items()} == {
        "x": ["input", "name"], "w": ["input", "name"], "c": ["binding", "name"], "d": ["binding"],
    }  # fmt: skip


def test_words_are_those_of_the_language() -> None:
    """Every word, kind, built-in, annotation and trait is explained; nothing else is."""
    assert set(words.KEYWORDS) == set(grammar_words())
    assert set(words.KINDS) == set(KINDS)
    assert set(words.FUNCTIONS) == {*BUILTIN_ARGUMENTS, "distinct", "splat"}
    assert set(words.ANNOTATIONS) == set(KNOWN)
    assert set(words.TRAITS) == set(TRAITS)


