"""Diagnostics as SARIF 2.1.0, with what code scanning asks of it: a page for each code, relative addresses,
fingerprints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from urllib.parse import quote

from gslang.base.codes import CODES
from gslang.base.diagnostics import Diagnostic, Label, Severity
from gslang.base.json_text import json_text
from gslang.base.open_types import JsonDict
from gslang.base.relative_path import relative_path
from gslang.base.render_ci import fingerprints
from gslang.base.source import Span

_PAGES = Path(__file__).parent.parent / "check" / "explain"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render_sarif(
    diagnostics: Sequence[Diagnostic], version: str, rules: Mapping[str, dict[str, object]] = {}
) -> str:
    """One run, as text. `rules`: how codes are described that are not the checker's (`described`)."""
    return json_text(sarif_document(diagnostics, version, rules))


def sarif_document(
    diagnostics: Sequence[Diagnostic], version: str, rules: Mapping[str, dict[str, object]] = {}
) -> JsonDict:
    """The same as a value; its results are in the order of the diagnostics."""
    used = sorted({d.code for d in diagnostics})
    results: list[dict[str, object]] = []
    for d, fingerprint in zip(diagnostics, fingerprints(diagnostics)):
        result = {
            "ruleId": d.code, "ruleIndex": used.index(d.code), "level": _LEVEL[d.severity],
            "message": {"text": d.message + (f"\nhelp: {d.help}" if d.help else "")},
            "locations": [{"physicalLocation": physical(d.primary.span)}],
            # the second name is the one by which code scanning tells old findings from new ones
            "partialFingerprints": {"gslang/v1": fingerprint, "primaryLocationLineHash": f"{fingerprint}:1"},
        }  # fmt: skip
        if d.related:
            result["relatedLocations"] = [_related(label, k) for k, label in enumerate(d.related)]
        results.append(result)
    described_here = [rules[code] if code in rules else _of_checker(code) for code in used]
    run = {
        "tool": {"driver": {
            "name": "gslang",
            "version": version,
            "semanticVersion": version,
            "rules": described_here,
        }},
        "invocations": [{"executionSuccessful": True}],
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the working directory of gslc"}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def described(code: str, title: str, page: str, level: str, enabled: bool = True) -> JsonDict:
    """A code with its page (Markdown; empty if there is none).

    The first paragraph of prose is its full description.
    """
    prose = [part for part in page.split("\n\n") if part and not part.startswith(("#", "Name:", "```", "|"))]
    return {
        "id": code,
        "shortDescription": {"text": title},
        "fullDescription": {"text": " ".join(prose[0].split()) if prose else title},
        "help": {"text": f"gslc explain {code}", "markdown": page or f"# {code}: {title}\n"},
        "defaultConfiguration": {"enabled": enabled, "level": level},
        "properties": {
            "tags": ["gslang"],
            "precision": "high",
            "problem.severity": "error" if level == "error" else "warning",
        },
    }


def _of_checker(code: str) -> dict[str, object]:
    page = _PAGES / f"{code}.md"
    title = CODES[code].title if code in CODES else code
    return described(code, title, page.read_text(encoding="utf-8") if page.is_file() else "", "error")


def artifact(span: Span) -> JsonDict:
    """The file of a span: below the working directory relative to it, elsewhere as a whole URI."""
    path = PurePath(relative_path(span.source.name))
    if path.is_absolute() or ".." in path.parts:
        return {"uri": Path(span.source.name).resolve().as_uri()}
    return {"uri": quote(path.as_posix()), "uriBaseId": "SRCROOT"}


def region(span: Span) -> dict[str, int]:
    line, column = span.line_column
    end_line, end_column = span.source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def physical(span: Span) -> dict[str, object]:
    return {"artifactLocation": artifact(span), "region": region(span)}


def _related(label: Label, number: int) -> dict[str, object]:
    return {
        "id": number,
        "physicalLocation": physical(label.span),
        "message": {"text": label.text or "see here"},
    }
