"""`c.*` copies and compares attributes, also those that are called as what any node has: `dtype`, `shape`."""

from __future__ import annotations

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.testing import run_tests

X = "x: input float32[4];"
CASES = {
    "a tuple's element types": (
        "rule r(x) { t = topk(-(-x)); t.0, t.1 => u = topk(x, t.*); u.0, u.1 }",
        f'test "t" for r {{ {X} t = topk(-(-x), k = 2, dtype = "int64"); t.0, t.1 '
        '=> u = topk(x, k = 2, dtype = "int64"); u.0, u.1 }',
    ),
    "but those that are stated": (
        "rule r(x) { t = topk(-(-x)); t.0 => topk(x, t.*, k = t.k).0 }",
        f'test "t" for r {{ {X} topk(-(-x), k = 2, dtype = "int64").0 '
        '=> topk(x, k = 2, dtype = "int64").0 }',
    ),
    "a default that stands for the operand's type": (
        "rule r(x, y: any(shape = x.shape)) { c = cumsum(x); c + cumsum(y, c.*) => cumsum(x + y, c.*) }",
        f'test "t" for r {{ {X} y: input float32[4]; cumsum(x, axis = 0) + cumsum(y, axis = 0) '
        "=> cumsum(x + y, axis = 0) }",
    ),
    "attributes that differ": (
        "rule r(x, y: any(shape = x.shape)) { c = cumsum(x); c + cumsum(y, c.*) => cumsum(x + y, c.*) }",
        f'test "t" for r {{ {X} y: input float32[4]; cumsum(x, axis = 0) + cumsum(y, exclusive = true) '
        "=> unchanged }",
    ),
}


@pytest.mark.parametrize("rule, test", CASES.values(), ids=list(CASES))
def test_they_are_those_of_the_call(rule: str, test: str) -> None:
    program = check_source(Source("r.gsl", f"dialect relay;\n{rule}\n{test}"))
    assert [(one.passed, one.problem) for one in run_tests(program)] == [(True, None)]
