"""Files that state what must be found in them: `#! CODE …` at the end of a line. Nothing else may be found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.modules import load_module
from gslang.lint.run_lints import lint_program, selected_codes
from gslang.syntax.parser import read_source

FILES = sorted((Path(__file__).parent / "corpus").glob("*.gsl"))
DEFAULT = selected_codes((), ())


def test_there_are_files() -> None:
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_findings_are_those_stated(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = enumerate(text.splitlines(), 1)
    stated = Counter((k, code) for k, line in lines if "#! L" in line for code in line.partition("#! ")[2].split())
    assert stated
    source = Source(path.name, text)
    program = check_source(source)
    assert [d.message for d in program.diagnostics] == []
    found = Counter((d.primary.span.line_column[0], d.code) for d in lint_program(source, program, DEFAULT))
    assert found == stated


def test_shipped_rules_have_no_findings() -> None:
    found = []
    for program in (*load_module("std.relay"), *load_module("std.onnx")):
        source = read_source(program.name)
        assert isinstance(source, Source)
        found += [f"{d.primary.span}: {d.code} {d.message}" for d in lint_program(source, program, DEFAULT)]
    assert found == []
