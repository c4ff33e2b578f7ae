"""A hook of MkDocs: the theme's shim for workers of local files comes with the site, not from the network."""

from __future__ import annotations

from typing import Any

_REMOTE = "https://unpkg.com/iframe-worker/shim"


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The page with the shim's address replaced."""
    depth = page.url.count("/")
    return output.replace(_REMOTE, "../" * depth + "site_assets/iframe-worker.js")
