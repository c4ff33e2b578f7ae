"""Fixes: from the last span to the first, none that overlap, none that break the file."""

from __future__ import annotations

from gslang.base.diagnostics import Diagnostic, Edit, Fix, Label
from gslang.base.source import Source, Span
from gslang.check.check import check_source
from gslang.lint.fixes import apply_fixes, fix_source

TEXT = "rule a(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
SOURCE = Source("a.gsl", TEXT)


def wish(old: str, new: str, safe: bool = True) -> Diagnostic:
    start = TEXT.index(old)
    span = Span(SOURCE, start, start + len(old))
    return Diagnostic("L0107", "m", Label(span), fix=Fix("t", (Edit(span, new),), safe))


def test_all_that_do_not_touch_are_made() -> None:
    found = [wish("rule a", "rule longer_name"), wish("=> nn.relu(x)", "=> x"), wish("nn.relu(x)) =>", "x) =>")]
    assert apply_fixes(TEXT, found) == ("rule longer_name(x): nn.relu(nn.relu(x)) => x;\n", 2)


def test_unsafe_ones_are_not_made() -> None:
    assert apply_fixes(TEXT, [wish("rule a", "rule b", safe=False)]) == (TEXT, 0)


def test_the_same_mend_is_made_once() -> None:
    assert apply_fixes(TEXT, [wish("rule a", "rule b"), wish("rule a", "rule b")]) == (TEXT.replace("rule a", "rule b"), 2)


def test_what_breaks_the_file_is_left_out() -> None:
    found = [wish("nn.relu(nn", "nn.rely(nn"), wish("rule a", "rule b")]
    fixed = fix_source(SOURCE, found, check_source, lambda source, program: [])
    assert (fixed.text, fixed.count, fixed.remaining) == (TEXT.replace("rule a", "rule b"), 1, ())
    broken = fix_source(SOURCE, found[:1], check_source, lambda source, program: [])
    assert (broken.text, broken.count, broken.remaining) == (TEXT, 0, (found[0],))
