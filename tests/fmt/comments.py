"""The comments of a text, found without the formatter."""

from __future__ import annotations

import re

_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*')


def comments_in(text: str) -> list[str]:
    """All comments, with their `#`, in order."""
    return [found for found in _COMMENT_OR_STRING.findall(text) if found[0] == "#"]
