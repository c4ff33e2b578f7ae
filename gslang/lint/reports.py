"""Findings for machines, with what only lints know: the graph that shows a finding, its fix, and whether an
`@allow` silences it.

The plain part of each format is `base.render`'s and `base.render_sarif`'s.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from gslang.base import render
from gslang.base.diagnostics import Diagnostic, Fix
from gslang.base.json_text import json_text
from gslang.base.open_types import JsonDict
from gslang.base.render_sarif import artifact, described, region, sarif_document
from gslang.base.source import Span
from gslang.lint.codes import LINTS, LintInfo
from gslang.lint.linted_file import Finding


def json_report(found: Sequence[Diagnostic]) -> str:
    """`{"diagnostics": […]}`, each as `gslc check` has it, with `name`, `fix` and `graph`."""
    entries = []
    for d in found:
        info = LINTS.get(d.code)
        entries.append(
            {**render.as_dict(d), "name": info.name if info else None, "fix": _fix(d.fix), "graph": _graph(d)}
        )
    return json_text({"diagnostics": entries})


def _graph(d: Diagnostic) -> object:
    return json.loads(d.graph) if isinstance(d, Finding) and d.graph is not None else None


def _fix(fix: Fix | None) -> JsonDict | None:
    if fix is None:
        return None
    return {
        "title": fix.title,
        "safe": fix.safe,
        "edits": [{**_place(edit.span), "text": edit.text} for edit in fix.edits],
    }


def _place(span: Span) -> JsonDict:
    line, column = span.line_column
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def sarif_report(found: Sequence[Diagnostic], version: str) -> str:
    """SARIF 2.1.0: rules with their pages, related places, fixes; what an `@allow` silences is there, marked
    as suppressed.
    """
    document = sarif_document(found, version, {code: _described(info) for code, info in LINTS.items()})
    for result, d in zip(document["runs"][0]["results"], found):
        if d.fix is not None:
            result["fixes"] = [_sarif_fix(d.fix)]
        if isinstance(d, Finding) and d.allowed:
            result["suppressions"] = [{"kind": "inSource", "justification": "@allow"}]
        if (graph := _graph(d)) is not None:
            result["properties"] = {"graph": graph}
    return json_text(document)


def _described(info: LintInfo) -> dict[str, object]:
    page = (Path(__file__).parent / "explain" / f"{info.code}.md").read_text(encoding="utf-8")
    return {**described(info.code, info.title, page, "warning", info.default), "name": info.name}


def _sarif_fix(fix: Fix) -> dict[str, object]:
    changes: dict[str, list[dict[str, object]]] = {}
    artifacts: dict[str, dict[str, object]] = {}
    for edit in fix.edits:
        name = edit.span.source.name
        artifacts[name] = artifact(edit.span)
        changes.setdefault(name, []).append(
            {"deletedRegion": region(edit.span), "insertedContent": {"text": edit.text}}
        )
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": artifacts[n], "replacements": changes[n]} for n in changes],
    }


def write_graphs(found: Sequence[Diagnostic], folder: Path) -> list[tuple[Diagnostic, Path]]:
    """Write the graph of each finding that has one, as `CODE-place.json`; what was written.

    Raises `OSError`.
    """
    from gslang.base.atomic_write import write_text

    folder.mkdir(parents=True, exist_ok=True)
    written: list[tuple[Diagnostic, Path]] = []
    for d in found:
        if isinstance(d, Finding) and d.graph is not None:
            line, _ = d.primary.span.line_column
            stem = f"{d.code}-{Path(d.primary.span.source.name).stem}-{line}"
            path = folder / f"{stem}.json"
            for k in range(2, 1000):
                if all(path != other for _, other in written):
                    break
                path = folder / f"{stem}-{k}.json"
            write_text(path, json.dumps(json.loads(d.graph), indent=1, ensure_ascii=False) + "\n")
            written.append((d, path))
    return written
