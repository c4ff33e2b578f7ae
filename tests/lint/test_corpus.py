"""Files that state what must be found in them: `#! CODE …` at the end of a line. Nothing else may be found;
in the clean ones nothing at all.

All lints that run unasked are looked for, but for missing documentation and tests; `# also: CODES` in the
first line adds some.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.modules import load_module
from gslang.lint.codes import LINTS
from gslang.lint.lint_paths import source_of
from gslang.lint.run_lints import lint_program
from gslang.lint.selectors import selected_codes
from gslang.lint.together import lint_together
from gslang.syntax.parser import read_source

CORPUS = Path(__file__).parent / "corpus"
BAD = sorted((CORPUS / "bad").glob("*.gsl"))
CLEAN = sorted((CORPUS / "clean").glob("*.gsl"))
DEFAULT = selected_codes((), ())


def also(text: str) -> set[str]:
    first = text.partition("\n")[0]
    return set(first.removeprefix("# also: ").split(", ")) if first.startswith("# also: ") else set()


def found_in(path: Path) -> Counter[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    source = Source(str(path), text)
    program = check_source(source)
    assert [d.message for d in program.diagnostics] == []
    selected = DEFAULT - {"L0108", "L0109"} | also(text)
    return Counter(
        (d.primary.span.line_column[0], d.code) for d in lint_program(source, program, selected, cache=False)
    )


def stated_in(path: Path) -> Counter[tuple[int, str]]:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return Counter(
        (k, code) for k, line in lines if "#! L" in line for code in line.partition("#! ")[2].split()
    )


def test_the_corpus_is_large_and_has_every_lint() -> None:
    assert len(BAD) >= 60 and len(CLEAN) >= 60
    assert {code for path in BAD for _, code in stated_in(path)} == set(LINTS)


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_findings_are_those_stated(path: Path) -> None:
    assert stated_in(path)
    assert found_in(path) == stated_in(path)


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.stem)
def test_near_misses_are_not_found(path: Path) -> None:
    assert not stated_in(path)
    assert found_in(path) == Counter()


def test_shipped_rules_have_no_findings() -> None:
    found = []
    for program in (*load_module("std.relay"), *load_module("std.onnx"), *load_module("std.onnxruntime")):
        source = read_source(program.name)
        assert isinstance(source, Source)
        found += [f"{d.primary.span}: {d.code} {d.message}" for d in lint_program(source, program, DEFAULT)]
    assert found == []


@pytest.mark.parametrize("package", ["std.relay", "std.onnx", "std.onnxruntime"])
def test_shipped_rules_fit_together(package: str) -> None:
    """`gslc std.relay model` runs the rules of all its files as one set."""
    found = lint_together([(source_of(program), program) for program in load_module(package)], DEFAULT)
    assert [f"{d.primary.span}: {d.code} {d.message}" for d in found if not d.allowed] == []
