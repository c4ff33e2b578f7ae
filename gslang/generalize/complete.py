"""Required attributes that a target leaves out, copied from the source: `reshape(reshape(x)) => reshape(x)`
means the shape of one of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.generalize.drafting import draft_of, walk
from gslang.syntax import nodes as n
from gslang.syntax.parser import parse

_MISSING = "E0604"  # an operator needs an attribute


def completed(findings: Iterable[Diagnostic]) -> tuple[Source | None, Mapping[str, tuple[str, ...]]]:
    """The file that these findings are about, in which each such call of a target has the attributes of the
    outermost call of its operator in the source, if there is one; and by rule what was copied, in words. None
    where nothing is to be copied.
    """
    spans = [d.primary.span for d in findings if d.code == _MISSING]
    if not spans:
        return None, {}
    source, missing = spans[0].source, {(span.start, span.end) for span in spans}
    text = source.text
    notes: dict[str, tuple[str, ...]] = {}
    for item in reversed(parse(source).program.items):
        if not isinstance(item, n.Rule) or item.table is not None:
            continue
        calls = [
            node
            for node in walk(item.target)
            if isinstance(node, n.Call) and (node.span.start, node.span.end) in missing
        ]
        if not calls:
            continue
        statements = [s for s in draft_of(source, item.name.id).source if not isinstance(s, str)]
        givers = {s.head.split()[-1]: s.name for s in statements if s.arguments is not None}
        edits: dict[tuple[int, int], str] = {}
        for call in calls:
            operator = call.callee.span.text
            giver = givers.get(operator)
            if giver is not None:
                end = call.arguments[-1].span.end if call.arguments else call.span.end - 1
                edits[(end, end)] = (", " if call.arguments else "") + f"{giver}.*"
                told = f"attributes of `{operator}`, those of `{giver}`"
                notes[item.name.id] = (*notes.get(item.name.id, ()), told)
        if edits:
            new = draft_of(source, item.name.id, edits).text().rstrip("\n")
            text = text[: item.span.start] + new + text[item.span.end :]
    return (Source(source.name, text) if notes else None), notes
