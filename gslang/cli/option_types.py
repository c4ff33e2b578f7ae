"""Types of options: numbers within bounds, with messages that say which."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import Final

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def natural(text: str) -> int:
    """A number from 0."""
    return _at_least(0, text)


def positive(text: str) -> int:
    """A number from 1."""
    return _at_least(1, text)


def _at_least(least: int, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) < least:
        raise ArgumentTypeError(f"expected a number from {least}, not `{text}`")
    return int(text)


def size_in_bytes(text: str) -> int | None:
    """A number of bytes, in binary units; None for `none`."""
    if text.lower() == "none":
        return None
    found = re.fullmatch(r"([0-9]{1,12})([KMG]?)", text.upper())
    if found is None:
        raise ArgumentTypeError(f"expected a size such as 1M, 500K or none, not `{text}`")
    return int(found[1]) * _UNITS[found[2]]


def seconds(text: str) -> float:
    """A time of at least a millisecond and at most a day."""
    found = re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text)
    if found is None or not 0.001 <= float(text) <= 86_400:
        raise ArgumentTypeError(f"expected seconds from 0.001 to 86400, not `{text}`")
    return float(text)
