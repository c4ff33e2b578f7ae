"""The formatter: golden pairs, its laws on random programs, and the files that are shipped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gslang.base.source import Source
from gslang.fmt.format_source import format_source
from gslang.fmt.layout import WIDTH
from gslang.fmt.proof import same
from gslang.fmt.tokens import tokens
from gslang.syntax.parser import parse
from tests.counted import calls_of
from tests.fmt.comments import comments_in

ROOT = Path(__file__).parent.parent.parent
GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.gsl"))
SHIPPED = sorted(
    path
    for folder in ("stdlib_rules", "gslang", "examples", "benchmarks/rules")
    for path in (ROOT / folder).rglob("*.gsl")
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    textwrap.dedent(block)
    for page in PAGES
    for block in re.findall(
        r"^ *```gsl\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
]


def formatted(text: str) -> str:
    result = format_source(Source("t.gsl", text))
    assert result.text is not None, [str(d.message) for d in result.diagnostics]
    return result.text


@pytest.mark.parametrize("case", GOLDEN, ids=[case.stem for case in GOLDEN])
def test_golden(case: Path) -> None:
    wanted = case.with_suffix(".out").read_text(encoding="utf-8")
    assert formatted(case.read_text(encoding="utf-8")) == wanted
    assert formatted(wanted) == wanted


@pytest.mark.parametrize("path", SHIPPED, ids=[path.name for path in SHIPPED])
def test_shipped_files_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text
    assert [line for line in text.splitlines() if len(line.split("#")[0]) > WIDTH and '"' not in line] == []


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_of_the_manual_format_stably(block: str) -> None:
    once = formatted(block)
    assert formatted(once) == once


def respaced(text: str, gap: Callable[[], str]) -> str:
    """The same tokens with other space and comments between them."""
    found = tokens(text)
    return "".join(gap() + token.text for token in found[:-1]) + gap()


GAPS = st.sampled_from([
    " ", " ", " ", " ", "\n", "\n\n\n", "  # note\n",
    "\n# own line\n",
    "\n\n  # far\n\n",
    "\t", "\n  # a\n  # b\n",
])


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_space_and_comments(data: st.DataObject) -> None:
    """Formatting says the same (it proves that itself), keeps all comments, and rests."""
    text = data.draw(st.sampled_from(PROGRAMS))
    spaced = respaced(text, lambda: data.draw(GAPS))
    once = formatted(spaced)
    assert same(parse(Source("a", once)).program.items, parse(Source("b", spaced)).program.items)
    assert once.count("#") == spaced.count("#")
    assert formatted(once) == once
    assert all(line == line.rstrip() for line in once.splitlines())


PROGRAMS = [p.read_text(encoding="utf-8") for p in GOLDEN if p.stem == "constructs"]
PROGRAMS = [item + "\n" for text in PROGRAMS for item in re.split(r"\n(?=(?:op|fn|rule|test)\b)", text)]


def expressions() -> st.SearchStrategy[str]:
    atoms = st.sampled_from([
        "x", "_", "1", "1.5e-3", '"s # t"',
        "none", "a.shape", "p.0", "()", "keep y", "-x", "nn.conv2d", "p.where",
    ])

    def wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        joined = st.tuples(
            inner,
            st.sampled_from(["+", "-", "*", "//", "%", "**", "|", "and", "or", "==", "<", "in", "not in"]),
            inner,
        )
        return st.one_of(
            joined.map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
            st.lists(inner, max_size=4).map(lambda xs: f"f({', '.join(xs)})"),
            st.lists(inner, max_size=4).map(lambda xs: f"[{', '.join(xs)}]"),
            st.lists(inner, min_size=1, max_size=3).map(lambda xs: f"({', '.join(xs)},)"),
            st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
            st.tuples(inner, inner).map(lambda t: f"[{t[0]} for i, j in ({t[1]}) if i]"),
            st.tuples(inner, inner).map(lambda t: f"match x {{ a => {t[0]}, _ => {t[1]} }}"),
            st.tuples(inner, inner).map(lambda t: f"g(h = {t[0]}, c.*, *x, c.{{a, b}}, where = {t[1]})"),
            st.tuples(inner, inner).map(lambda t: f"x[{t[0]}:{t[1]}]"),
            inner.map(lambda e: f"nn.relu?({e})"),
            inner.map(lambda e: f"(n := {e})"),
            inner.map(lambda e: f"not ({e})"),
        )

    return st.recursive(atoms, wider, max_leaves=12)


@settings(max_examples=40, deadline=None)
@given(expressions(), expressions())
@example("(x,)", "x")
def test_random_rules(left: str, right: str) -> None:
    text = f"rule r(x) {{ y = {left}; y, {right} where {left}, {right} => {right}, {left} }}"
    once = formatted(text)
    assert formatted(once) == once
    assert formatted(respaced(text, lambda: "\n")).replace(" ", "").replace("\n", "").replace(
        ",", ""
    ) == once.replace(" ", "").replace("\n", "").replace(",", "")


def test_byte_order_mark_and_line_ends() -> None:
    assert formatted("\ufeffrule r(x): x=>x;\r\n# end\r\n") == "rule r(x): x => x;\n# end\n"


def test_nothing_and_only_comments() -> None:
    assert formatted("") == ""
    assert formatted("\n\n# a\n\n\n# b") == "# a\n\n# b\n"


@pytest.mark.parametrize("depth", [50, 190])
def test_deep_nesting(depth: int) -> None:
    once = formatted(f"rule r(x): {'f(' * depth}x{')' * depth} => {'(' * depth}x{')' * depth};")
    assert formatted(once) == once
    chain = " + ".join(f"name{k}" for k in range(depth))
    assert f"name{depth - 1}" in formatted(f"rule r(x): {chain} => x;")


def test_syntax_errors_are_shown() -> None:
    result = format_source(Source("t.gsl", "rule r(x): x = x;"))
    assert result.text is None and result.diagnostics


def test_a_comment_at_the_head_of_a_pass_stays_one() -> None:
    text = "pass p {\n    # first\n    repeat {\n        # inner\n        a;\n    }\n}\n"
    assert formatted(text) == text


def test_a_comment_at_the_end_of_an_expression_does_not_break_it() -> None:
    text = (
        "rule r(x) {\n    s = nn.softmax(x);\n    nn.relu(s)\n    where s.axis != 1,  # not the channels\n"
        "          s.ndim == 4  # images\n  =>\n    s\n}\n"
    )
    assert formatted(text) == text


def test_what_follows_a_block_is_no_product() -> None:
    text = "rule r(x) { each b in 2.. { y = exp(x); } *b.y => *[x for i in b] }\n"
    assert format_source(Source("t.gsl", text)).text == text
    text = "rule r(x) { y = (a := exp(x)) | tanh(x); y => match y { a => x, _ => x } * x }\n"
    assert format_source(Source("t.gsl", text)).text == text


def test_numbers_are_not_joined() -> None:
    assert formatted("fn f(x) = 1 . 0;") == "fn f(x) = 1 .0;\n"
    assert (
        formatted("op a(x: int | (tensor) = f(1)) -> tensor;")
        == "op a(x: int | (tensor) = f(1)) -> tensor;\n"
    )


def test_long_files_take_the_quick_way_and_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a length another parser tells whether the text parses: the result and the errors are those of
    short files.
    """
    wrong = (
        "rule s(x) x => x;\n", "fn f(x) { x }\n", "rule r(x): x <=> x;", 'fn f(x) = "\\x";\n',
        f"fn f(x) = {'not ' * 210}x;\n",
    )
    texts = [case.read_text(encoding="utf-8") for case in GOLDEN] + [f"fn f(x) = {'not ' * 120}x;\n"]
    short = [format_source(Source("t.gsl", text)) for text in (*texts, *wrong)]
    monkeypatch.setattr("gslang.fmt.syntax_check._LONG", -1)
    for text, before in zip((*texts, *wrong), short):
        after = format_source(Source("t.gsl", text))
        assert (after.text, [d.message for d in after.diagnostics]) == (
            before.text, [d.message for d in before.diagnostics],
        )
        assert (after.text is None) == (text in wrong)


def test_effort_grows_with_the_text_alone() -> None:
    rule = (
        '## Two branches.\nrule r{k}(x, w: var) {{\n  c = nn.conv2d(x, w, groups = {k},data_layout="NCHW");\n'
        '    nn.relu(exp(c)+tanh(x)*2)\n  =>\n    nn.relu(x)\n}}\n\n'
    )
    formatted(rule.format(k=0))  # the parsers' tables are made
    few, many = (
        calls_of(lambda: formatted("".join(rule.format(k=k) for k in range(count)))) for count in (25, 200)
    )
    assert many < 8.5 * few


def test_range_formats_only_what_it_touches() -> None:
    text = "fn a( x )=x;\nfn b( x )=x;\nfn c( x )=x;\n"
    result = format_source(Source("t.gsl", text), (2, 2))
    assert result.text == "fn a( x )=x;\nfn b(x) = x;\nfn c( x )=x;\n"


@pytest.mark.parametrize(
    "text",
    [
        "dialect p ## x\n; # c\n",
        "## doc\nuse std.relay # x\n; # c\n",
        "## doc\ndialect p ## x\n; # c\n",
        "rule r(x # a\n) # b\n: x => x;\n",
    ],
)
def test_a_comment_inside_of_an_item_is_not_its_documentation(text: str) -> None:
    """Two comments on what becomes one line, and nothing above that line but the documentation."""
    shown = format_source(Source("t.gsl", text)).text
    before, after = parse(Source("t.gsl", text)), parse(Source("t.gsl", shown or ""))
    assert comments_in(shown or "") == comments_in(text)
    assert [getattr(i, "doc", None) for i in after.program.items] == [
        getattr(i, "doc", None) for i in before.program.items
    ]
    assert shown == format_source(Source("t.gsl", shown or "")).text


def test_documentation_is_that_of_the_item_that_begins_below_it() -> None:
    """Not of one that begins on the last line of another, whose inner comments these are."""
    text = (
        "## a\nrule a(x) {\n    ## inside\n    x => x } rule b(x): x => x;\n## c\n"
        "rule c(x): x => x; rule d(x): x => x;\n## e\n@allow(L0101) rule e(x): x => x;\n"
    )
    for one in (text, format_source(Source("t.gsl", text)).text or ""):
        items = parse(Source("t.gsl", one)).program.items
        assert [getattr(i, "doc", None) for i in items] == ["a", None, "c", None, "e"]
