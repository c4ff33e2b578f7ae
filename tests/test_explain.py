"""The pages of `gslc explain` cannot lie: the first block of each gives its code, the second none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gslang.base.codes import CODES
from gslang.base.source import Source
from gslang.check.check import check_source

PAGES = Path(__file__).parent.parent / "gslang" / "check" / "explain"
WITHOUT_EXAMPLE = {"E0101", "E0205"}  # about bytes, and about two files


def test_every_code_has_a_page() -> None:
    assert sorted(p.stem for p in PAGES.glob("*.md")) == sorted(CODES)


@pytest.mark.parametrize("code", CODES)
def test_examples(code: str) -> None:
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: {CODES[code].title}\n")
    blocks = re.findall(r"```gsl\n(.*?)```", text, re.DOTALL)
    if code in WITHOUT_EXAMPLE:
        return
    failing, repaired = blocks
    assert {d.code for d in check_source(Source("page.gsl", failing)).diagnostics} == {code}
    assert [d.message for d in check_source(Source("page.gsl", repaired)).diagnostics] == []
