"""The tree-sitter grammar: it reads the corpus as the compiler does, its queries fit it, and its generated
files are fresh.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.highlight import words
from gslang.syntax.parser import parse
from tests.editors.corpus import ROOT, corpus, text_of, tokens

FOLDER = ROOT / "editors" / "tree-sitter-gslang"
pytestmark = pytest.mark.editors

# What captures a token of each kind may have.
CAPTURES = {
    "comment": r"comment",
    "string": r"string",
    "number": r"number",
    "constant": r"constant|boolean",
    "keyword": r"keyword|type\.builtin",
    "field": r"property|function|module",
    "name": r"variable|function|module|label|type|attribute|property",
    "sign": r"operator|punctuation|keyword|attribute|variable\.builtin",
}


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tree_sitter import Language

    library = tmp_path_factory.mktemp("tree-sitter") / "gslang.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-I", FOLDER / "src", FOLDER / "src" / "parser.c", "-o", library],
        check=True, timeout=120,
    )
    loaded = ctypes.CDLL(str(library))
    loaded.tree_sitter_gslang.restype = ctypes.c_void_p
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(new(loaded.tree_sitter_gslang(), b"tree_sitter.Language", None))


def parsed(language: Any, text: str) -> Any:
    from tree_sitter import Parser

    return Parser(language).parse(text.encode()).root_node


def byte_offsets(text: str) -> list[int]:
    """Of each line, the offset of its first byte."""
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line.encode()) + 1)
    return offsets


def test_it_reads_what_the_compiler_reads(language: Any) -> None:
    for path in corpus():
        root = parsed(language, text_of(path))
        assert not root.has_error, f"{path}: {root}"
        items = [node for node in root.children if node.type.endswith("_item")]
        assert len(items) == len(parse(Source(path.name, text_of(path))).program.items), path


def test_it_refuses_what_is_broken(language: Any) -> None:
    broken = sorted(set((ROOT / "tests" / "ui" / "syntax").glob("*.gsl")) - set(corpus()))
    found = {path.name: parsed(language, text_of(path)).has_error for path in broken}
    assert sum(found.values()) >= len(found) - 2, found  # it takes a little more than the compiler


@pytest.mark.parametrize(
    "broken", ["c = nn.relu(x, ;\n  c => x", "c =\n  c => x", "c = [1, 2;\n  c\n  => x", "c where => x"]
)
def test_a_broken_item_leaves_the_others(language: Any, broken: str) -> None:
    root = parsed(language, f"rule one(x): x => x;\nrule two(x) {{\n  {broken}\n}}\nrule three(x): x => x;\n")
    names = [node.child_by_field_name("name").text for node in root.children if node.type == "rule_item"]
    assert root.has_error and names[0] == b"one" and names[-1] == b"three"


def test_each_token_has_its_colour(language: Any) -> None:
    from tree_sitter import Query, QueryCursor

    query = Query(language, (FOLDER / "queries" / "highlights.scm").read_text(encoding="utf-8"))
    for path in corpus():
        text = text_of(path)
        root, offsets, lines = parsed(language, text), byte_offsets(text), text.split("\n")
        # start → the smallest node, the later pattern, its capture
        colours: dict[int, tuple[int, int, str]] = {}
        for index, captures in QueryCursor(query).matches(root):
            for capture, nodes in captures.items():
                for node in nodes:
                    size = node.end_byte - node.start_byte
                    known = colours.get(node.start_byte)
                    if known is None or (-size, index) >= (-known[0], known[1]):
                        colours[node.start_byte] = size, index, capture
        for token in tokens(text):
            at = offsets[token.line - 1] + len(lines[token.line - 1][: token.column].encode())
            capture = colours.get(at, (0, 0, "nothing"))[2]
            # it is also an operator
            allowed = CAPTURES[token.kind] + ("|function" if token.text == "where" else "")
            assert re.match(allowed, capture), (
                f"{path.name}:{token.line}:{token.column + 1}: {token.kind} `{token.text}` is {capture}"
            )


@pytest.mark.parametrize("name", sorted(path.name for path in (FOLDER / "queries").glob("*.scm")))
def test_queries_fit_the_grammar(language: Any, name: str) -> None:
    from tree_sitter import Query, QueryCursor

    query = Query(language, (FOLDER / "queries" / name).read_text(encoding="utf-8"))
    root = parsed(language, (ROOT / "stdlib_rules" / "relay" / "conv.gsl").read_text(encoding="utf-8"))
    assert QueryCursor(query).captures(root)


def examples() -> list[tuple[str, str, str]]:
    """(title, text, tree) in the files of `test/corpus`, which `tree-sitter test` reads, too."""
    found = []
    for path in sorted((FOLDER / "test" / "corpus").glob("*.txt")):
        parts = re.split(r"^=+\n(.+)\n=+\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        for title, body in zip(parts[::2], parts[1::2], strict=True):
            text, _, tree = body.partition("\n---\n")
            found.append((title, text.strip("\n") + "\n", " ".join(tree.split()).replace(" )", ")")))
    return found


@pytest.mark.parametrize(("title", "text", "tree"), examples(), ids=[title for title, _, _ in examples()])
def test_trees(language: Any, title: str, text: str, tree: str) -> None:
    assert str(parsed(language, text)) == tree


@lru_cache(maxsize=1)
def grammar_json() -> dict[str, Any]:
    return dict(json.loads((FOLDER / "src" / "grammar.json").read_text(encoding="utf-8")))


def test_the_parser_is_fresh() -> None:
    """After a change of grammar.js: `tree-sitter generate`."""
    done = subprocess.run(
        ["node", Path(__file__).parent / "grammar_json.mjs", FOLDER / "grammar.js"], capture_output=True,
        text=True, check=True, timeout=60,
    )
    for part, value in json.loads(done.stdout).items():
        assert grammar_json()[part] == value, part
    words_in_parser = set(re.findall(
        r'\[(?:anon_)?sym_\w+\] = "(\w+)",', (FOLDER / "src" / "parser.c").read_text(encoding="utf-8")
    ))
    assert set(words.words()) - {"none"} <= words_in_parser


def test_all_words_are_in_the_grammar() -> None:
    listed = set(re.findall(r'"STRING", "value": "([a-z]+)"', json.dumps(grammar_json())))
    assert set(words.words()) == listed
    signs = set(re.findall(r'"STRING", "value": "([^"a-zA-Z_\\]+)"', json.dumps(grammar_json())))
    assert set(words.signs()) <= signs
