"""L0106 and L0107: names that hide others, and names in another style."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Span
from gslang.lint.linted_file import LintedFile, finding, walk
from gslang.syntax import nodes as n

_SNAKE = re.compile(r"_?[a-z][a-z0-9]*(_[a-z0-9]+)*_?|[A-Z][0-9]*|_")
_BUILTINS = frozenset(
    "len range reversed zip sum prod min max any all concat cumsum abs numel broadcast normalize_axis layout_remap close".split()
)


def hidden_name(file: LintedFile) -> Iterator[Diagnostic]:
    imported = {name.id: item for item in file.written.items if isinstance(item, n.Use) for name in item.names or ()}
    operators = file.program.dialect.operators
    for item in file.written.items:
        if isinstance(item, n.FnDecl):
            name = item.name.id
            what = "an import" if name in imported else "an operator" if name in operators else "a built-in function" if name in _BUILTINS else None
            if what is not None:
                yield finding("L0106", f"the function `{name}` hides {what} of this name", item.name.span, "choose another name")


def name_style(file: LintedFile) -> Iterator[Diagnostic]:
    for item in file.written.items:
        match item:
            case n.Rule():
                yield from _styled("rule", item.name.id, item.name.span)
                for given in item.inputs:
                    yield from _styled("input", given.name.id, given.name.span)
                for node in walk((item.source, item.target)):
                    if isinstance(node, (n.Bind, n.Walrus, n.Each)):
                        yield from _styled("name", node.name.id, node.name.span)
            case n.FnDecl():
                yield from _styled("function", item.name.id, item.name.span)
            case n.PassDecl():
                yield from _styled("pass", item.name.id, item.name.span)


def _styled(what: str, name: str, span: Span) -> Iterator[Diagnostic]:
    if not _SNAKE.fullmatch(name):
        snake = re.sub(r"_+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)).lower()
        yield finding("L0107", f"the {what} `{name}` is not in snake_case", span, f"`{snake}`")
