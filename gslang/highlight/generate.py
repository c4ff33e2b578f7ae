"""Writes the files of `editors/` that list words: `python -m gslang.highlight.generate`. A test holds them to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gslang.highlight import words as table

EDITORS = Path(__file__).resolve().parent.parent.parent / "editors"


def files() -> dict[str, str]:
    """Path below `editors/` → content."""
    return {
        "vscode/syntaxes/gslang.tmLanguage.json": text_mate(),
        "vim/syntax/gslang.vim": vim(),
        "emacs/gsl-mode.el": emacs(),
        "sublime/gslang.sublime-syntax": sublime(),
    }


def _any(listed: tuple[str, ...]) -> str:
    return r"(?<!\.)\b(?:" + "|".join(listed) + r")\b"


def _signs() -> str:
    return "|".join(re.escape(sign) for sign in table.operators() if sign not in ("(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "@"))


def _scopes() -> list[tuple[str, str]]:
    return [
        ("comment.block.documentation.gslang", r"(?:##(?!#)|#!).*$"),
        ("comment.line.number-sign.gslang", r"#.*$"),
        ("string.quoted.double.gslang", r'"(?:[^"\\]|\\.)*"'),
        ("entity.name.decorator.gslang", r"@\w+"),
        ("keyword.declaration.gslang", _any(table.items())),
        ("keyword.control.gslang", _any(table.keywords())),
        ("constant.language.gslang", _any(table.CONSTANTS)),
        ("storage.type.gslang", _any(table.KINDS)),
        ("entity.name.function.gslang", r"\b[A-Za-z_]\w*(?=\??\()"),
        ("constant.numeric.gslang", r"\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b"),
        ("keyword.operator.gslang", _signs()),
    ]


def text_mate() -> str:
    patterns = [{"name": scope, "match": pattern} for scope, pattern in _scopes()]
    grammar = {"name": "gslang", "scopeName": "source.gslang", "fileTypes": ["gsl"], "patterns": patterns}
    return json.dumps(grammar, indent=2, ensure_ascii=False) + "\n"


def sublime() -> str:
    lines = ["%YAML 1.2", "---", "name: gslang", "file_extensions: [gsl]", "scope: source.gslang", "contexts:", "  main:"]
    for scope, pattern in _scopes():
        quoted = pattern.replace("'", "''")
        lines += [f"    - match: '{quoted}'", f"      scope: {scope}"]
    return "\n".join(lines) + "\n"


def vim() -> str:
    links = [
        ("Item", "Statement"), ("Keyword", "Keyword"), ("Kind", "Type"), ("Constant", "Constant"), ("Number", "Number"),
        ("Arrow", "Operator"), ("Annotation", "PreProc"), ("String", "String"), ("Comment", "Comment"), ("Doc", "SpecialComment"),
    ]  # fmt: skip
    return "\n".join([
        '" Vim syntax of gslang rule files. Copy `syntax/` and `ftdetect/` into ~/.vim, or put this folder on the runtime path.',
        '" The word lists are generated: python -m gslang.highlight.generate',
        'if exists("b:current_syntax")', "  finish", "endif",
        "syntax keyword gslangItem " + " ".join(table.items()),
        "syntax keyword gslangKeyword " + " ".join(table.keywords()),
        "syntax keyword gslangKind " + " ".join(table.KINDS),
        "syntax keyword gslangConstant " + " ".join(table.CONSTANTS),
        r'syntax match gslangNumber "\v<\d+(\.\d+)?([eE][-+]?\d+)?>"', 'syntax match gslangArrow "=>"',
        r'syntax match gslangAnnotation "@\w\+"', r'syntax region gslangString start=+"+ skip=+\\.+ end=+"+ oneline',
        'syntax match gslangComment "#.*$"', 'syntax match gslangDoc "##.*$"', 'syntax match gslangDoc "#!.*$"',
        *(f"highlight default link gslang{name} {group}" for name, group in links),
        'let b:current_syntax = "gslang"', "",
    ])  # fmt: skip


def emacs() -> str:
    def listed(found: tuple[str, ...]) -> str:
        return " ".join(f'"{word}"' for word in found)

    return f''';;; gsl-mode.el --- Major mode for gslang rule files  -*- lexical-binding: t -*-
;; The word lists are generated: python -m gslang.highlight.generate
;;; Code:
(defvar gsl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\\n ">" table)
    (modify-syntax-entry ?\\" "\\"" table)
    (modify-syntax-entry ?_ "_" table)
    table))

(defvar gsl-font-lock-keywords
  `((,(regexp-opt '({listed(table.items())}) 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '({listed(table.keywords())}) 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '({listed(table.CONSTANTS)}) 'symbols) . font-lock-constant-face)
    (,(regexp-opt '({listed(table.KINDS)}) 'symbols) . font-lock-type-face)
    ("@[A-Za-z_]+" . font-lock-preprocessor-face)))

;;;###autoload
(define-derived-mode gsl-mode prog-mode "gslang"
  "Major mode for gslang rule files."
  (setq-local comment-start "# ")
  (setq-local font-lock-defaults '(gsl-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\\\.gsl\\\\'" . gsl-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(gsl-mode . ("gslc" "lsp"))))

(provide 'gsl-mode)
;;; gsl-mode.el ends here
'''


def main() -> None:
    for name, text in files().items():
        path = EDITORS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
