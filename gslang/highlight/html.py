"""Rule text as coloured HTML, for notebooks; plain where Pygments is not installed."""

from __future__ import annotations

import re
from html import escape

_ITEM = re.compile(r"^(?:#|@|(?:rule|fn|op|pass|test|use|dialect)\b)", re.MULTILINE)


def item_text(text: str, at: int) -> str:
    """The lines of the item around an offset: up to the next line that begins an item or a comment at column
    1. For display only.
    """
    start = text.rfind("\n", 0, at) + 1
    following = _ITEM.search(text, at)
    return text[start : following.start() if following else len(text)].strip() + "\n"


def rules_html(text: str) -> str:
    """`text` in a `<pre>`, its colours as inline styles."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
    except ImportError:
        return f"<pre>{escape(text)}</pre>"
    from gslang.highlight.gsl_lexer import GslangLexer

    return str(highlight(text, GslangLexer(), HtmlFormatter(noclasses=True)))
