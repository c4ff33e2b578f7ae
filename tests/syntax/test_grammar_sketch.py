"""Our grammar against the sketch that the language was agreed on: what one of them derives the other parses,
too.

Where they differ on purpose is written down below, by the trees in which it shows.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lark import Lark, Tree
from lark.exceptions import UnexpectedInput
from lark.grammar import NonTerminal, Terminal
from lark.lexer import PatternStr

from gslang.base.resources import grammar_path

SKETCH = (Path(__file__).parent / "grammar_sketch.lark").read_text(encoding="utf-8")
OURS = grammar_path("gsl.lark").read_text(encoding="utf-8")
SAMPLES = {
    "NAME": ("x", "w", "branch", "first"),
    "INT": ("0", "3"),
    "FLOAT": ("1.5", "2e-3"),
    "STRING": ('"a"', '"./b.gsl"'),
    "COMPARE": ("==", "<", ">="),
    "DOTTED": ("a.b",),
    "CHAIN": ("chain",),
}


class Deriver:
    """Random texts of a grammar: each rule's expansion is drawn, near the bottom one of the shallowest."""

    def __init__(self, text: str) -> None:
        self.parser = Lark(text, parser="lalr", keep_all_tokens=True)
        self.rules: dict[str, list[list[Any]]] = defaultdict(list)
        for rule in self.parser.rules:
            self.rules[rule.origin.name].append(list(rule.expansion))
        self.words: dict[str, tuple[str, ...]] = {}
        for terminal in self.parser.terminals:
            known = (
                (terminal.pattern.value,) if isinstance(terminal.pattern, PatternStr)
                else SAMPLES.get(terminal.name)
            )
            self.words[terminal.name] = known or ()
        self.depth: dict[str, int] = {}
        while len(self.depth) < len(self.rules):
            for name, expansions in self.rules.items():
                known_depths = [
                    self._below(e)
                    for e in expansions if all(isinstance(s, Terminal) or s.name in self.depth for s in e)
                ]
                if name not in self.depth and known_depths:
                    self.depth[name] = 1 + min(known_depths)

    def _below(self, expansion: list[Any]) -> int:
        return max([self.depth[s.name] for s in expansion if isinstance(s, NonTerminal)], default=0)

    def text(self, random: Random, start: str, depth: int) -> str:
        words: list[str] = []
        stack: list[tuple[Any, int]] = [(NonTerminal(start), depth)]
        while stack:
            symbol, left = stack.pop()
            if isinstance(symbol, Terminal):
                words.append(random.choice(self.words[symbol.name]))
                continue
            choices = self.rules[symbol.name]
            if self.depth[symbol.name] >= left:
                least = min(map(self._below, choices))
                choices = [e for e in choices if self._below(e) == least]
            stack += [(s, left - 1) for s in reversed(random.choice(choices))]
        return " ".join(words)


def parses(parser: Lark, text: str) -> Tree[Any] | None:
    try:
        return parser.parse(text)
    except UnexpectedInput:
        return None


def _behind_arrow(test: Tree[Any]) -> list[Tree[Any]]:
    at = next(k for k, part in enumerate(test.children) if part == "=>")
    return [part for part in test.children[at + 1 :] if isinstance(part, Tree)]


def only_in_the_sketch(tree: Tree[Any]) -> bool:
    """Blocks in blocks, a second `for`, `op(name = …)`, inputs that only a test's expectation has: the
    language rules them out.
    """
    for inner in tree.iter_subtrees():
        if inner.data == "each" and any(
            part is not inner and part.data == "each" for part in inner.iter_subtrees()
        ):
            return True
        if inner.data == "comp" and sum(isinstance(c, Tree) and c.data == "for_" for c in inner.children) > 1:
            return True
        if inner.data == "test" and any(
            isinstance(c, Tree) and c.data == "ttype" for part in _behind_arrow(inner) for c in part.children
        ):
            return True
        if inner.data == "opkind" and any(
            p.data == "arg_or_trait" and len(p.children) > 1 for p in inner.iter_subtrees()
        ):
            return True
    return False


def _before_equals_a_word(argument: Any) -> bool:
    """`dialect = 1` among the arguments of an annotation."""
    name = argument.children[0] if isinstance(argument, Tree) and argument.data == "keyword" else None
    return isinstance(name, Tree) and name.data == "field" and getattr(name.children[0], "type", "") != "NAME"


def only_in_ours(tree: Tree[Any]) -> bool:
    """Words and signs in more places: a `;` before `=>` and `}`, a comma behind the last of more lists, every
    word after a dot or before `=` (of annotations, too), `p.0.1`, an operator variable as the parameter of a
    function, functions without a body, tables of families, parameters of files, and chains.
    """
    words = {"none", "true", "false", "repeat", "unchanged"}
    for inner in tree.iter_subtrees():
        last = [str(c) for c in inner.children if c is not None and not isinstance(c, Tree)]
        match inner.data:
            case "projections" | "table" | "row" | "paramdecl" | "chain":
                return True
            case "field" if last and last[0] in words:
                return True
            case "annotation" if any(_before_equals_a_word(c) for c in inner.children):
                return True
            case "dotted" if any(isinstance(c, Tree) for c in inner.children):
                return True
            case "rule_block" | "reserved_both" | "reserved_fn" | "test" | "expected" | "unchanged" if (
                ";" in last
            ):
                return True
            case "each" if "where" in str(inner) and ";" not in last:
                return True
            case "several" | "targets" | "test_input" | "use_names" | "meaning" | "traits" | "inputs" if last[
                -2:-1
            ] == [","] or last[-3:-2] == [","]:
                return True
            case "fnparam" if "op" in last:
                return True
            case "extern_fn":
                return True
    return False


@pytest.fixture(scope="module")
def derivers() -> tuple[Deriver, Deriver]:
    return Deriver(SKETCH), Deriver(OURS)


ITEMS = ("rule", "rule", "opdecl", "test", "fndecl", "passdecl", "use")


def derived(random: Random, deriver: Deriver) -> str:
    """An item, or a function of a deep expression."""
    if random.random() < 0.5:
        return deriver.text(random, random.choice(ITEMS), random.randint(8, 15))
    return f"fn f ( ) = {deriver.text(random, 'expr', random.randint(13, 16))} ;"


@pytest.mark.parametrize("seed", range(4))
def test_what_the_sketch_derives_we_parse(seed: int, derivers: tuple[Deriver, Deriver]) -> None:
    random, (sketch, ours) = Random(seed), derivers
    held = 0
    for _ in range(150):
        text = derived(random, sketch)
        tree = parses(sketch.parser, text)
        if tree is not None and not only_in_the_sketch(tree):
            held += 1
            assert parses(ours.parser, text) is not None, text
    assert held > 100


@pytest.mark.parametrize("seed", range(4))
def test_what_we_derive_the_sketch_parses(seed: int, derivers: tuple[Deriver, Deriver]) -> None:
    random, (sketch, ours) = Random(seed), derivers
    held = 0
    for _ in range(150):
        text = derived(random, ours)
        tree = parses(ours.parser, text)
        if tree is not None and not only_in_ours(tree):
            held += 1
            assert parses(sketch.parser, text) is not None, text
    assert held > 40
