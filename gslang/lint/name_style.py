"""L0107: names in another style than snake_case.

What only one rule knows is renamed by the fix; other files may use the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gslang.base.diagnostics import Edit, Fix
from gslang.base.source import Span
from gslang.lint.linted_file import Finding, LintedFile, finding, names_in, walk
from gslang.syntax import nodes as n

_SNAKE = re.compile(r"_?[a-z][a-z0-9]*(_[a-z0-9]+)*_?|[A-Z][0-9]*|_")


def name_style(file: LintedFile) -> Iterator[Finding]:
    for item in file.written.items:
        match item:
            case n.Rule():
                yield from _styled("rule", item.name.id, item.name.span)
                taken = {*names_in((item.inputs, item.source, item.target)), *file.program.dialect.operators}
                for given in item.inputs:
                    yield from _styled("input", given.name.id, given.name.span, item, taken)
                for node in walk((item.source, item.target)):
                    if isinstance(node, (n.Bind, n.Walrus, n.Each)):
                        yield from _styled("name", node.name.id, node.name.span, item, taken)
            case n.FnDecl():
                yield from _styled("function", item.name.id, item.name.span)
            case n.PassDecl():
                yield from _styled("pass", item.name.id, item.name.span)


def _styled(
    what: str, name: str, span: Span, rule: n.Rule | None = None, taken: set[str] = frozenset()  # type: ignore[assignment]
) -> Iterator[Finding]:
    if not _SNAKE.fullmatch(name):
        snake = re.sub(
            r"_+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
        ).lower()
        fix = (
            _renamed(rule, name, snake) if rule is not None and snake not in taken and _SNAKE.fullmatch(snake)
            else None
        )
        yield finding("L0107", f"the {what} `{name}` is not in snake_case", span, f"`{snake}`", fix=fix)


def _renamed(rule: n.Rule, name: str, new: str) -> Fix | None:
    """Edits at all places of a name in its rule; none where an attribute or instance field is spelt the same.
    """
    edits: dict[int, Edit] = {}
    for node in walk((rule.inputs, rule.source, rule.target)):
        match node:
            case n.Name(id=found) if found == name and node.span.text == name:
                edits[node.span.start] = Edit(node.span, new)
            case n.Attribute(field=found) | n.Keyword(name=found) if found == name:
                return None
    return Fix("rename it in the rule", tuple(edits[start] for start in sorted(edits)))
