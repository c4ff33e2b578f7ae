"""Scopes of rule text: regular expressions and scope names, for editors that colour by such (VS Code, Sublime
Text).

A context is a list of entries, tried in order where the text stands: a match, a region (from its begin to its
end, with a context inside), or another context included. The expressions keep to what Oniguruma and Python
read the same way. Not here: the files' formats (`textmate`, `sublime`).
"""

from __future__ import annotations

import re

from gslang.base.quick_dataclass import dataclass
from gslang.highlight import words as table

NAME = r"[A-Za-z_]\w*"
# Where text is incomplete, nothing open reaches beyond its statement or into the next item.
_NEXT_ITEM = r"^(?=\s*(?:dialect|fn|op|pass|rule|test|use)\s+[\w\"])"


@dataclass(frozen=True, slots=True)
class Match:
    """`scopes`: of the groups, by number; 0 is the whole match. All without the suffix `.gslang`."""

    pattern: str
    scopes: dict[int, str]


@dataclass(frozen=True, slots=True)
class Region:
    """From `begin` to `end`, neither beyond; `inside` is the name of a context."""

    begin: str
    begin_scopes: dict[int, str]
    end: str
    end_scopes: dict[int, str]
    inside: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Include:
    context: str


Context = tuple[Match | Region | Include, ...]


def _one_of(listed: tuple[str, ...], after: str = r"\b") -> str:
    return rf"(?<![.\w])(?:{'|'.join(listed)}){after}"


def contexts() -> dict[str, Context]:
    """All contexts; `main` is where a file begins."""
    # Long on purpose: a table.
    return {
        "main": (Include("comments"), Include("items"), Include("statements"), Include("expressions")),
        "comments": _comments(),
        "items": _items(),
        "statements": (
            Match(
                rf"(?<![.\w])({NAME})\s*(=)(?![=>])",
                {1: "variable.other.definition", 2: "keyword.operator.assignment"},
            ),
        ),
        "expressions": _expressions(),
        "arguments": (Include("comments"), *_arguments(), Include("expressions")),
        "subscript": (Include("comments"), Match(":", {0: "keyword.operator.slice"}), Include("expressions")),
        "fields": (
            Include("comments"),
            Match(NAME, {0: "variable.other.property"}),
            Match(",", {0: "punctuation.separator"}),
        ),
        "import": (
            Include("comments"),
            Include("strings"),
            Match(rf"{NAME}(?=\s*\.)|(?<=\.){NAME}", {0: "entity.name.namespace"}),
            Match(rf"(?<=[(,])\s*({NAME})", {1: "variable.other.import"}),
            Match(NAME, {0: "entity.name.namespace"}),
            Match(r"\.", {0: "punctuation.accessor"}),
            Match(",", {0: "punctuation.separator"}),
            Match(r"[()]", {0: "punctuation.section.parens"}),
        ),
        "result": (
            Include("comments"),
            Match(rf"(?!is\b){NAME}", {0: "support.type"}),
            Match(r"[|?]", {0: "keyword.operator.type"}),
            Match(",", {0: "punctuation.separator"}),
            Match(r"[()\[\]]", {0: "punctuation.section.parens"}),
        ),
        "traits": (
            Include("comments"),
            Match(NAME, {0: "entity.other.attribute-name"}),
            Match(",", {0: "punctuation.separator"}),
        ),
        "strings": (
            Region(
                '"',
                {0: "punctuation.definition.string.begin"},
                r'(")|$',
                {1: "punctuation.definition.string.end"},
                "string",
                "string.quoted.double",
            ),
        ),
        "string": (Match(r"\\.", {0: "constant.character.escape"}),),
    }


def _comments() -> tuple[Match, ...]:
    return (
        Match(r"(?:##(?!#)|#!).*$", {0: "comment.line.documentation"}),
        Match(r"#.*$", {0: "comment.line.number-sign"}),
    )


def _items() -> tuple[Match | Region, ...]:
    declared = "keyword.declaration"
    return (
        Match(rf"(?<![.\w])(rule|fn)\s+({NAME})", {1: declared, 2: "entity.name.function"}),
        Match(rf"(?<![.\w])(pass)\s+({NAME})", {1: declared, 2: "entity.name.section"}),
        Match(rf"(?<![.\w])(dialect)\s+({NAME})", {1: declared, 2: "entity.name.namespace"}),
        Match(
            rf"(?<![.\w])(op)\s+((?:{NAME}\.)*)({NAME})",
            {1: declared, 2: "entity.name.namespace", 3: "entity.name.function"},
        ),
        Region(r"(?<![.\w])use\b", {0: declared}, rf"(?=;)|{_NEXT_ITEM}", {}, "import"),
        Region("->", {0: "keyword.operator.arrow"}, rf"(?=[{{;]|\bis\b)|{_NEXT_ITEM}", {}, "result"),
        Region(r"(?<![.\w])is\b", {0: "keyword.control"}, rf"(?=;)|{_NEXT_ITEM}", {}, "traits"),
    )


def _arguments() -> tuple[Match, ...]:
    types = rf"{NAME}(?:\[\])*\??(?:\s*\|\s*{NAME}(?:\[\])*\??)*"
    return (
        Match(
            rf"(?<![.\w])({NAME})\s*(=)(?![=>])", {1: "variable.parameter", 2: "keyword.operator.assignment"}
        ),
        Match(rf"(?<![.\w])({NAME})\s*(:)(?!=)", {1: "variable.parameter", 2: "punctuation.separator.type"}),
        Match(rf"(?<=:)\s*((?:{'|'.join((*table.KINDS, 'op'))})\b)", {1: "storage.type"}),
        Match(rf"(?<=:)\s*({types})", {1: "support.type"}),
    )


def _expressions() -> tuple[Match | Region | Include, ...]:
    # Long on purpose: a table.
    sections = "punctuation.section"
    signs = "|".join(re.escape(sign) for sign in table.signs())
    return (
        Include("strings"),
        Match(rf"(@)\s*({NAME})", {1: "punctuation.definition.annotation", 2: "entity.name.decorator"}),
        Match(
            rf"(:)\s*({'|'.join(table.PATTERN_KINDS)})\b",
            {1: "punctuation.separator.type", 2: "storage.type"},
        ),
        Region(
            r"(\.)\s*(\{)",
            {1: "punctuation.accessor", 2: f"{sections}.braces.begin"},
            rf"\}}|(?=;)|{_NEXT_ITEM}",
            {0: f"{sections}.braces.end"},
            "fields",
        ),
        Match(r"(?<!\.)(\.)\s*(\*)", {1: "punctuation.accessor", 2: "keyword.operator.spread"}),
        Match(rf"(?<!\.)(\.)\s*({NAME})", {1: "punctuation.accessor", 2: "variable.other.property"}),
        Match(r"\b\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)\b", {0: "constant.numeric.float"}),
        Match(r"\b\d+\b", {0: "constant.numeric.integer"}),
        Match(_one_of(("op",), r"\b(?=\s*\()"), {0: "storage.type"}),
        Match(_one_of(table.SOFT, r"\b(?=\s*[(.=])"), {0: "entity.name.function"}),
        Match(_one_of(table.items()), {0: "keyword.declaration"}),
        Match(
            _one_of(tuple(w for w in table.keywords() if w in ("and", "or", "not", "in", "is"))),
            {0: "keyword.operator.word"},
        ),
        Match(_one_of(table.keywords()), {0: "keyword.control"}),
        Match(_one_of(table.CONSTANTS), {0: "constant.language"}),
        Match(_one_of(table.PATTERN_KINDS, r"(?=\s*\()"), {0: "storage.type"}),
        Match(_one_of(table.BUILTINS, r"(?=\s*\()"), {0: "support.function.builtin"}),
        Match(r"\b(?:bool|b?float\d+|u?int\d+)\b", {0: "support.type.dtype"}),
        Match(
            rf"(?<![.\w])((?:{NAME}\.)*)({NAME})(?=\s*\??\()",
            {1: "entity.name.namespace", 2: "entity.name.function"},
        ),
        Match(r"\b_\b", {0: "variable.language.hole"}),
        Match(NAME, {0: "variable.other"}),
        Region(
            r"\(",
            {0: f"{sections}.parens.begin"},
            rf"\)|(?=;)|{_NEXT_ITEM}",
            {0: f"{sections}.parens.end"},
            "arguments",
        ),
        Region(
            r"\[",
            {0: f"{sections}.brackets.begin"},
            rf"\]|(?=;)|{_NEXT_ITEM}",
            {0: f"{sections}.brackets.end"},
            "subscript",
        ),
        Match(r"[{}]", {0: f"{sections}.braces"}),
        Match(signs, {0: "keyword.operator"}),
        Match(r";", {0: "punctuation.terminator"}),
        Match(r",", {0: "punctuation.separator"}),
        Match(r":", {0: "punctuation.separator.type"}),
        Match(r"\.", {0: "punctuation.accessor"}),
        Match(r"\S", {0: "invalid.illegal"}),
    )
