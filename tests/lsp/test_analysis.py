"""Judging a file piece by piece says what judging it as a whole says; what did not change is not judged
again.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gslang.base.source import Source
from gslang.check.check import check_module, check_source
from gslang.check.imports import Importer
from gslang.check.parameters import ANY_VALUES
from gslang.lint.run_lints import _lint
from gslang.lint.selectors import selected_codes
from gslang.lsp import analysis as analysis_module
from gslang.lsp import store as store_module
from gslang.lsp.pieces import Piece, cut
from gslang.lsp.store import Store
from gslang.syntax.parser import parse

ROOT = Path(__file__).resolve().parents[2]
EVERY = sorted((ROOT / "stdlib_rules").rglob("*.gsl"))
SHIPPED = [path for path in EVERY if path.parent.name == "relay" and path.name != "passes.gsl"]
BAD = sorted([*(ROOT / "tests" / "ui").rglob("*.gsl"), *(ROOT / "tests" / "lint" / "corpus").rglob("*.gsl")])
ALL, USUAL = selected_codes(("all",), ()), selected_codes((), ())


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def whole(
    path: Path, text: str, selected: frozenset[str]
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    source = Source(str(path), text)
    program = check_source(source, Importer(check_module, None, ANY_VALUES))
    own = [d for d in program.diagnostics if d.primary.span.source.name == str(path)]
    found = [(d.primary.span.start, d.primary.span.end, d.code, d.message, d.help) for d in own]
    lints = [d for d in _lint(source, program, selected) if not d.allowed] if program.ok else []
    return sorted(found, key=repr), sorted(
        [(d.primary.span.start, d.primary.span.end, d.code, d.message, d.help) for d in lints], key=repr
    )


def in_pieces(
    store: Store, path: Path, text: str
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    document = store.put(path.as_uri(), text, 1)
    found = [
        (*document.range_of(d.primary.span), d.code, d.message, d.help) for d in store.findings(document)
    ]
    return sorted([f for f in found if str(f[2]).startswith("E")], key=repr), sorted(
        [f for f in found if str(f[2]).startswith("L")], key=repr
    )


@pytest.mark.long
@pytest.mark.parametrize("path", EVERY + BAD, ids=names(EVERY + BAD))
def test_the_same_findings_everywhere(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test_the_same_findings(path, monkeypatch)


@pytest.mark.parametrize("path", SHIPPED + BAD[::3], ids=names(SHIPPED + BAD[::3]))
def test_the_same_findings(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selected = ALL if path in BAD else USUAL
    monkeypatch.setattr(Store, "selected", lambda self, document: selected)
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    if parse(Source(str(path), text)).diagnostics:
        assert in_pieces(Store(), path, text)[0]
        return
    errors, lints = in_pieces(Store(), path, text)
    expected_errors, expected_lints = whole(path, text, selected)
    assert errors == expected_errors
    if not expected_errors:
        assert lints == expected_lints


def test_the_same_findings_in_slips() -> None:
    """Also in what cannot be read: the pieces are those that the parser leaves out one by one."""
    slips = (ROOT / "tests" / "ui" / "slips.txt").read_text(encoding="utf-8").rstrip("\n").split("\n--\n")
    slips += (ROOT / "tests" / "ui" / "other_languages.txt").read_text(encoding="utf-8").splitlines()
    path = ROOT / "rules.gsl"
    for slip in slips:
        text = slip if slip.startswith("dialect") else f"dialect onnx;\n{slip}\n"
        assert in_pieces(Store(), path, text)[0] == whole(path, text, frozenset())[0], slip


@pytest.mark.parametrize("path", [p for p in SHIPPED if p.name == "bias.gsl"], ids=lambda p: p.name)
def test_the_same_findings_after_each_edit(path: Path) -> None:
    """Words are swapped for others of the file, back and forth: most of these texts have errors, none are of
    syntax.
    """
    store, text, chance = Store(), path.read_text(encoding="utf-8"), random.Random(path.name)
    compared = 0
    for _ in range(40):
        words = [t for piece in cut("", text) for t in piece.tokens.all if t.kind == "word"]
        starts = [
            m
            for m in range(len(text))
            if text[m].isalpha() and not text[m - 1 : m].isalnum() and text[m - 1 : m] != "_"
        ]
        at, new = chance.choice(starts), chance.choice(words).text
        end = next((k for k in range(at, len(text)) if not (text[k].isalnum() or text[k] == "_")), len(text))
        changed = text[:at] + new + text[end:]
        if parse(Source("", changed)).diagnostics:
            in_pieces(store, path, changed)
            in_pieces(store, path, text)
            continue
        assert in_pieces(store, path, changed)[0] == whole(path, changed, frozenset())[0]
        compared += 1
        if chance.random() < 0.4:
            text = changed
    assert compared > 10


def test_only_what_changed_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: an edit in one rule parses one piece and checks one rule."""
    path = ROOT / "stdlib_rules" / "relay" / "conv.gsl"
    text = path.read_text(encoding="utf-8")
    store = Store()
    uri = "file:///nowhere/conv.gsl"
    store.findings(store.put(uri, text, 1), costly=False)
    checked: list[str] = []
    parsed: list[str] = []
    check_rule, parse_piece = analysis_module.check_rules, Piece.parsed.func  # type: ignore[attr-defined]
    monkeypatch.setattr(
        analysis_module, "check_rules",
        lambda rule, *rest: (checked.append(rule.name.id), check_rule(rule, *rest))[1],
    )
    monkeypatch.setattr(
        Piece.parsed, "func", lambda piece: (parsed.append(piece.text), parse_piece(piece))[1]
    )
    changed = text.replace("(c1 := nn.conv2d(x, w1))", "(c1 := nn.conv2d(x, w1, groups = 1))", 1)
    store.findings(store.put(uri, changed, 2), costly=False)
    assert len(parsed) == 1 and "groups = 1" in parsed[0] and checked == ["diamond_conv_add"]
    checked.clear()
    store.findings(store.put(uri, "# a line above everything\n" + changed, 3), costly=False)
    assert checked == []  # all places have moved, no rule has changed
    store.findings(
        store.put(uri, changed.replace("fn plain(c) =", "fn plain(c) = true and"), 4), costly=False
    )
    assert 0 < len(checked) < 12 and "diamond_conv_add" not in checked  # only the rules that call it


def test_a_text_that_did_not_change_is_not_linted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    one = store.put(
        "untitled:one", "## Doc.\nrule a(x): exp(x) => tanh(x);\n## Doc.\nrule b(x): tanh(x) => exp(x);\n", 1
    )
    two = store.put("untitled:two", "## Doc.\nrule c(x): exp(x) => tanh(x);\n", 1)
    runs: list[str] = []
    run = store_module.lint
    monkeypatch.setattr(
        store_module, "lint",
        lambda analysis, *rest: (runs.append(analysis.document.uri), run(analysis, *rest))[1],
    )
    before = store.findings(one)
    assert [d.code for d in before].count("L0203") > 0
    store.findings(two)
    assert store.findings(one) == before and runs == ["untitled:one", "untitled:two"]
    changed = store.put("untitled:one", one.text + "fn one(a) = a;\n", 2)
    # the loop is still told, without looking for it
    assert [d.code for d in store.findings(changed, costly=False)] == [d.code for d in before]
    assert runs == ["untitled:one", "untitled:two", "untitled:one"]


def test_a_broken_function_stays_what_it_was() -> None:
    good = "fn twice(x: tensor) = x + x;\n\n## Doc.\nrule a(x): exp(twice(x)) => twice(exp(x));\n"
    store = Store()
    uri = "untitled:one"
    store.put(uri, good, 1)
    assert [d.code for d in store.findings(store.open[uri])] == ["L0109"]
    broken = store.put(uri, good.replace("x + x;", "x + ;"), 2)
    assert [d.code for d in store.findings(broken) if d.code[0] == "E"] == ["E0102"]


@pytest.mark.parametrize("typed", ["dialect on;", "dialect onnx", "dialect ;"])
def test_a_dialect_that_is_being_typed_stays_what_it_was(typed: str) -> None:
    good = "dialect onnx;\n\n## Doc.\n@allow(L0109)\nrule a(x): Relu(Relu(x)) => Relu(x);\n"
    store = Store()
    assert store.findings(store.put("untitled:one", good, 1)) == []
    changed = store.put("untitled:one", good.replace("dialect onnx;", typed), 2)
    assert {d.code for d in store.findings(changed)} <= {"E0206", "E0102", "E0103"}
    # its operators are all ONNX's
    assert store.findings(store.put("untitled:one", good.replace("dialect onnx;", ""), 3)) == []
    assert (
        store.findings(store.put("untitled:one", good.replace("dialect onnx;", "dialect relay;"), 4))[0].code
        == "E0301"
    )


def test_pieces_are_the_text() -> None:
    chance = random.Random(3)
    signs = [
        "rule a(x): b => c;", "{", "}", "(", ")", ";", 'test "t" for a {', "# c\n",
        "\n", "@once", "fn f(x) = x;", "é", "pass = 1", "op my.a(x: tensor) -> tensor;",
    ]
    for _ in range(300):
        text = " ".join(chance.choice(signs) for _ in range(chance.randrange(12)))
        assert "".join(piece.text for piece in cut("x", text)) == text


@pytest.mark.parametrize("path", EVERY, ids=names(EVERY))
def test_each_piece_is_an_item(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pieces = cut(str(path), text)
    assert [item for piece in pieces for item in piece.items] == list(
        parse(Source(str(path), text)).program.items
    )
    assert all(len(piece.items) == 1 for piece in pieces)
    assert all(old is new for old, new in zip(pieces, cut(str(path), text, pieces)))
