"""A refuted rule under the conditions that it needs, for the place where it stands.

Takes up to a minute, and NumPy: loaded when asked for.
"""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.lsp.document import Document
from gslang.lsp.store import path_of


@dataclass(frozen=True, slots=True)
class Repaired:
    """`text` goes from `start` to `end` of the document; None where no conditions were found (`reason`)."""

    start: int
    end: int
    text: str | None
    reason: str = ""


def repaired(document: Document, name: str) -> Repaired:
    """The rule with the weakest conditions found; its documentation stays where it is."""
    from gslang.generalize.draft import NoDraft
    from gslang.generalize.drafting import rule_item
    from gslang.generalize.refine import generalize_in

    path = path_of(document.uri)
    source = Source(str(path) if path is not None else document.uri, document.text)
    try:
        span = rule_item(source, name)[0].span
        found = generalize_in(source, name)
    except NoDraft as problem:
        return Repaired(0, 0, None, str(problem))
    if found.text is None:
        return Repaired(span.start, span.end, None, found.reason)
    lines = [line for line in found.text.rstrip("\n").splitlines() if not line.startswith("##")]
    return Repaired(span.start, span.end, "\n".join(lines))
