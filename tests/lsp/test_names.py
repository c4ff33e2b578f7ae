"""Names found from tokens are those of the syntax tree, on every shipped file; and what each one refers to,
on small texts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.base.cache import cache_folder
from gslang.check.context import FUNCTIONS, KINDS
from gslang.check.rule_annotations import KNOWN
from gslang.dialect.signature import TRAITS
from gslang.highlight.words import words as grammar_words
from gslang.lint.linted_file import walk
from gslang.lsp import pieces, words
from gslang.lsp.names import marks
from gslang.lsp.pieces import Piece, cut, cut_file
from gslang.lsp.store import Store
from gslang.syntax import nodes as n

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "stdlib_rules").rglob("*.gsl"), *(ROOT / "examples").rglob("*.gsl")])


def introduced(item: n.Item) -> set[tuple[int, str]]:
    """What the syntax tree says."""
    found = []
    for node in walk(item):
        match node:
            case (
                n.Bind() | n.Walrus() | n.Each() | n.Input() | n.FnParameter() | n.TestInput() | n.Rule()
                | n.FnDecl() | n.PassDecl() | n.OpDecl()
            ):
                found.append(node.name)
            case n.Parameter():
                found.append(node.name)
            case n.Comprehension():
                found += node.targets
            case n.Table():
                found += node.names
    return {(name.span.start, name.id) for name in found}


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_what_is_introduced(path: Path) -> None:
    for piece in cut_file(str(path), path.read_text(encoding="utf-8")):
        for item in piece.items:
            found = {(m.start, m.text) for m in marks(piece) if m.defines and m.role != "test"}
            assert found == introduced(item)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_mention_is_found_and_resolved(path: Path) -> None:
    """Each name that an expression of the tree reads is a mention; it is local just if the item introduces it
    where it is seen.
    """
    for piece in cut_file(str(path), path.read_text(encoding="utf-8")):
        for item in piece.items:
            own = {name for _, name in introduced(item)}
            at = {m.start: m for m in marks(piece)}
            for node in walk(item):
                if (
                    isinstance(node, n.Call) and isinstance(node.callee, n.Attribute)
                    and node.callee.span.start in at
                ):
                    assert (
                        at[node.callee.span.start].role == "callee"
                        or at[node.callee.span.start].local is not None
                    )
                if (
                    isinstance(node, n.Name) and "." not in node.id
                    and node.id not in ("fold", "cse", "where")
                ):
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
    found = resolved(
        "rule r(x) { each b in 2.. { w = var(shape = first.w.shape); c = f(x, w); } *b.c => g([k.w for k in "
        "b], b[0].c.axis) }"
    )
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


def test_annotations_read_the_table_of_a_family() -> None:
    found = resolved("@attach(step = e) rule r(x) for (F, e) in (abs, 0), (exp, 1): F(x) + e => x;")
    assert [roles for key, roles in found.items() if key[0] == "e"] == [["name", "counter", "name"]]


def test_kinds_of_inputs_are_read_from_the_table_of_a_family() -> None:
    text = "rule r(x: K, y: K(shape = ())) for K in const, any(dtype = x.dtype): f(x, y) => x;"
    found = resolved(text)
    assert [roles for key, roles in found.items() if key[0] == "K"] == [["name", "name", "counter"]]


def test_names_in_text_that_does_not_parse() -> None:
    found = resolved("rule r(x, w: var { c = nn.conv2d(x, w; d = c + ")
    assert {key.split("@")[0]: roles for key, roles in found.items()} == {
        "x": ["input", "name"], "w": ["input", "name"], "c": ["binding", "name"], "d": ["binding"],
    }  # fmt: skip


def test_words_are_those_of_the_language() -> None:
    """Every word, kind, built-in, annotation and trait is explained; nothing else is."""
    assert set(words.KEYWORDS) == set(grammar_words())
    assert set(words.KINDS) == set(KINDS)
    assert set(words.FUNCTIONS) == {*FUNCTIONS, "distinct", "splat"}
    assert set(words.ANNOTATIONS) == set(KNOWN)
    assert set(words.TRAITS) == set(TRAITS)




def test_searching_a_workspace_parses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: symbols, references and the dialect of a file are found from tokens alone, so that large
    workspaces can be searched.
    """
    from lsprotocol import types as lsp

    from gslang.lsp.navigation import all_references
    from gslang.lsp.symbols import workspace_symbols

    for k in range(30):
        (tmp_path / f"f{k}.gsl").write_text(
            f'dialect relay;\nuse "./base.gsl";\nrule r{k}(x): exp(x) where f(1) == {k} => x;\n'
        )
    (tmp_path / "base.gsl").write_text("fn f(a) = a;\n")
    store = Store()
    store.roots = [tmp_path]
    base = store.file(tmp_path / "base.gsl")
    assert base is not None
    monkeypatch.setattr(Piece.parsed, "func", lambda piece: pytest.fail(f"parsed: {piece.text}"))
    assert [symbol.name for symbol in workspace_symbols(store, "r29")] == ["r29"]
    assert len(all_references(store, base, lsp.Position(0, 3), True)) == 31


def test_files_on_disk_are_parsed_as_a_whole_and_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes from the cache speaks of the pieces that are there, also where two have the same text."""
    monkeypatch.setenv("GSLANG_CACHE", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    text = (
        "## A.\nrule a(x): exp(x) => x;\n# same\nrule b(x): exp(x) => x;\n# same\nrule b(x): exp(x) => x;\n"
        "rule broken(x): => ;\n"
    )
    parsed: list[str] = []
    parse_piece = pieces.parse
    monkeypatch.setattr(pieces, "parse", lambda source: (parsed.append(source.text), parse_piece(source))[1])
    for count in (4, 4):
        some = pieces.cut_file("f.gsl", text)
        assert len(some[2].items) == 1 and len(parsed) == count
        for piece in some:
            assert all(item.span.source is piece.source for item in piece.items)
            assert piece.parsed == parse_piece(piece.source)
    cache_folder.cache_clear()
