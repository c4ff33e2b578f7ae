"""Brackets that do not pair up: which one is at fault, and where its partner is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_PARTNER: Final = {"(": ")", "[": "]", "{": "}", ")": "(", "]": "[", "}": "{"}
_SIGN: Final = re.compile(r'"[^\n]*|=>|->|[;()\[\]{}]')  # a string that does not end takes its line
_TEMPLATE: Final = re.compile(r"\b(?:each|chain)\s+\w+\s+in\b[^;{}]*\Z")
_MATCH: Final = re.compile(r"\bmatch\b[^;{}]*\Z")


@dataclass(frozen=True, slots=True)
class Unclosed:
    """The bracket at `opening` is open where that cannot be: at `before`. `closing` would close it, and the
    brackets around it that are open as well."""

    opening: int
    before: int
    closing: str


@dataclass(frozen=True, slots=True)
class Unopened:
    """Nothing is open that the bracket at `closing` could close."""

    closing: int


@dataclass(frozen=True, slots=True)
class Mismatched:
    """The bracket at `opening` is closed by one of another kind."""

    opening: int
    closing: int


def unpaired(code: str, start: int, end: int) -> Unclosed | Unopened | Mismatched | None:
    """The first bracket at fault between two offsets. `code`: without comments and strings."""
    if _pairs_up(code[start:end]):
        return None
    stack: list[int] = []
    for found in _SIGN.finditer(code, start, end):
        sign, at = found.group(), found.start()
        stops = sign in ("=>", "->", ";") or sign == "{" and "{" in _may_contain(code, at)
        if stops and stack and sign not in _may_contain(code, stack[-1]):
            inner = len(stack)
            while inner and sign not in _may_contain(code, stack[inner - 1]):
                inner -= 1
            return Unclosed(stack[-1], at, _closing(code, stack[inner:]))
        if sign in "([{":
            stack.append(at)
        elif sign in ")]}":
            if not stack or code[stack[-1]] != _PARTNER[sign]:
                return _wrongly_closed(code, start, end, stack, at)
            stack.pop()
    return Unclosed(stack[-1], end, _closing(code, stack)) if stack else None


def _wrongly_closed(
    code: str, start: int, end: int, stack: list[int], at: int
) -> Unclosed | Unopened | Mismatched:
    """The fault at a closing bracket that does not fit the innermost open one."""
    sign = code[at]
    around = max((k for k, opening in enumerate(stack) if code[opening] == _PARTNER[sign]), default=None)
    if stack:
        right = _PARTNER[code[stack[-1]]]
        if _pairs_up(code[start:at] + right + code[at + 1 : end]):
            return Mismatched(stack[-1], at)
        if around is None and right != "}" and not _pairs_up(code[start:at] + code[at + 1 : end]):
            return Mismatched(stack[-1], at)
    if around is None:
        return Unopened(at)
    return Unclosed(stack[-1], at, _closing(code, stack[around + 1 :]))


def _may_contain(code: str, opening: int) -> str:
    """The signs, among `=>`, `->`, `;` and the `{` of a block, that may stand in a bracket."""
    before = code[max(0, opening - 400) : opening]
    if code[opening] != "{" or before.endswith("."):
        return ""
    if _TEMPLATE.search(before):
        return ";{"
    return "=>" if _MATCH.search(before) else "=>;->{"


def _closing(code: str, openings: list[int]) -> str:
    return "".join(_PARTNER[code[opening]] for opening in reversed(openings))


def _pairs_up(code: str) -> bool:
    stack: list[str] = []
    for found in _SIGN.finditer(code):
        sign = found.group()
        if sign in "([{":
            stack.append(sign)
        elif sign in ")]}" and (not stack or stack.pop() != _PARTNER[sign]):
            return False
    return not stack
