"""Syntax errors that teach: what was expected and where, and how to fix it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Source, Span
from gslang.base.suggest import did_you_mean
from gslang.syntax.accepted import accepted, is_item, listed
from gslang.syntax.brackets import Mismatched, Unclosed, Unopened, unpaired
from gslang.syntax.foreign_forms import foreign_form
from gslang.syntax.keywords import keyword_for_name
from gslang.syntax.mends import NAMED, TABLE, TABLE_BEFORE, mend, mend_table

if TYPE_CHECKING:
    from lark import UnexpectedInput

_RANGE: Final = (
    "write `range(n)` to count up to a value: `[e for i in range(n)]`; for a number of instances given by a "
    "value, write `each b in n { … }`"
)

_BRACKETS: Final = {"(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE"}

# Keywords that stand before something: misspelt, they are names to the parser, and it stops behind them.
_PREFIXES: Final = ("chain", "each", "keep", "match", "not", "ordered", "repeat")
_FAR: Final = 400  # characters before an error that are looked at
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\w+|=>|<=>|->|:=|[=!<>]=|\S')
_BROKEN_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*$', re.MULTILINE)
_STRING: Final = re.compile(r'\s*"(?:[^"\\\n]|\\.)*"')
_COMMENT: Final = re.compile(r"/[/*]|--|'")  # of another language: what follows is none of this one's
_WORD_BEFORE: Final = re.compile(r"(\w+)\s*\Z")
_NAMELESS: Final = re.compile(r"\b(for|each|chain)\b\s*(?:\(\s*)?(?:\w+\s*,\s*)*\Z")
_IN: Final = re.compile(r"in\b(?!\s*(?:[,){]|in\b))")
_COMPARED: Final = re.compile(r"\b(?:where|and|or|not|if)\b[^;{}]*\bin\s+[\w.]+\s*\Z")
_OPEN_DECIMAL: Final = re.compile(r"(?<![\w.])([0-9]+\.)\s*\Z")
_BLOCK: Final = re.compile(r"(?:each|chain)\s+\w+\s+in\b")
_IN_A_BLOCK: Final = re.compile(r"\b(?:each|chain)\s+\w+\s+in\b[^{}]*\{[^{}]*\Z")
_BEFORE_OPERAND: Final = re.compile(r"(?:[A-Z]\w*|\w+(?:\.\w+)+)\s*\Z")  # an operator whose `(` is missing


def explain_syntax_error(
    source: Source, text: str, code: str, at: int, error: UnexpectedInput, item: tuple[int, int]
) -> Diagnostic:
    """The diagnostic of a place where parsing cannot go on.

    `code` is the text without comments and strings; `item`: where the item that is at fault begins and ends.
    """
    expected = accepted(error)
    rest = text[at:]
    width = len(match.group()) if (match := _TOKEN.match(rest)) else 0
    here = Span(source, at, at + width)
    if _BROKEN_STRING.match(rest):
        return _broken_string(text, here)
    if not _COMMENT.match(rest) and (fault := unpaired(code, *item)) is not None:
        return _unpaired(source, text, code, at, expected, fault)
    if (nameless := _without_name(source, code, item[0], at)) is not None:
        return nameless
    if (help := mend_table(rest[:width], code[max(item[0], at - _FAR) : at])) is not None:
        message = f"expected {listed(expected)}, found `{rest[:width]}`"
        return Diagnostic("E0102", message, Label(here), help=help)
    if number := _OPEN_DECIMAL.search(text, max(item[0], at - _FAR), at):
        return Diagnostic(
            "E0106", "a number needs a digit after the decimal point", Label(Span(source, *number.span(1))),
            help=f"write `{number[1]}0`",
        )
    if _BLOCK.match(code, at) and _IN_A_BLOCK.search(code, item[0], at):
        return Diagnostic(
            "E0404", "blocks cannot be nested", Label(here), help="write out the inner one for a fixed number"
        )
    if (word := keyword_for_name(code, item[0], at, expected)) is not None:
        return _keyword_as_name(Span(source, *word))
    if (misspelt := _misspelt(source, text, at, rest[:width])) is not None:
        return misspelt
    previous = _end_before(text, code, at)
    names_only = expected == {"COMMA", "IN"}  # what is behind them is no form of its own
    if not names_only and (form := foreign_form(text, at, expected)) is not None:
        start, end, message, hint = form
        return Diagnostic("E0106", message, Label(Span(source, start, end)), help=hint)
    if (dots := _bounds(text, at, previous)) is not None:
        compared = _COMPARED.search(text, item[0], dots) is not None
        return _misplaced_range(Span(source, dots, dots + 2), compared)
    gap = Label(Span(source, previous, previous), "expected `;` here")
    if not rest.strip() or width == 0:
        if "SEMICOLON" in expected:
            return Diagnostic("E0103", "a `;` is missing", gap, help="end statements and items with `;`")
        return Diagnostic(
            "E0102", f"expected {listed(expected)}, but the file ends here", Label(here),
            help="complete the last item of the file, or remove it",
        )
    found = f"`{rest[:width]}`"
    if "SEMICOLON" in expected and not expected & {"ARROW", "RBRACE"}:
        return Diagnostic(
            "E0103", "a `;` is missing", gap, related=(Label(here, f"before {found}"),),
            help="end statements and items with `;`",
        )
    help = mend(rest[:width], text[max(0, previous - _FAR) : previous], expected, "=>" in code[slice(*item)])
    return Diagnostic("E0102", f"expected {listed(expected)}, found {found}", Label(here), help=help)


def _misplaced_range(dots: Span, compared: bool) -> Diagnostic:
    if compared:
        return Diagnostic(
            "E0102", "`..` is no value of a condition", Label(dots),
            help="compare: `2 <= x.ndim <= 4`, or list the values: `x.ndim in (2, 3)`",
        )
    return Diagnostic("E0102", "the bounds of a range must be numbers", Label(dots), help=_RANGE)


def between_items(error: UnexpectedInput, before: str) -> bool:
    """True if the item before the place where parsing stopped is complete."""
    return is_item(accepted(error)) and before.rstrip()[-1:] in ("", ";", "}")


def _broken_string(text: str, here: Span) -> Diagnostic:
    word = re.search(r"[A-Za-z_]\w*\Z", text[max(0, here.start - _FAR) : here.start])
    help = f'write `"{word.group()}"`' if word else 'close it with `"`'
    return Diagnostic("E0104", "this string is not terminated", Label(here), help=help)


def _unpaired(
    source: Source, text: str, code: str, at: int, expected: set[str],
    fault: Unclosed | Unopened | Mismatched,
) -> Diagnostic:
    """The diagnostic of a bracket without its partner: at the bracket, or where the partner is missing."""
    if isinstance(fault, Unopened):
        return _unopened(source, text, code, at, expected, fault.closing)
    opened = Label(Span(source, fault.opening, fault.opening + 1), "opened here")
    bracket = code[fault.opening]
    if isinstance(fault, Mismatched):
        wrong, right = code[fault.closing], {"(": ")", "[": "]", "{": "}"}[bracket]
        return Diagnostic(
            "E0105", f"`{bracket}` is closed by `{wrong}`",
            Label(Span(source, fault.closing, fault.closing + 1)), related=(opened,),
            help=f"close it with `{right}`",
        )
    stopped = fault.opening < at < fault.before and _BRACKETS[fault.closing[0]] in expected
    gap = _end_before(text, code, at if stopped else fault.before)
    return Diagnostic(
        "E0105", f"`{bracket}` is never closed", opened,
        related=(Label(Span(source, gap, gap), f"expected `{fault.closing}` here"),),
        help=f"close it with `{fault.closing}`" if len(fault.closing) == 1
        else f"close it, and the brackets around it, with `{fault.closing}`",
    )


def _unopened(
    source: Source, text: str, code: str, at: int, expected: set[str], closing: int
) -> Diagnostic:
    """The diagnostic of a closing bracket: its partner is missing where parsing stopped before it, if it may
    stand there.
    """
    closed = Span(source, closing, closing + 1)
    bracket = {")": "(", "]": "[", "}": "{"}[code[closing]]
    inside = code.count("(", 0, at) > code.count(")", 0, at)
    missing = at < closing and _BRACKETS[bracket] in expected
    if missing and (bracket != "(" or not inside or _BEFORE_OPERAND.search(text[max(0, at - _FAR) : at])):
        gap = _end_before(text, code, at)
        return Diagnostic(
            "E0105", f"a `{bracket}` is missing", Label(Span(source, gap, gap), f"expected `{bracket}` here"),
            related=(Label(closed, "closed here"),), help=f"open it with `{bracket}`",
        )
    return Diagnostic(
        "E0105", f"`{code[closing]}` has no opening bracket", Label(closed),
        help=f"remove it, or open it with `{bracket}`",
    )


def _keyword_as_name(word: Span) -> Diagnostic:
    help = f"`{word.text}` is a keyword: choose another name"
    return Diagnostic("E0102", f"expected a name, found `{word.text}`", Label(word), help=help)


def _without_name(source: Source, code: str, start: int, at: int) -> Diagnostic | None:
    """The diagnostic of `for`, `each` or `chain` with an `in` right behind it, or behind a comma."""
    before = code[max(start, at - _FAR) : at]
    word = _NAMELESS.search(before)
    if word is None or not _IN.match(code, at):
        return None
    named = TABLE if TABLE_BEFORE.search(before) else f"write {NAMED[word[1]]}"
    return Diagnostic("E0102", "expected a name before `in`", Label(Span(source, at, at + 2)), help=named)


def _misspelt(source: Source, text: str, at: int, found: str) -> Diagnostic | None:
    """The diagnostic of a word before the place where parsing stopped that was to be a keyword; a word that
    stands elsewhere too is a name.
    """
    word = _WORD_BEFORE.search(text, max(0, at - _FAR), at)
    if (
        word is None or not re.match(r"[\w({]", found) or not (word[1].islower() or word[1].isupper())
        or len(re.findall(rf"\b{word[1]}\b", text)) > 1
    ):
        return None
    meant = did_you_mean(word[1], _PREFIXES)
    if meant is None or meant == word[1]:
        return None
    return Diagnostic(
        "E0102", f"`{word[1]}` is not a keyword", Label(Span(source, *word.span(1))),
        help=f"did you mean `{meant}`?",
    )


def _bounds(text: str, at: int, previous: int) -> int | None:
    """Where the `..` of a range stands whose bounds are no numbers, if parsing stopped there."""
    dots = at - 1 if text[at - 1 : at + 1] == ".." else at if text.startswith("..", at) else previous - 2
    if not text[: max(dots, 0)].strip() or text[dots : dots + 2] != "..":
        return None
    bound = dots >= at - 1 or re.compile(r"(?!\w+\s*=[^=])[\w(-]").match(text, at)
    return dots if bound else None


def _end_before(text: str, code: str, at: int) -> int:
    """Where the last token before an offset ends; a comment is none."""
    end = len(code[:at].rstrip())
    while (string := _STRING.match(text, end, at)) is not None and not code[end : string.end()].strip():
        end = string.end()
    return end
