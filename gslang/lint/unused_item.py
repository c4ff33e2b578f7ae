"""L0102 and L0103: functions and imports that nothing in the file uses. Files without rules are libraries: their functions are for others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gslang.base.diagnostics import Diagnostic, Edit, Fix
from gslang.base.source import Span
from gslang.lint.linted_file import LintedFile, finding, names_in
from gslang.syntax import nodes as n


def unused_function(file: LintedFile) -> Iterator[Diagnostic]:
    if not file.rules:
        return
    items = file.written.items
    uses = Counter(names_in(items))
    for item in items:
        if isinstance(item, n.FnDecl) and uses[item.name.id] == 1 + names_in(item.body).count(item.name.id):
            yield finding("L0102", f"nothing uses the function `{item.name.id}`", item.name.span, "remove it, or move it to a file that others import")


def unused_import(file: LintedFile) -> Iterator[Diagnostic]:
    items = file.written.items
    used = set(names_in(tuple(item for item in items if not isinstance(item, n.Use))))
    for item in items:
        if not isinstance(item, n.Use) or item.names is None or not file.rules:
            continue
        idle = [name for name in item.names if name.id not in used]
        for name in idle:
            staying = [other.id for other in item.names if other not in idle]
            if staying:
                first, last = item.names[0].span, item.names[-1].span
                edit = Edit(Span(first.source, first.start, last.end), ", ".join(staying))
            else:
                edit = Edit(_item_line(item), "")
            yield finding("L0103", f"nothing uses the import `{name.id}`", name.span, "remove it", fix=Fix("remove the import", (edit,)))


def _item_line(item: n.Use) -> Span:
    source, text = item.span.source, item.span.source.text
    end = item.span.end
    if not item.span.text.endswith(";"):
        end = text.index(";", end) + 1
    if text[end : end + 1] == "\n":
        end += 1
    return Span(source, item.span.start, end)
