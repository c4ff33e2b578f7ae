"""The Pygments lexer of rule files. Registered as the entry point `gslang`."""

from __future__ import annotations

import re

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from gslang.highlight import words as table


class GslangLexer(RegexLexer):
    """Colours `.gsl` text. Any word may name an attribute: behind a dot, or before the `=` of an argument."""

    name = "gslang"
    aliases = ["gslang", "gsl", "gsl-rules"]
    filenames = ["*.gsl"]
    mimetypes = ["text/x-gslang"]
    url = ""
    tokens = {"root": [
        (r"\s+", Whitespace), (r"#!.*|##(?!#).*", Comment.Special),
        (r"#.*", Comment.Single),
        (r'"(?:[^"\\\n]|\\.)*"', String.Double), (r"@\w+", Name.Decorator),
        (r"(?<![.])(\.)([A-Za-z_]\w*)(?!\w*\s*\??\()", bygroups(Operator, Name.Attribute)),
        (
            rf"(?!(?:{'|'.join(table.CONSTANTS)})\b)([A-Za-z_]\w*)(\s*)(=)(?![=>])",
            bygroups(Name.Variable, Whitespace, Operator),
        ),
        (rf"(:)(\s*)({'|'.join((*table.KINDS, 'op'))})\b", bygroups(Operator, Whitespace, Keyword.Type)),
        (r"\b(rule|fn)(\s+)([A-Za-z_]\w*)", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
        (r"\b(op)(\s+)([A-Za-z_][\w.]*)", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
        (r"(?<=\.)[A-Za-z_]\w*(?=\s*\??\()", Name.Function),
        (words(table.SOFT, prefix=r"\b", suffix=r"(?=\s*[(.=])"), Name.Function),
        (words(table.items(), prefix=r"\b", suffix=r"\b"), Keyword.Declaration),
        (words(table.keywords(), prefix=r"\b", suffix=r"\b"), Keyword),
        (words(table.CONSTANTS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
        (words(table.PATTERN_KINDS, prefix=r"\b", suffix=r"(?=\s*\()"), Keyword.Type),
        (words(table.BUILTINS, prefix=r"\b", suffix=r"(?=\s*\()"), Name.Builtin),
        (r"\b(?:bool|b?float\d+|u?int\d+)\b", Keyword.Type), (r"[A-Za-z_]\w*(?=\??\()", Name.Function),
        (r"[A-Za-z_]\w*", Name), (r"\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)", Number.Float),
        (r"\d+", Number.Integer), (r"[(){}\[\],;]", Punctuation),
        ("|".join(re.escape(sign) for sign in table.operators()), Operator),
    ]}
