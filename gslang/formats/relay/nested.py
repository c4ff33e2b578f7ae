"""Nested function values, carried as text.

A nested function becomes one node: operator "fn", attribute `text`, operands what it captures. In the text
captured variables are `%^0`, `%^1`, … in the order of the operands, and numbered bindings count from `%0`, so
that equal functions have equal texts wherever they stand. `text` has one fixed layout and no comments; the
extra "commented" is as it was written.
"""

from __future__ import annotations

import re
from typing import Final

from gslang.formats.relay.attributes import read_string, write_string
from gslang.formats.relay.body import Body
from gslang.formats.relay.comments import stated_type
from gslang.formats.relay.function import read_function
from gslang.formats.relay.lexer import Tokens
from gslang.formats.relay.module import FN
from gslang.formats.relay.types_text import type_of_comment

MAX_DEPTH: Final = 40
_NO_BLANK_BEFORE: Final = frozenset((",", ";", ")", "]", ":"))
_ATTRIBUTE: Final = re.compile(r"[^\W\d][\w.]*\s*=")


def read_nested(outer: Body, at: int) -> tuple[int, int]:
    """The function value whose `fn` is token `at`: (its node, index behind it)."""
    inner = Body(outer.context, outer)
    if inner.depth > MAX_DEPTH:
        outer.problems.error(at, f"functions are nested more than {MAX_DEPTH} levels deep")
    function = read_function(inner, "fn", at + 1)
    outer.calls += inner.calls
    for name, value_at in inner.inner.items():
        outer.inner.setdefault(name, value_at)
    operands = list(inner.captured)
    position = {outside: k for k, outside in enumerate(operands)}
    if outer.outer is None:
        replaced = {}
        for token_at, (kind, number, _, rest) in inner.spelled.items():
            replaced[token_at] = f"%^{position[number]}{rest}" if kind == "captured" else f"%{number}{rest}"
        text = _layout(outer.context.tokens, at, function.end, replaced)
        commented = _verbatim(outer.context.tokens, at, function.end, replaced)
    else:
        _adopt(outer, inner)
        text = commented = ""
    outer.where.append(at)
    node = outer.graph.add(FN, operands, {"text": text})
    if outer.outer is None and commented != text:
        outer.graph.extras[node] = {"commented": commented}
    outer.result_types[node] = function.result_type
    for comment in outer.notes.get(function.end - 1, ()):
        stated = (stated_type(comment) or "").rpartition("->")[2].strip()
        if function.result_type is None and stated:
            outer.result_types[node] = type_of_comment(stated)
    return node, function.end


def _adopt(outer: Body, inner: Body) -> None:
    """The text of the tokens of `inner`, which stands in another nested function, inside the text of that
    one."""
    base = outer.counter
    outer.counter += inner.counter
    for at, (kind, number, name, rest) in inner.spelled.items():
        if kind == "number":
            outer.spelled[at] = ("number", base + number, "", rest)
        elif number in outer.captured_as:
            outer.spelled[at] = ("captured", outer.captured_as[number], name, rest)
        elif name in outer.numbering:
            outer.spelled[at] = ("number", outer.numbering[name], "", rest)


def _verbatim(tokens: Tokens, first: int, end: int, replaced: dict[int, str]) -> str:
    """The source of tokens `first` … `end - 1`, tokens replaced, indented as if its first line were not."""
    source, starts = tokens.source, tokens.starts
    pieces: list[str] = []
    done = starts[first]
    for at in range(first, end):
        token = tokens.text[at]
        new = replaced.get(at)
        if new is None and token[0] == '"' and "\n" in token:
            new = write_string(read_string(token))
        if new is not None:
            pieces += (source[done : starts[at]], new)
            done = tokens.end_of(at)
    pieces.append(source[done : tokens.end_of(end - 1)])
    line = source.rfind("\n", 0, starts[first]) + 1
    indent = len(source[line:]) - len(source[line:].lstrip(" \t"))
    lines = "".join(pieces).replace("\r\n", "\n").split("\n")
    blank = re.compile(rf"[ \t]{{0,{indent}}}")
    return "\n".join([lines[0], *(blank.sub("", text, count=1).rstrip() for text in lines[1:])])


def _layout(tokens: Tokens, first: int, end: int, replaced: dict[int, str]) -> str:
    """The same tokens in TVM's layout, without comments."""
    lines: list[str] = []
    line = ""
    depth = 0
    blocks: list[bool] = []
    previous = ""
    for at in range(first, end):
        token = replaced.get(at, tokens.text[at])
        if token[0] == '"':
            token = write_string(read_string(token))
        elif token.startswith("Tensor[") or _ATTRIBUTE.match(token):
            token = _tidy(token)
        if token == "}":
            block = blocks.pop() if blocks else True
            if block:
                lines.append("  " * depth + line) if line else None
                depth -= 1
                line = "}"
            else:
                line += "}"
        elif token == "{":
            block = previous[:1] != "%" or previous.endswith("=")
            blocks.append(block)
            line += " {" if previous != "{" and line else "{"
            if block:
                lines.append("  " * depth + line)
                line = ""
                depth += 1
        elif token in (";", ";;"):
            lines.append("  " * depth + line + ";")
            line = ""
        else:
            line += _gap(previous, token, line) + token
        previous = token
    if line:
        lines.append("  " * depth + line)
    return "\n".join(lines)


def _gap(previous: str, token: str, line: str) -> str:
    if not line or token in _NO_BLANK_BEFORE or token[0] == ".":
        return ""
    if previous in ("(", "[") or (
        token in ("(", "[") and previous not in (",", "=", "->", ":", "fn") and previous[-1:] != "="
    ):
        return ""
    if token == "[" and previous == "fn":
        return ""
    if previous[-1:] == "=" and previous[:1] != "%" and previous not in ("=", "=="):
        return ""
    if previous == "{":
        return ""
    return " "


def _tidy(token: str) -> str:
    """One blank behind each comma, none elsewhere (outside strings)."""
    if '"' in token:
        return token
    return ", ".join(part.strip() for part in re.sub(r"\s*=", "=", token).split(","))
