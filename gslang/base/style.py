"""Styles of text in summaries and tables; what they look like is decided at the edge (`cli/paint`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Style = Literal["head", "count", "good", "bad", "quiet"]
Paint = Callable[[Style, str], str]


def plain(style: Style, text: str) -> str:
    """The text without a style."""
    return text
