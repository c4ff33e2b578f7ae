"""The terminals that the grammar accepts where parsing stopped, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lark import UnexpectedInput

# Terminals as a person would write them.
SHOWN: Final = {
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


def accepted(error: UnexpectedInput) -> set[str]:
    """Names of the terminals that the grammar would take."""
    names = (
        getattr(error, "accepts", None) or getattr(error, "allowed", None) or getattr(error, "expected", None)
    )
    return set(map(str, names or ()))


def is_expression(expected: set[str]) -> bool:
    """True if an expression may begin here."""
    return {"NAME", "INT", "STRING", "LPAR"} <= expected


def is_item(expected: set[str]) -> bool:
    """True if an item may begin here."""
    return {"RULE", "FN", "PASS"} <= expected and "NAME" not in expected  # those are names of attributes, too


def listed(expected: set[str]) -> str:
    """The terminals as a message lists them, at most four."""
    if is_expression(expected):
        return "an expression"
    if is_item(expected):
        return "an item (`rule`, `fn`, `op`, `param`, `pass`, `test`, `use`)"
    if {"RULE", "FN", "PASS"} <= expected:
        return "the name of an attribute"
    shown = sorted({
        SHOWN.get(name, f"`{name.lower()}`")
        for name in expected if not name.startswith("__") and name != "BOTH_ARROW"
    })
    if len(shown) > 4:
        first: list[str] = ["`;`", "`=>`", "`)`", "`]`", "`}`", "`,`", "`:`", "`=`", "a name"]
        shown = [s for s in first if s in shown][:3] or shown[:3]
    if not shown:
        return "something else"
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
