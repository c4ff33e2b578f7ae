"""Text → `Program`, with all syntax errors of the file: after an error, reading goes on at the next item.

`parse` never raises for a user's mistake. Lark is imported only when something is parsed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.decode import not_text
from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import read_bytes
from gslang.base.source import Source, Span
from gslang.syntax import lalr
from gslang.syntax import nodes as n
from gslang.syntax.grammar import grammar

if TYPE_CHECKING:
    from lark import Token, Tree

_MOST_ERRORS = 20
_MOST_BRACKETS = 1000  # far more than expressions may be nested; more are not even parsed
_BRACKET = re.compile(r"[()\[\]{}]")
_WORD = r"(?:rule|fn|pass|test|use|dialect)\b"
# an indented word before a colon is a name that is none, of an input
_KEYWORD = (
    rf"(?:(?<![ \t]){_WORD}(?!\s*[=,);}}])|{_WORD}(?!\s*[=,:);}}])|op\s+[A-Za-z_]|param\s+\w+\s*:)"
)
_ANNOTATION = r"@[ \t]*\w+(?:\s*\((?:[^()]|\([^()]*\))*\))?\s*"
_ITEM = rf"^[ \t]*(?P<item>(?:{_ANNOTATION})+{_KEYWORD}?|{_KEYWORD})"
_NAMED = re.compile(r"\b(?:rule|pass|fn|op|param)\s+([A-Za-z_][\w.]*)")
_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*')


@dataclass(frozen=True)
class Parsed:
    """`program` holds the items that could be read. `lost`: names of items that could not be read."""

    program: n.Program
    diagnostics: tuple[Diagnostic, ...]
    lost: frozenset[str] = frozenset()


def read_source(path: str | Path) -> Source | Diagnostic:
    """The text of a file.

    A file that is not UTF-8 is a diagnostic; one that cannot be opened raises `OSError`.
    """
    return source_of(str(path), read_bytes(path))


def source_of(name: str, data: bytes) -> Source | Diagnostic:
    """The text in a file's bytes, its line ends (also those of other systems) as line feeds; or that it is
    not UTF-8.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        head = Source(name, _line_feeds(data[: error.start].decode("utf-8")))
        message, help = not_text(data, error.start)
        at = len(head.text)
        return Diagnostic("E0101", message, Label(Span(head, at, at)), help=help)
    return Source(name, _line_feeds(text))


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse(source: Source) -> Parsed:
    """Parse a file. `Parsed.program` has every item that is well-formed."""
    docs, file_doc, code = _comments(source)
    diagnostics: list[Diagnostic] = []
    text = source.text
    if "\0" in text:
        at = text.index("\0")
        diagnostics.append(Diagnostic(
            "E0101", "a NUL character", Label(Span(source, at, at + 1)), help="is this a text file?"
        ))
        text = text.replace("\0", " ")
    items: list[n.Item] = []
    lost: set[str] = set()
    for deep, (start, end) in _too_deep(source, code):
        diagnostics.append(deep)
        lost.update(_NAMED.findall(code, start, end))
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    while True:
        tree, problem, bad = _attempt(source, text, code)
        if tree is not None:
            found, more, bad = _nodes(tree, source, docs)
            if bad is None:
                items = found
                break
            diagnostics.append(more)  # type: ignore[arg-type]
        else:
            assert problem is not None
            diagnostics.append(problem)
        assert bad is not None
        if len(diagnostics) >= _MOST_ERRORS:
            break
        start, end = bad
        lost.update(_NAMED.findall(code, start, end))
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    program = n.Program(file_doc, tuple(items), span=Span(source, 0, len(source.text)))
    return Parsed(program, tuple(sorted(diagnostics, key=lambda d: d.order)), frozenset(lost))


def _attempt(
    source: Source, text: str, code: str
) -> tuple[Tree[Token] | None, Diagnostic | None, tuple[int, int] | None]:
    """Parse once; on an error, what is wrong and which item to leave out next time."""
    from lark import UnexpectedInput

    try:
        return lalr.parse(grammar(), text), None, None
    except UnexpectedInput as error:
        at = getattr(error, "pos_in_stream", None)
        token = getattr(error, "token", None)
        if at is None or (token is not None and token.type == "$END"):
            at = len(text.rstrip())
        from gslang.syntax.mistakes import between_items, explain_syntax_error  # its tables take 15 ms

        start, end = _region(code, text, at)
        problem = explain_syntax_error(source, text, code, at, error, (start, end))
        stray = between_items(error, code[start:at]) and text[at:end].strip()
        return None, problem, (at if stray else start, end)


def _too_deep(source: Source, code: str) -> Iterator[tuple[Diagnostic, tuple[int, int]]]:
    """Items whose brackets alone are nested too deeply: the first few of them, found without parsing."""
    level = skip = count = 0
    for found in _BRACKET.finditer(code):
        level = max(0, level + (1 if found.group() in "([{" else -1))
        if level > _MOST_BRACKETS and found.start() >= skip and count < _MOST_ERRORS:
            count += 1
            start, skip = _region(code, code, found.start() + 1)
            label = Label(Span(source, found.start(), found.end()))
            yield (
                Diagnostic(
                    "E0107", f"brackets nested more than {_MOST_BRACKETS} levels deep", label,
                    help="name parts of it with statements",
                ),
                (start, skip),
            )
            level = 0


def _region(code: str, text: str, at: int) -> tuple[int, int]:
    """The item around an offset: from the last item that begins before it to the next one behind it.

    Parsing that stops where an item begins misses something in the item before.
    """
    start = 0
    for found in re.finditer(_ITEM, code, re.MULTILINE):
        if found.start("item") >= at:
            return start, found.start()
        if text[found.start() : found.end()].strip():
            start = found.start()
    return start, len(text)


def _nodes(
    tree: Tree[Token], source: Source, docs: dict[int, str]
) -> tuple[list[n.Item], Diagnostic | None, tuple[int, int] | None]:
    from lark import Tree as LarkTree

    from gslang.syntax.tree_to_expressions import DEEPEST, BadString, Malformed, Reserved, TooDeep
    from gslang.syntax.tree_to_nodes import Builder

    builder = Builder(source, lambda offset: _doc_before(source, docs, offset))
    items: list[n.Item] = []
    for child in tree.children:
        if not isinstance(child, LarkTree):
            continue
        region = (child.meta.start_pos, child.meta.end_pos)
        try:
            items.append(builder.build(child))
        except TooDeep as error:
            message = f"nested more than {DEEPEST} levels deep"
            hint = "name parts of it with statements"
            return [], Diagnostic("E0107", message, Label(error.span), help=hint), region
        except Reserved as error:
            sign = "<=>" if "<=>" in error.what else "{"
            at = source.text.index(sign, error.span.start)
            span = Span(source, at, at + len(sign))
            message = f"{error.what} is reserved for a later version"
            return (
                [],
                Diagnostic(
                    "E0108", message, Label(span),
                    help="write a rule for each direction" if sign == "<=>"
                    else "write `fn name(…) = expression;`",
                ),
                region,
            )
        except Malformed as error:
            code = "E0104" if isinstance(error, BadString) else "E0102"
            return [], Diagnostic(code, error.message, Label(error.span), help=error.hint), region
    return items, None, None


def _doc_before(source: Source, docs: dict[int, str], offset: int) -> str | None:
    """The `##` lines right above the item that begins at `offset`.

    Where it does not begin its line, they belong to what does.
    """
    line, column = source.position(offset)
    if source.line(line)[: column - 1].strip(" \t\ufeff"):
        return None
    line -= 1
    found: list[str] = []
    while line in docs:
        found.append(docs[line])
        line -= 1
    return "\n".join(reversed(found)) if found else None


def _comments(source: Source) -> tuple[dict[int, str], str | None, str]:
    """`##` texts by line; the file's `#!` text; and the text with comments and strings blanked out."""
    docs: dict[int, str] = {}
    file_doc: list[str] = []
    parts: list[str] = []
    end = 0
    for found in _COMMENT_OR_STRING.finditer(source.text):
        parts += (source.text[end : found.start()], " " * (found.end() - found.start()))
        end = found.end()
        text = found.group()
        if text.startswith('"'):
            continue
        line, column = source.position(found.start())
        alone = not source.line(line)[: column - 1].strip()
        if alone and text.startswith("##") and not text.startswith("###"):
            docs[line] = text[2:].removeprefix(" ").rstrip()
        elif alone and text.startswith("#!"):
            file_doc.append(text[2:].removeprefix(" ").rstrip())
    parts.append(source.text[end:])
    return docs, "\n".join(file_doc) or None, "".join(parts)
