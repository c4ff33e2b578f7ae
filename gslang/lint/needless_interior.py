"""L0118: a node that the rule takes away, so that other users of it block the match, though it could as well
stay.

That is where the target makes no more calls than go away with the outputs alone: `keep` then costs nothing
and matches more.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Edit, Fix
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.lint.linted_file import Finding, LintedFile, finding


def needless_interior(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        checked = rule.checked
        if checked.blocks or checked.has_alternatives:
            continue
        made = sum(isinstance(t, (ir.MakeCall, ir.Repeat)) for t in checked.target.targets)
        going = sum(k in checked.calls for k in checked.outputs)
        if made > going:
            continue
        below_outputs = {child for root in checked.roots for child in checked.nodes[root].below}
        for k in sorted(checked.interior & below_outputs):
            node = checked.nodes[k]
            if k in checked.outputs or k not in checked.calls:
                continue
            what = f"`{node.name}`" if node.name else f"`{node.span.text}`"
            edit = Edit(Span(node.span.source, node.span.start, node.span.start), "keep ")
            hint = "write `keep` before it: the rule then also matches if it has other users"
            yield finding(
                "L0118", f"{what} need not be removed: the target has no more calls than outputs",
                node.span, hint, fix=Fix("keep the node", (edit,), safe=False),
            )
