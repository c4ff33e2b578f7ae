"""Excerpts of very long lines show what stands around the place, and their marks stand under it."""

from __future__ import annotations

from gslang.base.diagnostics import Label
from gslang.base.render import excerpt
from gslang.base.source import Source, Span


def test_a_window_of_a_long_line() -> None:
    source = Source("f", "a" * 5000 + "HERE" + "b" * 5000)
    _, _, text, marks = excerpt(Label(Span(source, 5000, 5004), "this"), 1)
    assert len(text) < 250 and text[marks.index("^") :].startswith("HERE") and marks.endswith("^^^^ this")


def test_marks_end_with_the_window() -> None:
    source = Source("f", "a" * 90 + "b" * 5000)
    _, _, text, marks = excerpt(Label(Span(source, 90, 5000)), 1)
    assert len(marks) < len(text) < 250 and text[marks.index("^")] == "b"
