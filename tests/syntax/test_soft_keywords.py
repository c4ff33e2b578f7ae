"""Words that are keywords in some places are names in all others: `repeat` is an operator of Relay."""

from __future__ import annotations

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.fmt.format_source import format_source


@pytest.mark.parametrize("text", [
    "rule r(x): nn.relu(x) => nn.relu(repeat(x, repeats = 2, axis = 0));",
    "rule r(x): repeat(x, repeats = 2, axis = 0) => exp((repeat(x, repeats = 2, axis = 0)));",
    "rule r(x, repeat): nn.relu(repeat) + x + nn.relu(repeat) => nn.relu(repeat) + x;",
    "rule unchanged(unchanged): exp(nn.relu(unchanged)) => nn.relu(unchanged);",
    "rule r(chain, from): nn.relu(chain) + nn.relu(from) => nn.relu(from) + nn.relu(chain);",
    "op f(x: tensor, repeat: int, unchanged: int, from: int, chain: int, param: int) -> tensor;"
    "rule r(x): f(x, repeat = 2, unchanged = 3, from = 4, chain = 5, param = 6) => x;",
    "rule r(x) { y = nn.relu(repeat(x, repeats = 2, axis = 0)); y where y.repeat == 2 => x }",
])  # fmt: skip
def test_a_soft_keyword_is_a_name(text: str) -> None:
    found = check_source(Source("r.gsl", text)).diagnostics
    assert [d.message for d in found if d.code[:3] == "E01"] == []
    assert format_source(Source("r.gsl", text)) is not None


def test_it_is_a_keyword_in_its_place() -> None:
    text = 'rule r(x): exp(nn.relu(x)) => nn.relu(x); pass p { repeat { r; } }\ntest "t" for r {' \
        " unchanged: input float32[2]; nn.relu(unchanged) => unchanged }"
    program = check_source(Source("r.gsl", text))
    assert program.ok and "p" in program.passes and program.tests[0].expected is None
