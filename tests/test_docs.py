"""Every ```gsl block of the README and the manual parses; complete ones check without findings.

Python blocks run.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.syntax.language_version import LANGUAGE_VERSION
from gslang.syntax.parser import parse
from gslang.testing import run_tests
from gslang.verify.verdict import Settings, verify_now

ROOT = Path(__file__).parent.parent
BLOCKS = [
    (f"{path.name}-{k}", textwrap.dedent(block))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for k, block in enumerate(re.findall(
        r"^ *```gsl(?: title=\"[^\"]+\")?\n(.*?)^ *```", path.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    ))
]


@pytest.mark.parametrize(("name", "text"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_block(name: str, text: str) -> None:
    parsed = parse(Source(name, text))
    assert [(d.code, d.message, str(d.primary.span)) for d in parsed.diagnostics] == []
    if "rule " not in text or re.search(r"^op (nn|add|split|Clip|Concat)", text):
        return
    program = check_source(Source(str(ROOT / "docs" / "example.gsl"), text))
    assert [(d.code, d.message, str(d.primary.span)) for d in program.diagnostics] == []
    assert [o.problem for o in run_tests(program) if not o.passed] == []


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 6


PYTHON = [
    path for path in sorted((ROOT / "docs").glob("*.md")) if "```python" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PYTHON, ids=[page.name for page in PYTHON])
def test_python_blocks_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks of a page, one after the other, as a reader would type them."""
    names: dict[str, object] = {}
    for block in re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        exec(compile(block, page.name, "exec"), names)
    assert capsys.readouterr().out


def test_the_specification_has_the_version_of_the_language() -> None:
    (version,) = re.findall(
        r"^Version (\S+) of the language", (ROOT / "docs" / "language.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert version == LANGUAGE_VERSION


@pytest.mark.parametrize(("name", "text"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_rules_of_a_block_are_not_wrong(name: str, text: str) -> None:
    """What is shown to be copied holds, but for what is shown since it does not."""
    parsed = parse(Source(name, text))
    if parsed.diagnostics or "rule " not in text:
        return
    program = check_source(Source(str(ROOT / "docs" / "example.gsl"), text))
    few = Settings(seconds=20, wanted=6, proof_steps=0)
    wrong = {rule.name for rule in program.rules.values() if verify_now(rule, few).verdict == "refuted"}
    assert wrong - SHOWN_AS_WRONG == set()


SHOWN_AS_WRONG = {"silu", "flatten_twice"}  # by the tutorial and by `gslc generalize`
