"""The laws of the formatter on random derivations of the grammar, with random space and comments between any
two tokens.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gslang.base.source import Source
from gslang.fmt.format_source import format_source
from gslang.fmt.proof import same, says_the_same
from gslang.syntax.grammar import grammar
from gslang.syntax.parser import Parsed, parse
from tests.fmt.comments import comments_in
from tests.fmt.grammar_programs import random_tokens, spaced

_PLAIN = [" ", " ", "\n", "\t", "   "]
_NOTES = [
    *_PLAIN, "  # note\n",
    "\n# own line\n",
    "\n\n  # far\n\n",
    "\n  # a\n  # b\n",
    "\n## doc\n",
    "\n#! file\n",
    "\n\n\n",
]


def read(text: str) -> Parsed:
    return parse(Source("t.gsl", text))


_STRANGE = [*_NOTES, "  # é 😀 \u2028\n", "#\n", "## \n", "### x\n"]
_BEHIND = ["\n\n", "\n", " "]  # an item; one may begin on the last line of another


def keeps_the_laws(text: str) -> bool:
    """Formatted, a program means the same, has all its comments in their order, rests, and has no space at
    ends of lines.

    False for a text with errors: of what the grammar derives, some is refused when the tree is read.
    """
    before = read(text)
    if before.diagnostics:
        return False
    once = format_source(Source("t.gsl", text)).text
    assert once is not None
    after = read(once)
    assert not after.diagnostics and same(before.program, after.program)
    assert [c.rstrip() for c in comments_in(text)] == comments_in(once)
    assert format_source(Source("t.gsl", once)).text == once
    assert [line for line in once.splitlines() if line != line.rstrip()] == []
    return True


def random_module(random: Random, gaps: list[str]) -> str:
    return "".join(
        spaced(random_tokens(random), lambda: random.choice(gaps)) + random.choice(_BEHIND)
        for _ in range(random.randint(1, 3))
    )


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=True), st.sampled_from([_PLAIN, _NOTES, _STRANGE]))
def test_laws(random: Random, gaps: list[str]) -> None:
    assume(keeps_the_laws(random_module(random, gaps)))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_laws_on_ten_thousand_modules(part: int) -> None:
    kept = 0
    for number in range(1300):
        random = Random(f"{part} {number}")
        kept += keeps_the_laws(random_module(random, random.choice([_PLAIN, _NOTES, _STRANGE])))
    assert kept >= 1000


def test_every_construct_is_made() -> None:
    """All expansions of the grammar turn up, but for those that are reserved."""
    random = Random(1)
    made = Counter(token for _ in range(300) for token in random_tokens(random))
    words = {t.pattern.value for t in grammar().terminals if type(t.pattern).__name__ == "PatternStr"} - {
        "<=>"
    }
    assert words - {'"'} <= set(made)


@settings(max_examples=80, deadline=None)
@given(st.randoms(use_true_random=True), st.sampled_from([",", ";", "(", ")", "not", "x", "##", ".0"]))
def test_the_proof_is_one(random: Random, noise: str) -> None:
    """Where tokens are put in, taken out or exchanged, the proof says what the trees say."""
    tokens = random_tokens(random)
    text = " ".join(tokens)
    before = read(text)
    assume(not before.diagnostics)
    at = random.randrange(len(tokens))
    match random.randrange(3):
        case 0:
            tokens.insert(at, noise)
        case 1:
            del tokens[at]
        case _:
            tokens[at] = noise
    changed = " ".join(tokens)
    after = read(changed)
    comments = comments_in(changed) == comments_in(text)
    assert says_the_same(text, changed) == (
        comments and not after.diagnostics and same(before.program, after.program)
    )


@pytest.mark.parametrize(
    "before, after, equal",
    [
        ("rule r(x): f(x, y) => x;", "rule r(x): f(\n x, y,\n) => x;", True),
        ("rule r(x) { x; => x; }", "rule r(x) { x => x }", True),
        (
            "rule r(x) { each a in 2 { b = x; where b; } x => x }",
            "rule r(x) { each a in 2 { b = x; where b } x => x }", True,
        ),
        ("rule r(x): (x,) => x;", "rule r(x): (x) => x;", False),
        ("rule r(x): (x,) => x;", "rule r(x): (x,,) => x;", False),
        ("rule r(x): x[a] => x;", "rule r(x): x[a,] => x;", False),
        ("rule r(x): [a for a, b in x] => x;", "rule r(x): [a for a, b in x,] => x;", False),
        ("rule r(x) { each a in 2 { b = x; } x => x }", "rule r(x) { each a in 2 { b = x } x => x }", False),
        (
            "rule r(x) { each a in 2 { b = where(); } x => x }",
            "rule r(x) { each a in 2 { b = where() } x => x }", False,
        ),
        ("fn f(x) = match x { a => 1, b => 2 };", "fn f(x) = match x { a => 1, b => 2; };", False),
        ("rule r(x): f(c.{in, where}) => x;", "rule r(x): f(c.{in, where;}) => x;", False),
        ('test "t" for r { a, b => unchanged; }', 'test "t" for r { a, b => unchanged, }', False),
        ("pass p { a; }", "pass p { a }", False),
        ("## d\nrule r(x): x => x;", "## d\n\nrule r(x): x => x;", False),
        ("## d\nrule r(x): x => x; rule s(x): x => x;", "## d\nrule r(x): x => x;\nrule s(x): x => x;", True),
        (
            "## d\nrule r(x): x => x; rule s(x): x => x;",
            "## d\nrule r(x): x => x;\n## d\nrule s(x): x => x;",
            False,
        ),
        (
            "rule r(x) { x\n## d\n=> x } rule s(x): x => x;",
            "rule r(x) { x\n=> x }\n## d\nrule s(x): x => x;",
            False,
        ),
        ("#! d\nrule r(x): x => x;", "rule r(x): x => x;  #! d", False),
    ],
)
def test_the_proof_on_its_edges(before: str, after: str, equal: bool) -> None:
    assert not read(before).diagnostics
    assert says_the_same(before, after) == equal
    assert (not read(after).diagnostics and same(read(before).program, read(after).program)) == equal
