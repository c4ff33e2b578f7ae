"""The words as Emacs Lisp constants."""

from __future__ import annotations

from gslang.highlight import words as table


def words_part() -> str:
    """Definitions of the word lists, between the marks of `gsl-mode.el`."""
    lists = (
        ("items", "Words that begin an item.", table.items()),
        ("keywords", "All other words of the language.", table.keywords()),
        ("soft", "Those that may also be names.", table.SOFT),
        ("constants", "Words for values.", table.CONSTANTS),
        ("kinds", "What an input may be.", table.KINDS),
        ("builtins", "Functions of the language.", table.BUILTINS),
    )
    return "\n".join(
        f'(defconst gsl--{name}\n  \'({_listed(found)})\n  "{text}")\n' for name, text, found in lists
    )


def _listed(found: tuple[str, ...]) -> str:
    lines = [""]
    for word in found:
        if len(lines[-1]) + len(word) > 88:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + f'"{word}"'
    return "\n    ".join(lines)
