"""The Pygments lexer of rule files. Registered as the entry point `gslang`."""

from __future__ import annotations

import re

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from gslang.highlight import words as table


class GslangLexer(RegexLexer):
    """Colours `.gsl` text."""

    name = "gslang"
    aliases = ["gslang", "gsl-rules"]
    filenames = ["*.gsl"]
    mimetypes = ["text/x-gslang"]
    url = ""
    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"#!.*|##(?!#).*", Comment.Special),
            (r"#.*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"', String.Double),
            (r"@\w+", Name.Decorator),
            (r"(?<=\.)[A-Za-z_]\w*", Name.Attribute),
            (words(table.items(), prefix=r"\b", suffix=r"\b"), Keyword.Declaration),
            (words(table.keywords(), prefix=r"\b", suffix=r"\b"), Keyword),
            (words(table.CONSTANTS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(table.KINDS, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (r"[A-Za-z_]\w*(?=\??\()", Name.Function),
            (r"[A-Za-z_]\w*", Name),
            (r"\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)", Number.Float),
            (r"\d+", Number.Integer),
            (r"[(){}\[\],;]", Punctuation),
            ("|".join(re.escape(sign) for sign in table.operators()), Operator),
        ]
    }
