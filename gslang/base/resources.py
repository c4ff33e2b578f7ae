"""Where the grammar and the shipped rules are: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def _folder(name: str) -> Path:
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"gslang's own folder `{name}` is missing: the installation is damaged")


def grammar_path(name: str) -> Path:
    """A file of `grammar/`."""
    return _folder("grammar") / name


def stdlib_path() -> Path:
    """The folder `stdlib_rules/`."""
    return _folder("stdlib_rules")
