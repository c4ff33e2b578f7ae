"""The lexers know every character of the corpus; generated editor files are fresh."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pygments.token import Keyword, Name, String, Token

from gslang.highlight import words
from gslang.highlight.generate import EDITORS, files
from gslang.highlight.gsl_lexer import GslangLexer
from gslang.highlight.relay_lexer import RelayLexer
from gslang.syntax.grammar import grammar
from tests.editors.corpus import corpus, text_of, tokens

ROOT = Path(__file__).parent.parent.parent
RELAY = sorted(path for folder in ("examples", "tests") for path in (ROOT / folder).rglob("*.relay"))


def errors(lexer: GslangLexer | RelayLexer, text: str) -> list[str]:
    return [value for kind, value in lexer.get_tokens(text) if kind in Token.Error]


# What a token of each kind may be for Pygments.
KINDS = {
    "comment": r"Comment",
    "string": r"Literal\.String",
    "number": r"Literal\.Number",
    "constant": r"Keyword\.Constant",
    "keyword": r"Keyword",
    "field": r"Name",
    "name": r"Name|Keyword\.Type",
    "sign": r"Operator|Punctuation|Name\.(Decorator|Function)",
}


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_each_token_is_what_the_compiler_takes_it_for(step: int) -> None:
    for path in corpus(step):
        text = text_of(path)
        kinds: list[str] = []  # of each character
        for kind, value in GslangLexer(stripnl=False, ensurenl=False).get_tokens(text):
            kinds += [str(kind).removeprefix("Token.")] * len(value)
        starts = [0, *(found.end() for found in re.finditer("\n", text))]
        for token in tokens(text):
            begin = starts[token.line - 1] + token.column
            for kind in set(kinds[begin : begin + token.length]):
                where = f"{path}:{token.line}:{token.column + 1}"
                assert re.match(KINDS[token.kind], kind), f"{where}: {token.kind} `{token.text}` is {kind}"
        assert "Error" not in kinds, path


def test_relay_files_have_no_unknown_token() -> None:
    text = (
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, ?), float32]) {\n'
        '  nn.relu(%x) /* a /* b */ c */ // d\n}\n'
    )
    assert errors(RelayLexer(), text) == []
    for path in RELAY:
        assert errors(RelayLexer(), path.read_text(encoding="utf-8", errors="replace")[:100_000]) == [], (
            path.name
        )


@pytest.mark.parametrize("alias", ["gslang", "gsl"])
def test_pygments_finds_the_lexer(alias: str) -> None:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename

    assert isinstance(get_lexer_by_name(alias), GslangLexer)
    assert isinstance(get_lexer_for_filename("a.gsl"), GslangLexer)
    assert isinstance(get_lexer_by_name("relay"), RelayLexer)


def test_colours() -> None:
    found = [
        (kind, value)
        for kind, value in GslangLexer().get_tokens('rule r(x): nn.relu(x) where a.where == "in" => x;')
    ]
    assert (Keyword.Declaration, "rule") in found and (Keyword, "where") in found
    assert (Name.Attribute, "where") in found and (String.Double, '"in"') in found
    assert [value for kind, value in GslangLexer().get_tokens("§") if kind in Token.Error] == ["§"]


@pytest.mark.parametrize("name", sorted(files()))
def test_editor_files_are_fresh(name: str) -> None:
    """`python -m gslang.highlight.generate` writes them; `npm run snapshots` and `tree-sitter generate` what
    follows from them.
    """
    assert (EDITORS / name).read_text(encoding="utf-8") == files()[name]


def test_words_come_from_the_grammar() -> None:
    texts = {t.pattern.value.removesuffix("(?![A-Za-z0-9_])") for t in grammar().terminals}
    reserved = {text for text in texts if text.isalpha()}
    reserved.add("chain")  # which what follows tells from a name
    assert set(words.words()) == reserved
    assert set(words.items()) | set(words.keywords()) | set(words.CONSTANTS) == reserved


def test_names_are_those_of_the_checker() -> None:
    from gslang.check.builtins import BUILTINS
    from gslang.check.context import BUILTIN_ARGUMENTS, FUNCTIONS, USES
    from gslang.check.context import KINDS as CHECKED
    from gslang.engine.uses import FACTS

    assert set(words.KINDS) | {"op"} == set(CHECKED)
    assert set(words.PATTERN_KINDS) == set(words.KINDS) - {"any"}
    assert (set(BUILTIN_ARGUMENTS), set(USES)) == (set(BUILTINS), set(FACTS))
    assert set(words.BUILTINS) == FUNCTIONS


def test_soft_words_are_names_too() -> None:
    name = re.compile(next(t.pattern.value for t in grammar().terminals if t.name == "NAME"))
    assert {word for word in words.words() if name.fullmatch(word)} == set(words.SOFT)


def test_notebooks_show_colours() -> None:
    import gslang

    rules = gslang.load(ROOT / "stdlib_rules" / "relay" / "conv.gsl")
    one = next(iter(rules))._repr_html_()
    assert "<span style" in one and "diamond_conv_add" in one and "two_conv_add" not in one
    assert "two_conv_add" in rules._repr_html_()
