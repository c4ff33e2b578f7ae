"""Writes the files of `editors/` that list words: `python -m gslang.highlight.generate`. A test holds them to
it.

Grammars in data formats are written whole. Files that are programs (Vim script, Emacs Lisp, tree-sitter
queries) are written by hand, except for what stands between their two lines `… words: begin` and `… words:
end`.
"""

from __future__ import annotations

from pathlib import Path

from gslang.highlight import emacs, sublime, textmate, tree_sitter, vim

EDITORS = Path(__file__).resolve().parent.parent.parent / "editors"


def files() -> dict[str, str]:
    """Path below `editors/` → what it should hold.

    Raises `OSError` where a file with a marked part is missing.
    """
    whole = {
        "vscode/syntaxes/gslang.tmLanguage.json": textmate.text_mate(),
        "sublime/gslang.sublime-syntax": sublime.sublime(),
        "tree-sitter-gslang/words.js": tree_sitter.words_module(),
    }
    parts = {
        "vim/syntax/gslang.vim": vim.words_part(),
        "emacs/gsl-mode.el": emacs.words_part(),
        "tree-sitter-gslang/queries/highlights.scm": tree_sitter.highlights_part(),
    }
    return whole | {
        name: _with_part((EDITORS / name).read_text(encoding="utf-8"), part) for name, part in parts.items()
    }


def _with_part(text: str, part: str) -> str:
    """`text` with `part` between its two marked lines."""
    head, begin, rest = text.partition("words: begin\n")
    middle, end, tail = rest.partition("words: end")
    if not (begin and end):
        raise ValueError("the lines `words: begin` and `words: end` are missing")
    comment = middle.rpartition("\n")[2]
    return head + begin + part + comment + end + tail


def main() -> None:
    for name, text in files().items():
        path = EDITORS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
