"""The lexers know every character of the corpus; generated editor files are fresh."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pygments.token import Keyword, Name, String, Token

from gslang.highlight import words
from gslang.highlight.generate import EDITORS, files
from gslang.highlight.gsl_lexer import GslangLexer
from gslang.highlight.relay_lexer import RelayLexer

ROOT = Path(__file__).parent.parent.parent
RULES = sorted([*(ROOT / "stdlib_rules").rglob("*.gsl"), *(ROOT / "tests" / "fmt").rglob("*.gsl"), *(ROOT / "examples").rglob("*.gsl")])
RELAY = sorted(path for folder in ("examples", "tests") for path in (ROOT / folder).rglob("*.relay"))


def errors(lexer: GslangLexer | RelayLexer, text: str) -> list[str]:
    return [value for kind, value in lexer.get_tokens(text) if kind in Token.Error]


@pytest.mark.parametrize("path", RULES, ids=[path.name for path in RULES])
def test_rules_have_no_unknown_token(path: Path) -> None:
    assert errors(GslangLexer(), path.read_text(encoding="utf-8")) == []


def test_relay_files_have_no_unknown_token() -> None:
    text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, ?), float32]) {\n  nn.relu(%x) /* a /* b */ c */ // d\n}\n'
    assert errors(RelayLexer(), text) == []
    for path in RELAY:
        assert errors(RelayLexer(), path.read_text(encoding="utf-8", errors="replace")[:100_000]) == [], path.name


def test_colours() -> None:
    found = [(kind, value) for kind, value in GslangLexer().get_tokens('rule r(x): nn.relu(x) where a.where == "in" => x;')]
    assert (Keyword.Declaration, "rule") in found and (Keyword, "where") in found
    assert (Name.Attribute, "where") in found and (String.Double, '"in"') in found
    assert [value for kind, value in GslangLexer().get_tokens("§") if kind in Token.Error] == ["§"]


@pytest.mark.parametrize("name", sorted(files()))
def test_editor_files_are_fresh(name: str) -> None:
    """`python -m gslang.highlight.generate` writes them."""
    assert (EDITORS / name).read_text(encoding="utf-8") == files()[name]


def test_words_come_from_the_grammar() -> None:
    from gslang.syntax.parser import grammar

    reserved = {t.pattern.value for t in grammar().terminals if t.pattern.type == "str" and t.pattern.value.isalpha()}
    assert set(words.words()) == reserved
    assert set(words.items()) | set(words.keywords()) | set(words.CONSTANTS) == reserved


@pytest.mark.long
@pytest.mark.skipif(shutil.which("emacs") is None, reason="emacs is absent")
def test_emacs_reads_its_mode() -> None:
    mode = str(EDITORS / "emacs" / "gsl-mode.el")
    rules = str(RULES[0])
    check = '(progn (gsl-mode) (font-lock-ensure) (goto-char 1) (search-forward "rule ") (message "%s" (get-text-property (match-beginning 0) \'face)))'
    done = subprocess.run(["emacs", "--batch", "-l", mode, rules, "--eval", check], capture_output=True, text=True, check=True)
    assert "font-lock-keyword-face" in done.stderr


@pytest.mark.long
@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is absent")
def test_vim_reads_its_syntax(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rules = tmp_path / "a.gsl"
    rules.write_text("rule r(x): x => x;\n", encoding="utf-8")
    command = f"call writefile([&filetype, synIDattr(synID(1, 1, 1), 'name')], '{out}')"
    setup = ["vim", "-N", "-u", "NONE", "-i", "NONE", "-es", "--cmd", f"set rtp^={EDITORS / 'vim'}", "-c", "filetype on", "-c", "syntax on"]
    subprocess.run([*setup, "-c", f"edit {rules}", "-c", command, "-c", "qa!"], check=False, capture_output=True, timeout=60)
    assert out.read_text(encoding="utf-8").split() == ["gslang", "gslangItem"]


def test_notebooks_show_colours() -> None:
    import gslang

    rules = gslang.load(ROOT / "stdlib_rules" / "relay" / "conv.gsl")
    one = next(iter(rules))._repr_html_()
    assert "<span style" in one and "diamond_conv_add" in one and "two_conv_add" not in one
    assert "two_conv_add" in rules._repr_html_()
