"""`# fmt: off`, `# fmt: on`, `# fmt: skip`, and ranges: what is not to be touched is not touched."""

from __future__ import annotations

import pytest

from gslang.base.source import Source
from gslang.fmt.format_source import format_source


def formatted(text: str, lines: tuple[int, int] | None = None) -> str:
    result = format_source(Source("t.gsl", text), lines)
    assert result.text is not None
    return result.text


UGLY = "fn a( x )=x;\n\n\n\nfn  b( x )  =x;   # why\n# fmt: on\nfn c( x )=x;\n"


def test_off_and_on() -> None:
    assert (
        formatted("fn z( x )=x;\n# fmt: off\n" + UGLY)
        == "fn z(x) = x;\n# fmt: off\nfn a( x )=x;\n\n\n\nfn  b( x )  =x;   # why\n# fmt: on\nfn c(x) = x;\n"
    )


def test_off_to_the_end() -> None:
    text = "#   fmt:off\nfn a( x )=x;\n\n\n\nfn  b( x )  =x;\n\n\n  # last\n"
    assert formatted(text) == text


def test_skip_and_off_inside() -> None:
    text = (
        "fn a( x )=x;  # fmt: skip\nrule r(x) {\n    y=x;\n    # fmt: off\n    exp( y )\n  =>\n    y }\n"
        "fn c( x )=x;\n"
    )
    assert formatted(text) == text.replace("fn c( x )=x;", "fn c(x) = x;")


@pytest.mark.parametrize("word", ["# fmt: offended", "# not fmt: off", "## fmt: off"])
def test_other_comments_switch_nothing(word: str) -> None:
    assert formatted(f"{word}\nfn a( x )=x;\n") == f"{word}\nfn a(x) = x;\n"


def test_a_range_leaves_the_rest_alone() -> None:
    text = "fn a( x )=x;   # a\n\n\n\nfn b( x )=x;\n\n\n# c\nfn c( x )=x;"
    assert formatted(text, (5, 5)) == "fn a( x )=x;   # a\n\nfn b(x) = x;\n\n\n# c\nfn c( x )=x;\n"
    assert formatted(text, (2, 3)) == text + "\n"
    assert formatted(text, (1, 9)) == formatted(text)


def test_ranges_rest() -> None:
    text = "rule r(x) { # one\n y = (exp(x)) # two\n ; tanh(y), # three\n => y # four\n , }\nfn a( x )=x;\n"
    once = formatted(text, (1, 1))
    assert once.endswith("fn a( x )=x;\n") and formatted(once, (1, 1)) == once
