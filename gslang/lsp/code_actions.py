"""Fixes for findings: fixes of lints, what was meant instead of a misspelt word, missing imports, constraints
in a better place, `@allow`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from gslang.base.diagnostics import Diagnostic
from gslang.base.resources import stdlib_path
from gslang.engine.meaning import with_meanings
from gslang.lint.codes import LINTS
from gslang.lsp import diagnostics as told
from gslang.lsp.code_lenses import ADD_TEST, CONDITIONS
from gslang.lsp.diagnostics import offset_of, range_of
from gslang.lsp.document import Document
from gslang.lsp.lookup import own
from gslang.lsp.move_constraint import moves
from gslang.lsp.names import head
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store, path_of
from gslang.lsp.verdicts import known_verdict

_MEANT = re.compile(r"did you mean `([^`]+)`\?")
_WRITE = re.compile(r"write `(and|or|not|=>|=|[=!<>]=)`")
_MISSING = re.compile(r"expected `(.+)` here")
_QUOTED = re.compile(r"`([^`]+)`")
Change = tuple[int, int, str]
"""Offsets in the document, and the text to put there."""


def code_actions(
    store: Store, document: Document, given: lsp.Range, context: lsp.CodeActionContext
) -> list[lsp.CodeAction]:
    start, end = offset_of(document, given.start), offset_of(document, given.end)
    findings = store.findings(document, costly=False)
    here = [f for f in findings if _touches(document, f, start, end)]
    found: list[lsp.CodeAction] = []
    wanted = [str(getattr(kind, "value", kind)) for kind in context.only] if context.only else None

    def fits(kind: str) -> bool:
        return wanted is None or any(kind == w or kind.startswith(w + ".") for w in wanted)

    if fits("quickfix"):
        for finding in here:
            for title, changes, sure in fixes_of(store, document, finding):
                fixed = [told.diagnostic(store, document, finding)]
                edit = _workspace_edit(document, changes)
                found.append(lsp.CodeAction(
                    title, lsp.CodeActionKind.QuickFix, diagnostics=fixed, is_preferred=sure or None,
                    edit=edit,
                ))
        for finding in here:
            if finding.code == "L0109":
                arguments = [document.uri, finding.primary.span.text]
                command = lsp.Command("add a test", ADD_TEST, arguments=arguments)
                fixed = [told.diagnostic(store, document, finding)]
                found.append(lsp.CodeAction(
                    "add a test that passes", lsp.CodeActionKind.QuickFix, diagnostics=fixed, command=command,
                ))
        found += _repairs(store, document, start, end)
        found += _suppressions(document, [*here, *_costly(document, context.diagnostics)])
    if fits("source.fixAll") and (wanted is not None or here):
        changes = every_safe_fix(document, findings)
        if changes:
            title = f"hint {len(changes)} place{'s' * (len(changes) != 1)} in this file"
            found.append(lsp.CodeAction(
                title, lsp.CodeActionKind.SourceFixAll, edit=_workspace_edit(document, changes)
            ))
    return found


def _repairs(store: Store, document: Document, start: int, end: int) -> Iterator[lsp.CodeAction]:
    """For each rule here that is known to be refuted: to look for the conditions under which it holds."""
    for piece, at in zip(document.pieces, document.starts):
        name = head(piece)
        if name is None or name.role != "rule" or at > end or at + piece.tokens.all[-1].end < start:
            continue
        verdict = known_verdict(with_meanings(store.analysis(document).program), name.text)
        if verdict is not None and verdict.verdict == "refuted":
            title = f"find the conditions under which `{name.text}` holds"
            yield lsp.CodeAction(
                title, lsp.CodeActionKind.QuickFix,
                command=lsp.Command(title, CONDITIONS, arguments=[document.uri, name.text]),
            )


def _touches(document: Document, finding: Diagnostic, start: int, end: int) -> bool:
    a, b = document.range_of(finding.primary.span)
    return a <= end and b >= start


def _workspace_edit(document: Document, changes: Sequence[Change]) -> lsp.WorkspaceEdit:
    """The changes of one document; line ends are those of the document."""
    line = "\r\n" if "\r\n" in document.text else "\n"
    edits = [lsp.TextEdit(range_of(document, a, b), text.replace("\n", line)) for a, b, text in changes]
    return lsp.WorkspaceEdit(changes={document.uri: edits})


def insertion(document: Document, piece: Piece, text: str) -> lsp.WorkspaceEdit:
    """An item put behind another one, with an empty line between them.

    For the document as it is now; clients check its version.
    """
    line = document.text.find("\n", document.start_of(piece) + piece.tokens.all[-1].end)
    at = line + 1 if line >= 0 else len(document.text)
    return _workspace_edit(document, [(at, at, ("\n" if line >= 0 else "\n\n") + text)])


def replacement(document: Document, start: int, end: int, text: str) -> lsp.WorkspaceEdit:
    """Other text for a part of the document as it is now."""
    return _workspace_edit(document, [(start, end, text)])


def fixes_of(
    store: Store, document: Document, finding: Diagnostic
) -> Iterator[tuple[str, list[Change], bool]]:
    """Title, changes, and whether it is what one would nearly always do."""
    span = finding.primary.span
    if finding.fix is not None:
        yield finding.fix.title, _fix(document, finding), finding.fix.safe
    help = finding.help or ""
    if meant := _MEANT.search(help):
        change = _respelt(document, finding, meant.group(1))
        if change is not None:
            yield f"write `{meant.group(1)}`", [change], True
    elif (write := _WRITE.search(help)) and finding.code == "E0106":
        start, end = document.range_of(span)
        yield f"write `{write.group(1)}`", [(start, end, write.group(1))], True
    if finding.code in ("E0103", "E0105"):
        for label in (finding.primary, *finding.related):
            if missing := _MISSING.fullmatch(label.text):
                at = document.range_of(label.span)[0]
                yield f"insert `{missing[1]}`", [(at, at, missing[1])], True
    if finding.code in ("E0201", "E0207", "E0301"):
        yield from _missing_imports(store, document, finding)
    piece = next((p for p in document.pieces if p.source is span.source), None)
    if piece is not None and finding.fix is None:
        start = document.start_of(piece)
        for title, changes in moves(piece, finding):
            yield title, [(start + a, start + b, text) for a, b, text in changes], False
        if finding.code == "L0108":
            at = start + piece.tokens.all[0].start
            yield "add a doc comment", [(at, at, "## \n")], False


def _fix(document: Document, finding: Diagnostic) -> list[Change]:
    return (
        [(*document.range_of(edit.span), edit.text) for edit in finding.fix.edits] if finding.fix is not None
        else []
    )


def _respelt(document: Document, finding: Diagnostic, meant: str) -> Change | None:
    """The misspelt word, found in the message, replaced where it stands in the finding's range."""
    start, _ = document.range_of(finding.primary.span)
    text = finding.primary.span.text
    for word in reversed(_QUOTED.findall(finding.message)):
        for written, right in ((word, meant), (word.lstrip("@"), meant.lstrip("@"))):
            found = re.search(rf"(?<!\w){re.escape(written)}(?!\w)", text)
            if found is not None:
                return start + found.start(), start + found.end(), right
    return None


def _missing_imports(
    store: Store, document: Document, finding: Diagnostic
) -> Iterator[tuple[str, list[Change], bool]]:
    """`use …;` for a rule or function that the workspace or the shipped library has under this very name."""
    words = _QUOTED.findall(finding.message)
    if not words or "." in words[-1]:
        return
    at = _after_imports(document)
    seen: set[str] = set()
    for other in (*store.workspace_files(), *store.shipped_files()):
        if other.name in seen or other.uri == document.uri:
            continue
        seen.add(other.name)
        if ("rule", words[-1]) in own(other) or ("fn", words[-1]) in own(other):
            use = _use_of(document, other)
            if use is not None:
                yield f"import `{words[-1]}`: {use}", [(at, at, f"{use}\n")], False


def _use_of(document: Document, other: Document) -> str | None:
    import os

    path, own_path = path_of(other.uri), path_of(document.uri)
    if path is None:
        return None
    if stdlib_path().resolve() in path.resolve().parents:
        return (
            f"use std.{'.'.join(path.resolve().relative_to(stdlib_path().resolve()).with_suffix('').parts)};"
        )
    if own_path is None:
        return None
    relative = os.path.relpath(path, own_path.parent).replace(os.sep, "/")
    return f'use "{relative if relative.startswith(".") else "./" + relative}";'


def _after_imports(document: Document) -> int:
    """The line behind the last `use`, else behind `dialect`, else before the first item."""
    at = 0
    for keyword in ("dialect", "use"):
        for piece, start in zip(document.pieces, document.starts):
            if piece.keyword == keyword:
                line = document.text.find("\n", start + piece.tokens.all[-1].end)
                at = line + 1 if line >= 0 else len(document.text)
    return at


# ── suppressions ────────────────────────────────────────────────────────────────────────────────────────────


def _costly(document: Document, given: Sequence[lsp.Diagnostic]) -> list[tuple[str, int]]:
    """Findings that the client shows, by code and place."""
    return [(d.code, offset_of(document, d.range.start)) for d in given if isinstance(d.code, str)]


def _suppressions(
    document: Document, findings: Sequence[Diagnostic | tuple[str, int]]
) -> list[lsp.CodeAction]:
    found: dict[tuple[str, int], lsp.CodeAction] = {}
    for finding in findings:
        code, at = (
            finding if isinstance(finding, tuple)
            else (finding.code, document.range_of(finding.primary.span)[0])
        )
        where = document.piece_at(at)
        if code not in LINTS or where is None or where[0].keyword in ("", "use", "dialect"):
            continue
        change = _allow(where[0], code)
        start = at - where[1]
        edit = _workspace_edit(document, [(start + change[0], start + change[1], change[2])])
        found.setdefault(
            (code, start),
            lsp.CodeAction(f"silence {code} here: @allow({code})", lsp.CodeActionKind.QuickFix, edit=edit),
        )
    return list(found.values())


def _allow(piece: Piece, code: str) -> Change:
    """`@allow(code)` above the item, or the code added to the one that is there."""
    t = piece.tokens
    for k in range(len(t.all) - 2):
        if t.text(k) == "@" and t.text(k + 1) == "allow" and t.text(k + 2) == "(" and t.around[k] < 0:
            closing = t.closing.get(k + 2)
            if closing is not None:
                at = t.all[closing].start
                return at, at, f", {code}" if closing > k + 3 else code
    at = t.all[0].start
    return at, at, f"@allow({code})\n"


def every_safe_fix(document: Document, findings: Sequence[Diagnostic]) -> list[Change]:
    """The safe fixes that do not touch each other, in the order of the text."""
    taken: list[Change] = []
    for finding in findings:
        changes = _fix(document, finding)
        if finding.fix is None or not finding.fix.safe or any(change in taken for change in changes):
            continue
        if all(b <= start or end <= a for a, b, _ in changes for start, end, _ in taken):
            taken += changes
    return sorted(taken)
