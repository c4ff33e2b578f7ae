"""Each lint has a page; its first example gives the finding, its second does not, and neither has errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.cli.main import main
from gslang.lint.codes import LINTS
from gslang.lint.registry import REGISTRY
from gslang.lint.run_lints import lint_program

PAGES = Path(__file__).parents[2] / "gslang" / "lint" / "explain"


def codes_in(text: str, selected: frozenset[str]) -> list[str]:
    source = Source("page.gsl", text)
    program = check_source(source)
    assert [d.message for d in program.diagnostics] == []
    return [d.code for d in lint_program(source, program, selected)]


def test_every_lint_has_a_page_and_runs() -> None:
    assert sorted(p.stem for p in PAGES.glob("*.md")) == sorted(LINTS)
    assert sorted([*REGISTRY, "L0115"]) == sorted(LINTS)


@pytest.mark.parametrize("code", LINTS)
def test_examples(code: str) -> None:
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: {LINTS[code].title}\n\nName: `{LINTS[code].name}`.\n")
    bad, good = re.findall(r"```gsl\n(.*?)```", text, re.DOTALL)
    selected = frozenset((code, "L0107")) if code == "L0115" else frozenset((code,))
    assert set(codes_in(bad, selected)) == {code}
    assert codes_in(good, selected) == []


def test_explain_shows_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "l0112"]) == 0
    assert capsys.readouterr().out == (PAGES / "L0112.md").read_text(encoding="utf-8")
