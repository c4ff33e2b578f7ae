"""What people write who know another language, a line each, and what they are told.

`pytest --bless` rewrites `other_languages.golden`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.check.check import check_source

HERE = Path(__file__).parent


def told(line: str) -> str:
    """The line, with what `gslc check` finds in it below."""
    text = line if line.startswith("dialect") else f"dialect onnx;\n{line}"
    found = check_source(Source("rules.gsl", text + "\n")).diagnostics
    return "".join([line + "\n", *map(_shown, found)]) + "\n"


def _shown(finding: Diagnostic) -> str:
    shown = f"    {finding.code} at `{finding.primary.span.text}`: {finding.message}\n"
    return shown + (f"        {finding.help}\n" if finding.help else "")


def test_each_line_is_answered(request: pytest.FixtureRequest) -> None:
    lines = (HERE / "other_languages.txt").read_text(encoding="utf-8").splitlines()
    answers = "\n".join(map(told, lines))
    golden = HERE / "other_languages.golden"
    if request.config.getoption("bless"):
        golden.write_text(answers, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == answers
