"""Fixes: from the last span to the first, none that overlap, none that break the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gslang.base.diagnostics import Diagnostic, Edit, Fix, Label
from gslang.base.source import Source, Span
from gslang.check.check import check_source
from gslang.check.checked import CheckedProgram
from gslang.lint.fixes import apply_fixes, fix_source, fixable
from gslang.lint.run_lints import lint_program

TEXT = "rule a(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
SOURCE = Source("a.gsl", TEXT)


def wish(old: str, new: str, safe: bool = True) -> Diagnostic:
    start = TEXT.index(old)
    span = Span(SOURCE, start, start + len(old))
    return Diagnostic("L0107", "m", Label(span), fix=Fix("t", (Edit(span, new),), safe))


def test_all_that_do_not_touch_are_made() -> None:
    found = [
        wish("rule a", "rule longer_name"), wish("=> nn.relu(x)", "=> x"), wish("nn.relu(x)) =>", "x) =>"),
    ]
    assert apply_fixes(TEXT, found) == ("rule longer_name(x): nn.relu(nn.relu(x)) => x;\n", 2)


def test_unsafe_ones_are_not_made() -> None:
    assert apply_fixes(TEXT, [wish("rule a", "rule b", safe=False)]) == (TEXT, 0)


def test_the_same_mend_is_made_once() -> None:
    assert apply_fixes(TEXT, [wish("rule a", "rule b"), wish("rule a", "rule b")]) == (
        TEXT.replace("rule a", "rule b"), 2,
    )


def test_what_breaks_the_file_is_left_out() -> None:
    found = [wish("nn.relu(nn", "nn.rely(nn"), wish("rule a", "rule b")]
    fixed = fix_source(SOURCE, found, check_source, lambda source, program: [])
    assert (fixed.text, fixed.count, fixed.remaining) == (TEXT.replace("rule a", "rule b"), 1, ())
    broken = fix_source(SOURCE, found[:1], check_source, lambda source, program: [])
    assert (broken.text, broken.count, broken.remaining) == (TEXT, 0, (found[0],))


def test_only_fixes_that_can_be_made_count() -> None:
    breaking, good, other = wish("nn.relu(nn", "nn.rely(nn"), wish("rule a", "rule b"), wish("x);", "(x));")
    assert fixable(SOURCE, [breaking, good, other], check_source) == [good, other]
    assert fixable(SOURCE, [good, other, wish("=> nn", "=> nn", safe=False)], check_source) == [good, other]
    assert fixable(SOURCE, [breaking], check_source) == fixable(SOURCE, [], check_source) == []


ROOT = Path(__file__).resolve().parents[2]
PUT_IN = {
    "L0101": (r"^(rule \w+\([^{]*\{\n)(?!    each)", r"\1    zz9 = 7 + 1;\n"),
    "L0104": (r"^(    where )(?=\S)", r"\g<1>2 == 2, "),
    "L0115": (r"^(rule \w+)", r"@allow(L0116)\n\1"),
}


@pytest.mark.parametrize("code", PUT_IN)
@pytest.mark.parametrize("name", ["relay/conv.gsl", "relay/split_concat.gsl", "onnx/fusion_gemm.gsl"])
def test_what_is_put_into_shipped_rules_is_taken_out_again(name: str, code: str) -> None:
    """To the character: fixes leave no space, comma or empty line behind."""
    text = (ROOT / "stdlib_rules" / name).read_text(encoding="utf-8")
    worse, count = re.subn(*PUT_IN[code], text, flags=re.MULTILINE)
    source = Source(name, worse)
    selected = frozenset((code, "L0116"))
    program = check_source(source)
    assert program.ok and count

    def lint(source: Source, program: CheckedProgram) -> list[Diagnostic]:
        return lint_program(source, program, selected, cache=False)

    fixed = fix_source(source, lint(source, program), check_source, lint)
    assert fixed.count == count and fixed.text == text
