"""Syntax errors that teach: what was expected and where, and forms of neighbouring languages named as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Source, Span
from gslang.syntax.foreign_forms import foreign_form

if TYPE_CHECKING:
    from lark import UnexpectedInput

_RANGE = (
    "write `range(n)` to count up to a value: `[e for i in range(n)]`; as many instances as a value says are "
    "`each b in n { … }`"
)

# Terminals as a person would write them.
_SHOWN = {
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "EQUAL": "`=`",
    "ARROW": "`=>`",
    "RESULT_ARROW": "`->`",
    "DOT": "`.`",
    "NAME": "a name",
    "INT": "a number",
    "STRING": "a string",
    "DOUBLE_DOT": "`..`",
    "UNTIL": "`..<`",
    "BECOMES": "`:=`",
    "AT": "`@`",
    "QUESTION": "`?`",
    "STAR": "`*`",
    "BAR": "`|`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "SLASH": "`/`",
    "DOUBLE_SLASH": "`//`",
    "PERCENT": "`%`",
    "POWER": "`**`",
    "HOLE": "`_`",
    "BOTH_ARROW": "`<=>`",
    "FLOAT": "a number",
    "COMPARE": "a comparison",
}

_ITEMS = {"RULE", "FN", "PASS"}
_ITEM_WORDS = {
    "rule": "rule",
    "rewrite": "rule",
    "pattern": "rule",
    "rules": "rule",
    "import": "use",
    "include": "use",
    "from": "use",
    "using": "use",
    "function": "fn",
    "func": "fn",
    "fun": "fn",
    "operator": "op",
    "let": "fn",
    "passes": "pass",
    "tests": "test",
    "fn": "fn",
    "op": "op",
    "pass": "pass",
    "test": "test",
    "use": "use",
    "dialect": "dialect",
}
_BROKEN_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*$', re.MULTILINE)
_OPENING = {")": "(", "]": "[", "}": "{"}


def explain_syntax_error(source: Source, text: str, at: int, error: UnexpectedInput) -> Diagnostic:
    """The diagnostic of a place where parsing cannot go on."""
    accepted = (
        getattr(error, "accepts", None) or getattr(error, "allowed", None) or getattr(error, "expected", None)
        or ()
    )
    expected = {str(name) for name in accepted}
    rest = text[at:]
    width = len(match.group()) if (match := re.match(r"\w+|=>|<=>|->|:=|[=!<>]=|\S", rest)) else 0
    here = Span(source, at, at + width)
    if _BROKEN_STRING.match(rest):
        return Diagnostic(
            "E0104", "this string does not end on its line", Label(here), help='close it with `"`'
        )
    previous = len(text[:at].rstrip())
    if (form := foreign_form(text, at, expected)) is not None:
        start, end, message, hint = form
        return Diagnostic("E0106", message, Label(Span(source, start, end)), help=hint)
    dots = at - 1 if text[at - 1 : at + 1] == ".." else at if rest.startswith("..") else previous - 2
    if (
        text[:dots].strip() and text[dots : dots + 2] == ".."
        and (dots >= at - 1 or re.match(r"[\w(-]", rest))
    ):
        return Diagnostic(
            "E0102", "the bounds of a range must be numbers", Label(Span(source, dots, dots + 2)), help=_RANGE
        )
    if not rest.strip() or width == 0:
        return _at_the_end(source, text, at, expected)
    found = f"`{here.text if here.end <= len(source.text) else rest[:width]}`"
    if (
        "SEMICOLON" in expected and "ARROW" not in expected
        or ("SEMICOLON" in expected and source.position(at)[0] > source.position(max(previous - 1, 0))[0])
    ):
        gap = Span(source, previous, previous)
        return Diagnostic(
            "E0103", "a `;` is missing", Label(gap, "expected `;` here"),
            related=(Label(here, f"before {found}"),), help="end statements and items with `;`",
        )
    help = _mend(text, at, rest[:width], text[:previous], expected)
    return Diagnostic("E0102", f"expected {_list(expected)}, found {found}", Label(here), help=help)


def _mend(text: str, at: int, found: str, before: str, expected: set[str]) -> str | None:
    """A suggested fix for the mistake in `found`: constructs of other languages, and slips of the pen."""
    if _ITEMS <= expected:
        if found == ";" and before.endswith("}"):
            return "nothing follows a `}`: remove the `;`"
        guess = _ITEM_WORDS.get(found.lower())
        return f"write `{guess}`" if guess else None
    if found == "=>" and before.endswith((";", "{")):
        return "name the outputs before `=>`: `{ a = nn.relu(x); a => x }`"
    if found == "=>" and "ELSE" in expected:
        return "the conditions of a rule follow `where`: `nn.relu(x) where x.ndim == 2 => x`"
    if found == "}" and "ARROW" in expected:
        return "both sides are written in one pair of braces: `{ source => target }`"
    if found == "-" and re.search(r"\b(rule|pass|fn)\s+\w+\Z", before):
        return "names consist of letters, digits and `_`"
    if expected == {"COLON"}:
        return "give it a type: `x: tensor`, `k: int = 1`"
    if expected == {"RESULT_ARROW"}:
        return "state its result: `-> tensor`"
    if re.fullmatch(r"[A-Za-z_]+", found) and "NAME" in expected:
        return f"`{found}` is a keyword: choose another name"
    return None


def _at_the_end(source: Source, text: str, at: int, expected: set[str]) -> Diagnostic:
    opening = _unclosed(text)
    end = Span(source, at, at)
    if opening is not None:
        bracket = text[opening]
        return Diagnostic(
            "E0105", f"`{bracket}` is never closed", Label(Span(source, opening, opening + 1), "opened here"),
            related=(Label(end, "the file ends here"),),
            help=f"close it with `{dict(zip('([{', ')]}'))[bracket]}`",
        )
    if "SEMICOLON" in expected:
        return Diagnostic(
            "E0103", "a `;` is missing", Label(end, "expected `;` here"),
            help="end statements and items with `;`",
        )
    return Diagnostic("E0102", f"expected {_list(expected)}, but the file ends here", Label(end))


def _unclosed(text: str) -> int | None:
    """The innermost bracket that is still open at the end."""
    stack: list[int] = []
    for found in re.finditer(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*|[()\[\]{}]', text):
        sign = found.group()
        if sign in "([{":
            stack.append(found.start())
        elif sign in ")]}" and stack and text[stack[-1]] == _OPENING[sign]:
            stack.pop()
    return stack[-1] if stack else None


def _list(expected: set[str]) -> str:
    if {"NAME", "INT", "STRING", "LPAR"} <= expected:
        return "an expression"
    if {"RULE", "FN", "PASS"} <= expected:
        return "an item (`rule`, `fn`, `op`, `param`, `pass`, `test`, `use`)"
    shown = sorted({
        _SHOWN.get(name, f"`{name.lower()}`")
        for name in expected if not name.startswith("__") and name != "BOTH_ARROW"
    })
    if len(shown) > 4:
        first: list[str] = ["`;`", "`=>`", "`)`", "`]`", "`}`", "`,`", "`:`", "`=`", "a name"]
        shown = [s for s in first if s in shown][:3] or shown[:3]
    return " or ".join(shown) if shown else "something else"
