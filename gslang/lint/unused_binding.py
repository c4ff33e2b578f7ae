"""L0101: an unused name. A source statement that no output reaches is not matched at all, which is rarely
meant.

Names that begin with `_` may go unused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gslang.base.diagnostics import Edit, Fix
from gslang.base.source import Span
from gslang.lint.linted_file import Finding, LintedFile, finding, names_in, walk
from gslang.syntax import nodes as n


def unused_binding(file: LintedFile) -> Iterator[Finding]:
    for item in file.written.items:
        if isinstance(item, n.Rule):
            yield from _unused((item.source, item.target, item.inputs, item.annotations), item.source)
        elif isinstance(item, n.Test):
            yield from _unused((item.source, item.expected), item.source)
        elif isinstance(item, n.FnDecl) and item.body is not None:
            used = set(names_in(item.body))
            for parameter in item.parameters:
                if parameter.name.id not in used and not parameter.name.id.startswith("_"):
                    hint = "remove it and its arguments, or begin its name with `_`"
                    yield finding(
                        "L0101", f"the parameter `{parameter.name.id}` is never used", parameter.name.span,
                        hint,
                    )


def _unused(where: tuple[object, ...], source: n.Side) -> Iterator[Finding]:
    uses = Counter(names_in(where))
    uses.update(node.field for node in walk(where) if isinstance(node, n.Attribute))
    matched = {id(statement) for statement in source.statements}
    for node in walk(where):
        if isinstance(node, (n.Bind, n.Walrus)) and node.name.id.startswith("_"):
            continue
        if isinstance(node, n.Bind) and uses[node.name.id] == 1 and not _binds(node.value):
            part = "is not matched: no output depends on it" if id(node) in matched else "is never used"
            edit = Edit(_whole_line(node), "")
            yield finding(
                "L0101", f"`{node.name.id}` {part}", node.name.span, "remove it, or use it",
                fix=Fix("remove the statement", (edit,)),
            )
        elif isinstance(node, n.Walrus) and uses[node.name.id] == 1:
            edit = Edit(node.span, node.value.span.text)
            fix = (
                Fix("remove the name", (edit,))
                if node.span.text.startswith("(") and isinstance(node.value, n.Hole)
                else None
            )
            yield finding(
                "L0101", f"`{node.name.id}` is never used", node.name.span, "remove the name", fix=fix
            )


def _binds(value: n.Expr) -> bool:
    return any(isinstance(node, n.Walrus) for node in walk(value))


def _whole_line(statement: n.Bind) -> Span:
    """The statement with its `;`, and the line it has for itself."""
    source, text = statement.span.source, statement.span.source.text
    start, end = statement.span.start, statement.span.end
    if not text[start:end].endswith(";"):
        end = text.index(";", end) + 1
    line = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    if after >= 0 and not text[line:start].strip() and not text[end:after].strip():
        return Span(source, line, after + 1)
    while text[end : end + 1] == " ":
        end += 1
    return Span(source, start, end)
