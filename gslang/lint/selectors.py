"""Selectors of lints: codes, prefixes of codes, and names."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.lint.codes import LINTS


def selected_codes(select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """Codes by prefix (`L01`), name, or `all`. Nothing selected: those that run unasked. The longest prefix
    decides, then `ignore`.

    Raises `ValueError` for a selector that fits no lint.
    """
    for given in (*select, *ignore):
        if not any(fits(given, code) for code in LINTS):
            raise ValueError(given)
    chosen = set()
    for code, info in LINTS.items():
        wanted = max((weight(s) for s in select if fits(s, code)), default=None)
        unwanted = max((weight(s) for s in ignore if fits(s, code)), default=-1)
        if wanted is None and not select and info.default:
            wanted = 0
        # a prefix alone does not wake lints that wait to be asked for by name
        if (
            wanted is not None and wanted > unwanted
            and (info.default or any(s in (code, info.name, "all") for s in select))
        ):
            chosen.add(code)
    return frozenset(chosen)


def fits(selector: str, code: str) -> bool:
    """True if a selector means a lint."""
    return (
        selector == "all" or selector == LINTS[code].name or code.startswith(selector)
        and selector.startswith("L")
    )


def weight(selector: str) -> int:
    """The narrowness of a selector: `all`, then prefixes by length, then codes and names."""
    return 0 if selector == "all" else len(selector) if selector.startswith("L") else 5
