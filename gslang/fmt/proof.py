"""Proof that two texts say the same, without a second parse: the grammar knows no white space and few signs
may come or go.

Compared are the tokens without last commas and without the `;` that may stand behind outputs; the
documentation of each item and of the file; and all comments. Texts that differ in more are parsed and
compared as trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.fmt.parts import items
from gslang.fmt.tokens import Token, first, tokens, tree
from gslang.syntax.parser import parse


@dataclass(slots=True)
class _Inside:
    """The state between a bracket and here. `block`: a brace, but not of a spread or of arms. `clause`: an
    arrow or a `where` clause in it.

    `arms`: braces still to come that hold the arms of a `match`.
    """

    block: bool = False
    arms: int = 0
    commas: int = 0
    loop: bool = False
    clause: bool = False


def says_the_same(before: str, after: str) -> bool:
    """True if `after`, formatted from `before`, means the same and has its comments.

    `before` is known to parse.
    """
    old, new = tokens(before), tokens(after)
    if sorted(_comments(old)) != sorted(_comments(new)):
        return False
    if _essence(old) == _essence(new) and _docs(old) == _docs(new):
        return True
    first, second = parse(Source("before", before)), parse(Source("after", after))
    return not second.diagnostics and same(first.program, second.program)


def _comments(found: Sequence[Token]) -> list[str]:
    return [text for token in found for text in (*token.above, token.trailing) if text is not None]


def _essence(found: Sequence[Token]) -> list[str]:
    """The texts of the tokens that matter: without signs that the grammar lets come and go.

    A last comma goes where there is one before it (one alone may make a tuple, or not be allowed); none in a
    comprehension. A `;` goes behind the outputs of an item in braces, and behind the conditions of a block.
    """
    kept: list[str] = []
    stack = [_Inside()]
    for token in found:
        text, here = token.text, stack[-1]
        last = kept[-1] if kept else ""
        if token.kind == "word" and last != ".":
            here.loop = here.loop or text == "for"
            here.arms += text == "match"
            here.clause = here.clause or text == "where" and last in (";", "{") and here.block
        elif token.kind == "sign":
            match text:
                case "," if not here.loop:
                    here.commas += 1
                case "=>" if len(stack) == 2 and here.block:
                    here.clause = True
                    if last == ";":
                        kept.pop()
                case "(" | "[" | "{":
                    arms = text == "{" and last != "." and here.arms > 0
                    here.arms -= arms
                    stack.append(_Inside(block=text == "{" and last != "." and not arms))
                case ")" | "]" | "}":
                    body = here.clause and text == "}"
                    if (
                        last == ";" and body or last == "," and here.commas > 1 and kept[-2] != ","
                        and not here.loop and not body
                    ):
                        kept.pop()
                    if len(stack) > 1:
                        stack.pop()
        kept.append(text)
    return kept


def _docs(found: Sequence[Token]) -> list[tuple[str, ...]]:
    """The `##` lines right above each item that begins its line; then the `#!` lines of the file."""
    begins = {first(item.parts[0]).start for item in items(tree(list(found[:-1])))}
    docs: list[tuple[str, ...]] = []
    run: list[str] = []
    for token in found:
        if token.newlines or token is found[0]:
            run = []
            for text in reversed(token.above):
                if text is None or not text.startswith("##") or text.startswith("###"):
                    break
                run.append(text)
        if token.start in begins:
            docs.append(tuple(run))
        run = []
    docs.append(
        tuple(text for token in found for text in token.above if text is not None and text.startswith("#!"))
    )
    return docs


def same(left: object, right: object) -> bool:
    """Equality of syntax trees, without spans and without recursion."""
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            stack.extend(zip(a, b))
        elif is_dataclass(a):
            stack.extend((getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.compare)
        elif a != b:
            return False
    return True
