"""The Pygments lexer of TVM Relay's text format. Registered as the entry point `relay`."""

from __future__ import annotations

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace


class RelayLexer(RegexLexer):
    """Colours Relay text; comments `/* … */` nest."""

    name = "Relay"
    aliases = ["relay"]
    filenames = ["*.relay"]
    mimetypes = ["text/x-relay"]
    url = ""
    tokens = {
        "root": [
            (r"\s+", Whitespace), (r"#\[", Comment.Preproc, "header"),
            (r"#.*|//.*", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"), (r'"(?:[^"\\]|\\.)*"', String.Double),
            (r"@[\w.]+", Name.Function), (r"%[\w.]+", Name.Variable),
            (r"\b(?:def|fn|let|if|else|match|type|extern|meta|free_var)\b", Keyword),
            (r"\b(?:Tensor|Tuple|TensorType|bool|u?int\d+|b?float\d+)\b", Keyword.Type),
            (r"\b(?:True|False|inff?|nanf?)\b", Keyword.Constant),
            (
                r"\d+\.?\d*(?:[eE][-+]?\d+)?(?:f\d*|i\d+)\b|\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+",
                Number.Float,
            ),
            (r"\d+", Number.Integer), (r"[A-Za-z_][\w.]*", Name),
            (r"->|=>|==|!=|<=|>=|[-+*/=<>?!$&|^~]", Operator), (r"[(){}\[\],;:.]", Punctuation),
        ],
        "header": [(r"[^\]\"]+", Comment.Preproc), (r'"[^"]*"', String), (r"\]", Comment.Preproc, "#pop")],
        "comment": [
            (r"/\*", Comment.Multiline, "#push"),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"[^*/]+|[*/]", Comment.Multiline),
        ],
    }
