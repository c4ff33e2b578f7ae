"""Edits that take conditions out of a `where` list, and put constraints into calls and inputs."""

from __future__ import annotations

from gslang.base.diagnostics import Edit
from gslang.base.source import Span
from gslang.syntax import nodes as n


def without_condition(conditions: tuple[n.Expr, ...], at: int) -> Edit | None:
    """The edit that removes one condition, with its comma or its `where`; None where a comment or a
    parenthesis stands in the way.
    """
    span = conditions[at].span
    text = span.source.text
    if at:
        start, end = conditions[at - 1].span.end, span.end
    elif len(conditions) > 1:
        start, end = span.start, conditions[1].span.start
    else:
        start, end = text.rfind("where", 0, span.start), span.end
        while start > 0 and text[start - 1].isspace():
            start -= 1
        rest = text[end:].lstrip()
        if rest.startswith(","):
            end = text.index(",", end) + 1
    removed = text[start:end]
    outside = removed.replace(span.text, "", 1)
    if "#" in removed or "(" in outside or ")" in outside:
        return None
    return Edit(Span(span.source, start, end), "")


def with_argument(span: Span, given: bool, argument: str) -> Edit | None:
    """The edit that puts one more keyword argument behind the others of a call (or kind) that ends at the end
    of `span`.
    """
    text = span.source.text
    end = span.end
    if text[end - 1 : end] != ")":
        return None
    at = end - 1
    while text[at - 1].isspace():
        at -= 1
    if "#" in text[text.rfind("\n", 0, at) + 1 : at]:
        return None
    comma = "" if not given else " " if text[at - 1] == "," else ", "
    return Edit(Span(span.source, at, at), comma + argument)
