"""Diagnostics for continuous integration: JUnit XML, and the code quality report of GitLab. Paths relative,
findings with fingerprints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from gslang.base.diagnostics import Diagnostic, Severity
from gslang.base.json_text import json_text
from gslang.base.relative_path import relative_path


def fingerprints(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """One for each finding, the same as long as code, file, message and the text of the line are: not moved
    by lines above it.
    """
    seen: dict[str, int] = {}
    result = []
    for d in diagnostics:
        span = d.primary.span
        line = span.source.line(span.line_column[0]).strip()
        key = "\0".join((d.code, relative_path(span.source.name), d.message, line))
        number = seen[key] = seen.get(key, 0) + 1
        result.append(hashlib.sha256(f"{key}\0{number}".encode()).hexdigest()[:32])
    return result


def render_junit(diagnostics: Sequence[Diagnostic], files: Sequence[str]) -> str:
    """One test case per file; each finding is a failure of its file's."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(
        f'<testsuite name="gslang" tests="{len(files)}" '
        f'failures="{len({d.primary.span.source.name for d in diagnostics})}">'
    )
    for name in files:
        own = [d for d in diagnostics if d.primary.span.source.name == name]
        lines.append(
            f'  <testcase classname="gslang" name={quoteattr(relative_path(name))}' + (">" if own else "/>")
        )
        if own:
            text = "\n".join(
                f"{relative_path(name)}:{_place(d)}: {d.code} {d.message}"
                + (f"\n  help: {d.help}" if d.help else "")
                for d in own
            )
            summary = own[0].message if len(own) == 1 else f"{len(own)} findings"
            lines += [
                f"    <failure message={quoteattr(_printable(summary))}>{escape(_printable(text))}</failure>",
                "  </testcase>",
            ]
    return "\n".join([*lines, "</testsuite>", ""])


def _place(d: Diagnostic) -> str:
    line, column = d.primary.span.line_column
    return f"{line}:{column}"


def _printable(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(c if c >= " " or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def render_gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    level = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}
    entries: list[dict[str, object]] = []
    for d, fingerprint in zip(diagnostics, fingerprints(diagnostics)):
        line, column = d.primary.span.line_column
        end_line, end_column = d.primary.span.source.position(d.primary.span.end)
        entries.append({
            "description": d.message,
            "check_name": d.code,
            "fingerprint": fingerprint,
            "severity": level[d.severity],
            "location": {
                "path": relative_path(d.primary.span.source.name),
                "positions": {
                    "begin": {"line": line, "column": column},
                    "end": {"line": end_line, "column": end_column},
                },
            },
        })
    return json_text(entries)
