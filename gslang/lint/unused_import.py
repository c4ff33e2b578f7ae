"""L0103: imports that nothing in the file uses, by name or as a whole module.

A module that has rules or passes may stay: an import lets the command line run them by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gslang.base.diagnostics import Edit, Fix
from gslang.base.source import Source, Span
from gslang.check.module_files import find_module
from gslang.lint.linted_file import Finding, LintedFile, finding, names_in, walk
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse, read_source

_RULES = re.compile(r"^[ \t]*(rule|pass)\b", re.MULTILINE)


def unused_import(file: LintedFile) -> Iterator[Finding]:
    uses = [item for item in file.written.items if isinstance(item, n.Use)]
    if not uses or not file.rules:
        return  # a file without rules gathers modules for others
    used = _used(file)
    for item in uses:
        if item.names is None:
            offered = _offered(item, file.source.name, set())
            if offered is not None and not offered & used:
                fix = Fix("remove the import", (Edit(_item_line(item), ""),))
                yield finding(
                    "L0103", f"unused module `{item.module}`", item.span, "remove the import",
                    fix=fix,
                )
            continue
        idle = [name for name in item.names if name.id not in used]
        for name in idle:
            staying = [other.id for other in item.names if other not in idle]
            if staying:
                first, last = item.names[0].span, item.names[-1].span
                edit = Edit(Span(first.source, first.start, last.end), ", ".join(staying))
            else:
                edit = Edit(_item_line(item), "")
            yield finding(
                "L0103", f"unused import `{name.id}`", name.span, "remove it",
                fix=Fix("remove the import", (edit,)),
            )


def _used(file: LintedFile) -> set[str]:
    """All names that the file reads, dotted ones too; names of passes and rules, and rules that tests name.
    """
    items = tuple(item for item in file.written.items if not isinstance(item, n.Use))
    found = set(names_in(items))
    for node in walk(items):
        if isinstance(node, n.Attribute):
            found.add("".join(node.span.text.split()))
    return found


def _offered(item: n.Use, importer: str, seen: set[str]) -> set[str] | None:
    """The functions and operators of a module that has nothing else; None for one that has, or that cannot be
    read.
    """
    try:
        paths = [Path(importer).parent / item.module] if item.is_path else find_module(item.module)
    except FileNotFoundError:
        return None
    found: set[str] = set()
    for path in paths:
        if str(path) in seen:
            continue
        seen.add(str(path))
        try:
            source = read_source(path)
        except OSError:
            return None
        if not isinstance(source, Source) or _RULES.search(source.text):
            return None
        for other in parse(source).program.items:
            match other:
                case n.Use():
                    further = _offered(other, str(path), seen)
                    if further is None:
                        return None
                    found |= further
                case n.FnDecl(name=name) | n.OpDecl(name=name) | n.ParamDecl(name=name):
                    found.add(name.id)
    return found


def _item_line(item: n.Use) -> Span:
    source, text = item.span.source, item.span.source.text
    end = item.span.end
    if not item.span.text.endswith(";"):
        end = text.index(";", end) + 1
    if text[end : end + 1] == "\n":
        end += 1
    return Span(source, item.span.start, end)
