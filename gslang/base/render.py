"""Diagnostics as text for people, and as JSON and workflow commands for machines."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.json_text import json_text
from gslang.base.open_types import JsonDict
from gslang.base.relative_path import relative_path

_COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "blue": "\x1b[1;34m",
    "off": "\x1b[0m",
}


_WIDEST = 200  # characters of a source line that are shown, from at most so many before the place:
_BEFORE = 80


def render_text(diagnostics: Sequence[Diagnostic], color: bool = False) -> str:
    """The findings with source excerpts, one after the other; empty if there are none."""
    return "\n".join(_one(diagnostic, color) for diagnostic in diagnostics)


def _one(diagnostic: Diagnostic, color: bool) -> str:
    paint = _COLOURS if color else dict.fromkeys(_COLOURS, "")
    severity = diagnostic.severity.value
    lines = [f"{paint[severity]}{severity}[{diagnostic.code}]{paint['off']}: {diagnostic.message}"]
    labels = [diagnostic.primary, *diagnostic.related]
    width = max(len(str(label.span.line_column[0])) for label in labels)
    for k, label in enumerate(labels):
        lines += excerpt(label, width, "-->" if k == 0 else ":::", "^" if k == 0 else "-", paint)
    if diagnostic.help:
        lines.append(f"{' ' * width} {paint['blue']}={paint['off']} help: {diagnostic.help}")
    return "\n".join(lines) + "\n"


def excerpt(
    label: Label, width: int, arrow: str = "-->", mark: str = "^", paint: dict[str, str] | None = None
) -> list[str]:
    """Place, source line and marks of a label, as lines; `width` is that of line numbers."""
    paint = paint or dict.fromkeys(_COLOURS, "")
    span = label.span
    line, column = span.line_column
    bar = f"{paint['blue']}|{paint['off']}"
    text = span.source.line(line)
    end = column - 1 + max(1, span.end - span.start)
    left = max(0, column - 1 - _BEFORE) if len(text) > _WIDEST else 0
    right = min(len(text), left + _WIDEST)
    before, shown = text[left : column - 1], text[column - 1 : min(end, right)]
    text = text[left:right] + "…" * (right < len(text))
    if left:
        before, text = f"…{before}", f"…{text}"
    marks = " " * _columns(before) + mark * max(1, _columns(shown))
    where = f"{' ' * width}{paint['blue']}{arrow}{paint['off']} {span.source.name}:{line}:{column}"
    tail = f"{marks} {label.text}".rstrip()
    return [
        where, f"{' ' * width} {bar}", f"{line:>{width}} {bar} {_detabbed(text)}".rstrip(),
        f"{' ' * width} {bar} {tail}",
    ]


def _detabbed(text: str) -> str:
    return text.replace("\t", "    ")


def _columns(text: str) -> int:
    """The width of a text in columns of a terminal."""
    return sum(
        4 if c == "\t"
        else 2 if unicodedata.east_asian_width(c) in "WF"
        else 0 if unicodedata.combining(c)
        else 1
        for c in text
    )


def render_concise(diagnostics: Sequence[Diagnostic]) -> str:
    return "".join(f"{d.primary.span}: {d.code} {d.message}\n" for d in diagnostics)


def _place(label: Label) -> JsonDict:
    line, column = label.span.line_column
    end_line, end_column = label.span.source.position(label.span.end)
    return {
        "file": label.span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def as_dict(diagnostic: Diagnostic) -> dict[str, object]:
    """A finding as plain data (docs/cli.md)."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        **_place(diagnostic.primary),
        "help": diagnostic.help,
        "related": [{"message": label.text, **_place(label)} for label in diagnostic.related],
    }


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    return json_text({"diagnostics": [as_dict(d) for d in diagnostics]})


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """Workflow commands that annotate a pull request."""
    lines = []
    for d in diagnostics:
        at = _place(d.primary)
        message = d.message + (f" (help: {d.help})" if d.help else "")
        message = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        kind = {"error": "error", "warning": "warning", "note": "notice"}[d.severity.value]
        # as values of properties want them
        file = relative_path(at["file"]).replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
        lines.append(
            f"::{kind} file={file},line={at['line']},col={at['column']},endLine={at['end_line']},"
            f"endColumn={at['end_column']},title={d.code}::{message}\n"
        )
    return "".join(lines)
