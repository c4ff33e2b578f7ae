"""L0113: `keep` on a node that stays anyway, because it is an output or the target uses it."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Edit, Fix
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.lint.linted_file import Finding, LintedFile, finding


def pointless_keep(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        checked = rule.checked
        used = {t.node for t in checked.target.targets if isinstance(t, ir.MatchedNodes)}
        for k, node in enumerate(checked.nodes):
            if not node.keep:
                continue
            why = (
                "it is an output" if k in checked.outputs
                else "it is not a call" if isinstance(node, ir.LeafNode)
                else None
            )
            if why is None and k in used:
                why = "the target uses it, so it is kept anyway"
            if why is not None:
                yield finding(
                    "L0113", f"`keep` has no effect here: {why}", node.span, "remove it",
                    fix=_without(node.span),
                )


def _without(span: Span) -> Fix | None:
    """The edit that takes out the word, which stands before the node or at its beginning."""
    text, start = span.source.text, span.start
    if not text.startswith("keep", start):
        start = len(text[:start].rstrip()) - 4
    end = start + 4
    if text[start:end] != "keep" or not text[end : end + 1].isspace():
        return None
    while text[end : end + 1] == " ":
        end += 1
    return Fix("remove `keep`", (Edit(Span(span.source, start, end), ""),))
