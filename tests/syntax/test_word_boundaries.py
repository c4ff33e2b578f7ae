"""A keyword ends where its word does."""

from __future__ import annotations

import pytest

from gslang.base.source import Source
from gslang.syntax.parser import parse

RULE = (
    "rule r(x, y: var) { a = nn.relu(x); a where a.ndim == 2 and not y.ndim == 3 => y if a.ndim == 1 else a }"
)


def test_every_keyword_needs_its_word_to_end() -> None:
    assert not parse(Source("r.gsl", RULE)).diagnostics
    for keyword in ("rule ", "where ", "and ", "if ", "else "):
        assert parse(Source("r.gsl", RULE.replace(keyword, keyword.strip() + "q", 1))).diagnostics, keyword


@pytest.mark.parametrize(
    "text",
    [
        "rulex(a): nn.relu(a) => a;", "passp { r; }", "fnf(x) = x;", 'testt "a" for r { }',
        "opo(x: tensor) -> tensor;", "usestd.relay;", "dialectrelay;",
    ],
)
def test_items(text: str) -> None:
    (problem,) = parse(Source("r.gsl", text)).diagnostics
    assert problem.code == "E0102" and text.split("(")[0].split(" ")[0].rstrip(";").startswith(
        problem.primary.span.text
    )
