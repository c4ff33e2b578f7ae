"""Golden tests of what a user sees: `#~ E0301` marks a line and its code, the `.stderr` beside a case is the
whole text.

`pytest --bless` rewrites `.stderr`, never `#~`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gslang.base.codes import CODES
from gslang.base.render import render_text
from gslang.base.source import Source
from gslang.check.check import check_source

HERE = Path(__file__).parent
CASES = sorted(HERE.rglob("*.gsl"))


@pytest.mark.parametrize("case", CASES, ids=[str(c.relative_to(HERE)) for c in CASES])
def test_ui(case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.parent)
    text = case.read_text(encoding="utf-8")
    found = check_source(Source(case.name, text)).diagnostics
    marked = [
        (k, code)
        for k, line in enumerate(text.splitlines(), 1) if "#~" in line
        for code in re.findall(r"E\d{4}", line.split("#~")[1])
    ]
    assert sorted((d.primary.span.line_column[0], d.code) for d in found) == sorted(marked)
    assert marked, "a case without a finding tests nothing"
    golden = case.with_suffix(".stderr")
    if request.config.getoption("bless"):
        golden.write_text(render_text(found), encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == render_text(found)


def test_no_golden_file_without_case() -> None:
    assert [p for p in HERE.rglob("*.stderr") if not p.with_suffix(".gsl").is_file()] == []


def test_every_code_has_a_case() -> None:
    seen = {
        code
        for case in CASES
        for line in case.read_text(encoding="utf-8").splitlines() if "#~" in line
        for code in re.findall(r"E\d{4}", line.split("#~")[1])
    }
    assert sorted(set(CODES) - seen - {"E0101"}) == []  # E0101 is about bytes; see tests/cli
