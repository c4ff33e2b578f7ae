"""Names and quoting that the completion scripts of the shells share."""

from __future__ import annotations

from gslang.cli.completion_table import Names, Verb
from gslang.formats.registry import READABLE, SUFFIXES

GRAPH_SUFFIXES = "|".join(suffix[1:] for suffix, format in SUFFIXES.items() if format in READABLE)
# What finds the names of the rules (or passes) of a file, for sed.
_DECLARED = r"s/^[[:space:]]*@WORD@[[:space:]]\{1,\}\([A-Za-z_][A-Za-z0-9_]*\).*/\1/p"


def fill(template: str, names: Names, **parts: str) -> str:
    """The template with its `@NAME@` replaced: `parts`, then names of shipped things, also in them."""
    shipped = {
        "MODULES": " ".join(names.modules),
        "RULES": " ".join(names.rules),
        "PASSES": " ".join(names.passes),
        "OPERATORS": " ".join(names.operators),
        "CODES": " ".join(code for code, _ in names.codes),
        "LINTS": " ".join(code for code, _ in names.lints),
        "RULE_PATTERN": _DECLARED.replace("@WORD@", "rule"),
        "PASS_PATTERN": _DECLARED.replace("@WORD@", "pass"),
    }
    for name, text in (parts | shipped).items():
        template = template.replace(f"@{name}@", text)
    return template


def quoted(text: str) -> str:
    """For all three shells: in single quotes, without such inside (help texts have typographic ones instead).
    """
    return "'" + text.replace("'", "’") + "'"


def valued_names(verb: Verb) -> str:
    """The options that a value follows."""
    return " ".join(name for option in verb.options if option.value is not None for name in option.names)
