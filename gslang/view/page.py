"""One HTML file from the data of a page: style, scripts and the layout library inline, the data as JSON that
no parser takes for markup.

The page may run its own scripts only (their hashes stand in its content security policy) and may load
nothing.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

_ASSETS: Final = Path(__file__).parent / "assets"
_SCRIPTS: Final = ("model.js", "blocks.js", "canvas.js", "panel.js", "page.js")
_UNSAFE: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page(data: Mapping[str, object]) -> str:
    """The page as text. Equal data give equal bytes."""
    program = "\n".join(_asset(name) for name in _SCRIPTS)
    worker = f"/*!\n{_asset('dagre.LICENSE').strip()}\n*/\n{_asset('dagre.min.js')}\n{_asset('layout.js')}"
    policy = (
        f"default-src 'none'; script-src 'sha256-{_hash(program)}'; worker-src blob:; style-src "
        f"'sha256-{_hash(_asset('style.css'))}'; img-src data:"
    )
    parts = {
        "title": escape(_one_line(str(data["title"]))),
        "policy": escape(policy),
        "style": _asset("style.css"),
        "data": json_text(data),
        "worker": json_text(worker),
        "program": program,
    }
    # once: what is put in is not looked at again
    return re.sub(r"@@(\w+)@@", lambda found: parts[found[1]], _asset("page.html"))


def json_text(value: object) -> str:
    """A value as JSON that is safe inside a `<script>` element: no `<`, `>`, `&`, line separator of Unicode
    or lone surrogate stands in it as itself.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _one_line(text: str) -> str:
    return " ".join(text.encode(errors="replace").decode().split())


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
