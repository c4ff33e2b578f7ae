"""A keyword that is used as a name is told to be one, wherever a name may stand."""

from __future__ import annotations

import re

import pytest

from gslang.base.resources import grammar_path
from gslang.base.source import Source
from gslang.syntax.parser import parse

PLACES = """
rule ?(x): nn.relu(x) => x;
rule r(?): nn.relu(?) => ?;
rule r(x, ?: any): nn.relu(x) => x;
rule r(x) for ? in nn.relu, tanh: ?(x) => x;
rule r(x) for (?, e) in (nn.relu, 0): f(x) => x;
rule r(x) { ? = nn.relu(x); ? => x }
rule r(x) { y = nn.relu(x); y => ? = tanh(y); ? }
rule r(x) { each ? in 2.. { y = nn.relu(x); } *?.y => x }
rule r(x) { each b in 2.. { ? = nn.relu(x); } *b.? => x }
rule r(x) { each b in 2.. { y = nn.relu(x); } ? = tanh(x); ? => x }
rule r(x) { chain ? in 2.. from x { y = nn.relu(prev.y); } ?[-1].y => x }
rule r(x): nn.softmax(x, axis = (? := _)) => x;
rule r(x): nn.relu(x) => tanh((? := nn.relu(x)));
rule r(x): x where [1 for (a, ?) in x.shape] == 2 => x;
fn ?(x) = x;
fn f(x, ?: tensor) = x;
fn f(x) = (? := tanh(x)) + 1;
param ?: int = 3;
test "x" for r { x: input float32[2];  ?: input float32[2]; nn.relu(x) => unchanged }
test "x" for r { x: input float32[2]; ? = nn.relu(x); ? => unchanged }
test "x" for ? { x: input float32[2]; nn.relu(x) => x }
pass ? { r; }
pass p { ?; }
use std.relay.common (?);
""".strip().splitlines()


def keywords() -> list[str]:
    """The words that the grammar takes for no name."""
    text = grammar_path("gsl.lark").read_text("utf-8")
    found = re.search(r"^NAME: /\(\?!\(\?:([^)]*)\)", text, re.MULTILINE)
    assert found is not None
    return found[1].split("|")


@pytest.mark.parametrize("place", PLACES)
def test_a_keyword_is_no_name(place: str) -> None:
    for word in keywords():
        text = place.replace("?", word)
        (finding,) = parse(Source("rules.gsl", f"{text}\n\nrule last(x): tanh(x) => x;\n")).diagnostics
        told = (finding.primary.span.start, finding.primary.span.text, finding.help)
        assert told == (place.index("?"), word, f"`{word}` is a keyword: choose another name"), text
        assert finding.message.endswith(f"found `{word}`")


@pytest.mark.parametrize(
    "form",
    [
        "rule r(x) {{\n    {0} = nn.relu(x);\n    {0} => x\n}}\n",
        "rule r(\n    {0}: any,\n    x\n): nn.relu(x) => x;\n",
    ],
)
@pytest.mark.parametrize("word", keywords())
def test_at_the_beginning_of_a_line_too(word: str, form: str) -> None:
    (finding,) = parse(Source("rules.gsl", form.format(word))).diagnostics
    assert (finding.primary.span.text, finding.primary.span.line_column) == (word, (2, 5))


def test_a_missing_name_is_not_a_keyword() -> None:
    text = "rule r(x) { each in 2.. { y = tanh(x); } *b.y => x }"
    (finding,) = parse(Source("rules.gsl", text)).diagnostics
    assert finding.message == "expected a name before `in`"
