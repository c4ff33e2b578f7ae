"""Comments of Relay text: nested ones are flattened before lexing; `ty=` facts are taken out of them.

Flattening keeps every offset: it only overwrites characters inside comments by blanks.
"""

from __future__ import annotations

import re
from typing import Final

_STATE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*', re.DOTALL)
_EDGE: Final = re.compile(r"/\*|\*/")
_INFO: Final = re.compile(r"/\*\s*(?:ty=(?P<ty>.*?))?\s*(?:(?<!\S)span=.*?)?\s*\*/", re.DOTALL)


def flatten_nested(text: str) -> str:
    """The text with `/*` and `*/` inside comments blanked, so that comments do not nest.

    A comment that nesting would make run to the end of the file (span text may contain `/*`) is taken not to
    nest.
    """
    pieces: list[str] = []
    done = 0
    found = _STATE.search(text)
    while found is not None:
        at = found.end()
        if found.group() == "/*":
            edges = _inner_edges(text, at, nesting=True) or _inner_edges(text, at, nesting=False)
            if edges is None:
                break  # it does not end at all: for the parser to report
            for start in edges[:-1]:
                pieces += (text[done:start], "  ")
                done = start + 2
            at = edges[-1] + 2
        found = _STATE.search(text, at)
    pieces.append(text[done:])
    return "".join(pieces)


def _inner_edges(text: str, at: int, nesting: bool) -> list[int] | None:
    """Offsets of the `/*` and `*/` after the opening one; the last closes the comment.

    None if nothing does.
    """
    depth, edges = 1, []
    while depth:
        edge = _EDGE.search(text, at)
        if edge is None:
            return None
        if edge.group() == "*/":
            depth -= 1
        elif nesting:
            depth += 1
        at = edge.end()
        edges.append(edge.start())
    return edges


def stated_type(comment: str) -> str | None:
    """The type text of an info comment, None if it states none."""
    found = _INFO.fullmatch(comment)
    return None if found is None else found["ty"]
