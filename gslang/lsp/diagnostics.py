"""Findings as the protocol tells them: with the places that belong to them, and a link to the page of their
code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from lsprotocol import types as lsp

from gslang.base.diagnostics import Diagnostic, Label, Severity
from gslang.lsp.document import Document
from gslang.lsp.store import Store

_SEVERITY = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error, Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}  # fmt: skip
_UNNECESSARY = ("L0101", "L0102", "L0103", "L0113", "L0115")


def range_of(document: Document, start: int, end: int) -> lsp.Range:
    return lsp.Range(
        lsp.Position(*document.lines.position(start)), lsp.Position(*document.lines.position(end))
    )


def offset_of(document: Document, position: lsp.Position) -> int:
    return document.lines.offset(position.line, position.character)


def location_of(document: Document, start: int, end: int) -> lsp.Location:
    return lsp.Location(document.uri, range_of(document, start, end))


def shown(store: Store, document: Document, found: Sequence[Diagnostic]) -> list[lsp.Diagnostic]:
    """The findings of a document."""
    return [diagnostic(store, document, finding) for finding in found]


def diagnostic(store: Store, document: Document, finding: Diagnostic) -> lsp.Diagnostic:
    start, end = document.range_of(finding.primary.span)
    text = (
        finding.message + (f": {finding.primary.text}" if finding.primary.text else "")
        + (f"\nhelp: {finding.help}" if finding.help else "")
    )
    related = [place for label in finding.related if (place := _related(store, label)) is not None]
    page = explain_page(finding.code)
    return lsp.Diagnostic(
        range=range_of(document, start, end),
        message=text,
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        code_description=lsp.CodeDescription(page.as_uri()) if page is not None else None,
        source="gslang",
        tags=[lsp.DiagnosticTag.Unnecessary] if finding.code in _UNNECESSARY else None,
        related_information=related or None,
    )


def _related(store: Store, label: Label) -> lsp.DiagnosticRelatedInformation | None:
    place = store.locate(label.span)
    return (
        lsp.DiagnosticRelatedInformation(location_of(*place), label.text or "see here") if place is not None
        else None
    )


@cache
def explain_page(code: str) -> Path | None:
    """The file of a code's page."""
    page = (
        Path(__file__).parent.parent / ("lint" if code.startswith("L") else "check") / "explain"
        / f"{code}.md"
    )
    return page if page.is_file() else None
