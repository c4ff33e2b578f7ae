"""Comments of Relay text: nested ones are flattened before lexing; `ty=` and `span=` facts are taken out of them.

Flattening keeps every offset: it only overwrites characters inside comments by blanks.
"""

from __future__ import annotations

import re
from typing import Final

_STATE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*', re.DOTALL)
_EDGE: Final = re.compile(r"/\*|\*/")
_INFO: Final = re.compile(r"/\*\s*(?:ty=(?P<ty>.*?))?\s*(?:(?<!\S)span=(?P<span>.*?))?\s*\*/", re.DOTALL)


def flatten_nested(text: str) -> str:
    """The text with `/*` and `*/` inside comments blanked, so that comments no longer nest.

    If nesting makes a comment run to the end of the file (span text may contain `/*`), comments are taken not to nest.
    """
    flat = _flatten(text, nesting=True)
    if flat is None:
        flat = _flatten(text, nesting=False)
    return text if flat is None else flat


def _flatten(text: str, nesting: bool) -> str | None:
    pieces: list[str] = []
    done = 0
    found = _STATE.search(text)
    while found is not None:
        at = found.end()
        if text.startswith("/*", found.start()):
            depth = 1
            while depth:
                edge = _EDGE.search(text, at)
                if edge is None:
                    return None
                depth += (1 if nesting else 0) if edge.group() == "/*" else -1
                at = edge.end()
                if depth:
                    pieces += (text[done : edge.start()], "  ")
                    done = at
        found = _STATE.search(text, at)
    pieces.append(text[done:])
    return "".join(pieces)


def info(comment: str) -> tuple[str | None, str | None]:
    """The type text and the span text of an info comment; None for what it does not say."""
    found = _INFO.fullmatch(comment)
    if found is None:
        return None, None
    return found["ty"], found["span"]
