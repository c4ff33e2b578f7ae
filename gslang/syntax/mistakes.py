"""Syntax errors that teach: what was expected and where, and forms of neighbouring languages named as such."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Source, Span

if TYPE_CHECKING:
    from lark import UnexpectedInput

# Forms of other languages: what stands at the error → (what it is, what to write).
_FOREIGN = (
    (re.compile(r"&&"), "`&&` is `and` here", "write `and`"),
    (re.compile(r"\|\|"), "`||` is `or` here", "write `or`"),
    (re.compile(r"!(?!=)"), "`!` is `not` here", "write `not`"),
    (re.compile(r"lambda\b"), "there is no `lambda`", "declare a function: `fn name(x) = …;`"),
    (re.compile(r"def\b"), "there is no `def`", "declare a function: `fn name(x) = …;`, or a rule: `rule name(x): … => …;`"),
    (re.compile(r"'"), "strings stand in double quotes", 'write `"…"`'),
    (re.compile(r"/\*"), "comments begin with `#`", "write `# …`"),
    (re.compile(r"->"), "`->` belongs to operator declarations; a rule is written with `=>`", "write `=>`"),
    (re.compile(r"=="), "`==` compares; an attribute is constrained with `=`", "write `=`"),
    (re.compile(r":="), "`:=` needs parentheses around it", "write `(name := pattern)`"),
    (re.compile(r"\.[0-9]"), "a number needs a digit before its point", "write `0.5`"),
    (re.compile(r"[^\x00-\x7f]"), "identifiers are ASCII", "use letters, digits and `_`"),
)  # fmt: skip

# Terminals as a person would write them.
_SHOWN = {
    "SEMICOLON": "`;`", "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`",
    "COMMA": "`,`", "COLON": "`:`", "EQUAL": "`=`", "ARROW": "`=>`", "RESULT_ARROW": "`->`", "DOT": "`.`", "NAME": "a name",
    "INT": "a number", "STRING": "a string", "DOUBLE_DOT": "`..`", "BECOMES": "`:=`", "AT": "`@`", "QUESTION": "`?`", "STAR": "`*`",
    "BOTH_ARROW": "`<=>`", "FLOAT": "a number", "COMPARE": "a comparison",
}  # fmt: skip

_OPENING = {")": "(", "]": "[", "}": "{"}


def explain_syntax_error(source: Source, text: str, at: int, error: UnexpectedInput) -> Diagnostic:
    """The diagnostic of a place where parsing cannot go on."""
    expected = {str(name) for name in (getattr(error, "expected", None) or getattr(error, "allowed", None) or ())}
    rest = text[at:]
    width = len(match.group()) if (match := re.match(r"\w+|=>|<=>|->|:=|[=!<>]=|\S", rest)) else 0
    here = Span(source, at, at + width)
    if text[at : at + 1] == '"':
        return Diagnostic("E0104", "this string does not end on its line", Label(here), help='close it with `"`')
    previous = len(text[:at].rstrip())
    for pattern, message, mend in _FOREIGN:
        if pattern.match(rest) and not (message.startswith("`==`") and "EQUAL" not in expected and "COMMA" not in expected):
            return Diagnostic("E0106", message, Label(here), help=mend)
    if text[at : at + 1] == "=" and "ARROW" in expected and text[at : at + 2] != "=>":
        return Diagnostic("E0106", "`=` binds a name; source and target are joined by `=>`", Label(here), help="write `=>`")
    if text[at : at + 1] == ">" and text[previous - 1 : previous] == "-":
        span = Span(source, previous - 1, at + 1)
        return Diagnostic("E0106", "`->` belongs to operator declarations; a rule is written with `=>`", Label(span), help="write `=>`")
    if not rest.strip() or width == 0:
        return _at_the_end(source, text, at, expected)
    found = f"`{here.text if here.end <= len(source.text) else rest[:width]}`"
    if "SEMICOLON" in expected and "ARROW" not in expected or ("SEMICOLON" in expected and source.position(at)[0] > source.position(max(previous - 1, 0))[0]):
        gap = Span(source, previous, previous)
        return Diagnostic(
            "E0103", "a `;` is missing", Label(gap, "expected `;` here"), related=(Label(here, f"before {found}"),),
            help="end statements and items with `;`",
        )  # fmt: skip
    keyword = re.fullmatch(r"[A-Za-z_]+", rest[:width]) is not None and "NAME" in expected
    help = f"`{rest[:width]}` is a keyword: choose another name" if keyword else None
    return Diagnostic("E0102", f"expected {_list(expected)}, found {found}", Label(here), help=help)


def _at_the_end(source: Source, text: str, at: int, expected: set[str]) -> Diagnostic:
    opening = _unclosed(text)
    end = Span(source, at, at)
    if opening is not None:
        bracket = text[opening]
        return Diagnostic(
            "E0105", f"`{bracket}` is never closed", Label(Span(source, opening, opening + 1), "opened here"),
            related=(Label(end, "the file ends here"),), help=f"close it with `{dict(zip('([{', ')]}'))[bracket]}`",
        )  # fmt: skip
    if "SEMICOLON" in expected:
        return Diagnostic("E0103", "a `;` is missing", Label(end, "expected `;` here"), help="end statements and items with `;`")
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
        return "an item (`rule`, `fn`, `op`, `pass`, `test`, `use`)"
    shown = sorted({_SHOWN.get(name, f"`{name.lower()}`") for name in expected if not name.startswith("__")})
    if len(shown) > 4:
        first: list[str] = ["`;`", "`=>`", "`)`", "`]`", "`}`", "`,`", "`:`", "`=`", "a name"]
        shown = [s for s in first if s in shown][:3] or shown[:3]
    return " or ".join(shown) if shown else "something else"
