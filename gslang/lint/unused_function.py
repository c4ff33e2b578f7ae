"""L0102: functions and parameters that nothing in the file uses.

Files without rules are libraries: what they define is for others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gslang.lint.linted_file import Finding, LintedFile, finding, names_in
from gslang.syntax import nodes as n


def unused_function(file: LintedFile) -> Iterator[Finding]:
    if not file.rules:
        return
    items = file.written.items
    uses = Counter(names_in(items))
    sizes = {
        dim for item in items if isinstance(item, n.Test) for declared in item.inputs for dim in declared.dims
    }
    for item in items:
        if isinstance(item, n.ParamDecl) and uses[item.name.id] == 1 and item.name.id not in sizes:
            yield finding(
                "L0102", f"unused parameter `{item.name.id}`", item.name.span,
                "remove it, or read it in a condition or an attribute",
            )
        if isinstance(item, n.FnDecl) and uses[item.name.id] == 1 + names_in(item.body).count(item.name.id):
            yield finding(
                "L0102", f"unused function `{item.name.id}`", item.name.span,
                "remove it, or move it to a file that others import",
            )
