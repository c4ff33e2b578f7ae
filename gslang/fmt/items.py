"""Items → documents: rules, tests, declarations, passes, and how far apart they stand.

The text is known to parse, so each item is read off its first words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.fmt.expressions import bracket, comment_lines, expression, flat, split, token_doc
from gslang.fmt.layout import WIDTH, Above, Doc, Fill, Group, Indent, Line, Trailing, forces_break, group
from gslang.fmt.tokens import Bracket, Part, Token, first, has_comments, last

# characters: names of neighbouring statements that differ by at most this have their `=` in line
_ALIGNED = 4
_HARD = Line("", hard=True)


@dataclass(frozen=True, slots=True)
class Item:
    """`parts`: from the first annotation to the closing `;` or `}`."""

    parts: list[Part]
    word: str  # rule, test, op, …


def _is(part: Part | None, text: str) -> bool:
    return isinstance(part, Token) and part.text == text and part.kind != "string"


def _is_block(part: Part | None) -> bool:
    return isinstance(part, Bracket) and part.open.text == "{"


def items(parts: list[Part]) -> Iterator[Item]:
    """Cut the file into items; `parts` without its end token."""
    at = 0
    while at < len(parts):
        start = at
        while _is(parts[at], "@"):
            at += 2
            if isinstance(parts[at], Bracket):
                at += 1
        word = first(parts[at]).text
        if word in ("test", "pass"):
            while not _is_block(parts[at]):
                at += 1
        elif word == "rule":
            while not _is(parts[at], ":") and not _is_block(parts[at]):
                at += 1
            if _is(parts[at], ":"):
                while not _is(parts[at], "=>"):
                    at += 1
                at = _side_end(parts, at + 1)
                while not _is(parts[at], ";"):
                    at += 1
        else:
            while not _is(parts[at], ";"):
                at += 1
        at += 1
        yield Item(parts[start:at], word)


def _side_end(parts: Sequence[Part], at: int) -> int:
    """The index behind the statements that begin at `at`: where the outputs begin."""
    while at < len(parts):
        if _is_template(parts, at):
            at = _template(parts, at) + 1
        elif (
            at + 1 < len(parts) and isinstance(parts[at], Token)
            and (_is(parts[at + 1], "=") or _is(parts[at + 1], ":"))
        ):
            while not _is(parts[at], ";"):
                at += 1
            at += 1
        else:
            break
    return at


def _is_template(parts: Sequence[Part], at: int) -> bool:
    """True if an `each` or a `chain` begins here; `chain` may be a name too."""
    return (
        _is(parts[at], "each") or _is(parts[at], "chain") and at + 2 < len(parts) and _is(parts[at + 2], "in")
    )


def _template(parts: Sequence[Part], at: int) -> int:
    """The index of the block of an `each` or `chain` that begins at `at`; the arms of a `match` in its bounds
    are not it.
    """
    arms = 0
    while not _is_block(parts[at]) or arms:
        if _is_block(parts[at]):
            arms -= 1
        elif _is(parts[at], "match") and not _is(parts[at - 1], "."):
            arms += 1
        at += 1
    return at


def item_doc(item: Item) -> Doc:
    """The item, without the comments above its first token."""
    parts, docs = item.parts, []
    at = 0
    while _is(parts[at], "@"):
        stop = at + 3 if isinstance(parts[at + 2], Bracket) else at + 2
        docs += [_words(parts[at:stop]), _HARD]
        at = stop
    parts = parts[at:]
    match item.word:
        case "rule" if not _is_block(parts[-1]):
            docs.append(_line_rule(parts))
        case "rule" | "test":
            docs.append(_block(parts))
        case "pass":
            docs.append((_words(parts[:-1]), " ", _pass_block(parts[-1])))
        case "op":
            docs.append(_op(parts))
        case "fn":
            docs.append(_fn(parts))
        case "param":
            docs.append(_param(parts))
        case _:
            docs.append(_use(parts))
    return tuple(docs)


def _words(parts: Sequence[Part], fill: bool = False) -> Doc:
    """Header words in a row: a name and its brackets stand together."""
    docs: list[Doc] = []
    before: Part | None = None
    tight = True
    for part in parts:
        # a row of a table is not a call
        apart = before is not None and any(_is(before, text) for text in ("for", "in", ","))
        joined = (
            isinstance(part, Bracket) and not apart or any(_is(part, text) for text in (".", ":", ";", ","))
        )
        if not tight and not joined:
            docs.append(" ")
        docs.append(token_doc(part) if isinstance(part, Token) else bracket(part, before, fill))
        tight = _is(part, ".") or _is(part, "@")
        before = part
    return tuple(docs)


def _use(parts: list[Part]) -> Doc:
    if len(parts) > 2 and isinstance(parts[-2], Bracket):
        return (_words(parts[:-2]), " ", bracket(parts[-2], parts[-3]), token_doc(first(parts[-1])))
    return _words(parts)


def _op(parts: list[Part]) -> Doc:
    at = next(k for k, part in enumerate(parts) if isinstance(part, Bracket))
    arrow = at + 1
    end = next(
        (k for k in range(arrow, len(parts)) if _is(parts[k], "is") or _is_block(parts[k])), len(parts) - 1
    )
    docs: list[Doc] = [
        _words(parts[: at + 1], fill=True), " ", token_doc(first(parts[arrow])), " ",
        expression(parts[arrow + 1 : end]),
    ]
    if _is_block(parts[end]):
        docs += [" ", expression(parts[end : end + 1])]
        end += 1
    if end < len(parts) - 1:
        names, commas = split(parts[end + 1 : -1])
        traits = [
            (expression(name), token_doc(commas[k])) if k < len(commas) else expression(name)
            for k, name in enumerate(names)
        ]
        docs.append(group(Indent((Line(), token_doc(first(parts[end])), " ", Fill(tuple(traits))))))
    docs.append(token_doc(first(parts[-1])))
    return group(tuple(docs))


def _fn(parts: list[Part]) -> Doc:
    equals = next((k for k, part in enumerate(parts) if _is(part, "=")), None)
    if equals is None:  # the signature of a function in Python
        return (_words(parts[:-1]), token_doc(first(parts[-1])))
    body = parts[equals + 1 : -1]
    value = expression(body)
    head = (_words(parts[:equals]), " ", token_doc(first(parts[equals])))
    return (head, group(Indent((Line(), value))), token_doc(first(parts[-1])))


def _param(parts: list[Part]) -> Doc:
    equals = next((k for k, part in enumerate(parts) if _is(part, "=")), len(parts) - 1)
    head = (_words(parts[:3]), " ", expression(parts[3:equals]))
    value: Doc = (
        () if equals == len(parts) - 1 else (" = ", group(Indent(expression(parts[equals + 1 : -1]))))
    )
    return (head, value, token_doc(first(parts[-1])))


def _pass_block(part: Part) -> Doc:
    assert isinstance(part, Bracket)
    docs: list[Doc] = []
    broken = _written_broken(part) or has_comments(part)
    at = 0
    while at < len(part.items):
        start = at
        beside = bool(docs) and first(part.items[at]).newlines == 0
        above = _blank_above(part.items[at], bool(docs))
        if _is(part.items[at], "repeat") and _is_block(part.items[at + 1]):
            at += 2
            doc: Doc = (token_doc(first(part.items[start])), " ", _pass_block(part.items[start + 1]))
        else:
            while not _is(part.items[at], ";"):
                at += 1
            at += 1
            doc = _words(part.items[start:at])
        if beside and not above:
            docs.append(Group((Line(), doc)))
        else:
            docs += [_HARD] if docs else []
            docs.append((above, doc))
    closing = _closing(part)
    if not docs:
        return (token_doc(part.open), closing[0], token_doc(_bare(part.close)))
    return Group(
        (token_doc(part.open), Indent((Line(), *docs)), closing[0], Line(), token_doc(_bare(part.close))),
        broken or forces_break(tuple(docs)),
    )


def _bare(token: Token) -> Token:
    return Token(token.kind, token.text, token.start, token.end, trailing=token.trailing)


def _closing(part: Bracket) -> tuple[Doc]:
    lines = tuple(part.close.above)
    while lines and lines[-1] is None:
        lines = lines[:-1]
    return (Indent((_HARD, Above(lines))) if lines else "",)


def _written_broken(part: Bracket) -> bool:
    """Did the author begin a new line right behind `{`?"""
    return bool(part.items) and first(part.items[0]).newlines > 0


def _blank_above(part: Part, allowed: bool) -> Doc:
    """The comments and the blank line above a statement; its first token forgets them."""
    token = first(part)
    lines = tuple(token.above)
    token.above = []
    while lines and lines[0] is None and not allowed:
        lines = lines[1:]
    return Above(lines) if lines else ""


# ── rules and tests ──


def _line_rule(parts: list[Part]) -> Doc:
    colon = next(k for k, part in enumerate(parts) if _is(part, ":"))
    arrow = next(k for k, part in enumerate(parts) if _is(part, "=>"))
    line = _one_line(parts)
    if line is not None:
        return line
    source, target = parts[colon + 1 : arrow], parts[arrow + 1 : -1]
    inner = (Indent((_HARD, _side(source))), Indent((_HARD, _target(parts[arrow], target)), 2))
    return (_words(parts[: colon + 1]), *inner, token_doc(first(parts[-1])))


def _one_line(parts: list[Part]) -> Doc | None:
    """The item on one line, if it fits there; a comment may stand only at its end."""
    ending = parts[-1]
    token = last(ending)
    note, token.trailing = token.trailing, None
    noted = any(has_comments(part) for part in parts)
    token.trailing = note
    text = "" if noted else flat(parts)
    if noted or len(text) > WIDTH:
        return None
    return (text, Trailing(note)) if note else text


def _block(parts: list[Part]) -> Doc:
    block = parts[-1]
    assert isinstance(block, Bracket)
    block.items, block.flat = _without_semicolons(block.items), None
    if not _written_broken(block):
        line = _one_line(parts)
        if line is not None:
            return line
    arrow = next(k for k, part in enumerate(block.items) if _is(part, "=>"))
    closing = _closing(block)
    inner = (
        Indent((_HARD, _side(block.items[:arrow]))),
        Indent((_HARD, _target(block.items[arrow], block.items[arrow + 1 :])), 2),
    )
    return (
        _words(parts[:-1]), " ", token_doc(block.open), *inner, closing[0], _HARD,
        token_doc(_bare(block.close)),
    )


def _without_semicolons(parts: list[Part]) -> list[Part]:
    """Without the `;` that may stand after outputs."""
    arrow = next(k for k, part in enumerate(parts) if _is(part, "=>"))
    source, target = parts[:arrow], parts[arrow:]
    kept: list[Part] = []
    for side in (source, target):
        if side and _is(side[-1], ";") and not has_comments(side[-1]):
            side = side[:-1]
        kept += side
    return kept


def _target(arrow: Part, parts: list[Part]) -> Doc:
    """`=> outputs` on one line if it was written so and has no statements; otherwise a line for the arrow."""
    at = first(arrow)
    above: Doc = Above(tuple(at.above)) if any(a is not None for a in at.above) else ""
    shown: Doc = (above, "=>", Trailing(at.trailing) if at.trailing else "")
    if (
        _side_end(parts, 0) == 0 and first(parts[0]).newlines == 0 and not has_comments(parts[0])
        and len(flat(parts)) + 6 <= WIDTH
    ):
        return (shown, " ", _outputs(parts))
    return (shown, Indent((_HARD, _side(parts)), 2))


def _side(parts: list[Part]) -> Doc:
    """Statements, one per line, then outputs and conditions."""
    end = _side_end(parts, 0)
    docs: list[Doc] = []
    statements = list(_statements(parts[:end]))
    widths = _aligned(statements)
    for k, statement in enumerate(statements):
        declared = len(statement) > 1 and _is(statement[1], ":")
        beside = k > 0 and declared and first(statement[0]).newlines == 0 and not first(statement[0]).above
        if docs:
            docs.append(Line("  ") if beside else _HARD)
        docs.append((_blank_above(statement[0], bool(docs)), _statement(statement, widths[k])))
        if declared:
            _fold_line(docs, beside)
    if parts[end:]:
        docs += [_HARD] if docs else []
        docs += [_blank_above(parts[end], bool(docs)), _outputs(parts[end:])]
    return tuple(docs)


def _fold_line(docs: list[Doc], beside: bool) -> None:
    """Test inputs that were written on one line are one fill: joined by two spaces where they fit."""
    if beside:
        doc, _, before = docs.pop(), docs.pop(), docs.pop()
        docs.append((before, Group((Line("  "), doc))))


def _statements(parts: Sequence[Part]) -> Iterator[list[Part]]:
    at = 0
    while at < len(parts):
        start = at
        if _is_template(parts, at):
            at = _template(parts, at)
        else:
            while not _is(parts[at], ";"):
                at += 1
        at += 1
        yield list(parts[start:at])


def _aligned(statements: list[list[Part]]) -> list[int]:
    """For each statement the width of its name: neighbours of nearly equal length are padded to the longest.
    """
    widths = [0] * len(statements)
    start = 0
    for k in range(len(statements) + 1):
        binds = k < len(statements) and _is(statements[k][1], "=")
        if binds and k > start and not first(statements[k][0]).above:
            continue
        run = range(start, k)
        lengths = [len(first(statements[j][0]).text) for j in run if _is(statements[j][1], "=")]
        if len(lengths) > 1 and max(lengths) - min(lengths) <= _ALIGNED:
            for j in run:
                widths[j] = max(lengths)
        start = k if binds else k + 1
    return widths


def _statement(parts: list[Part], width: int) -> Doc:
    name = first(parts[0])
    if _is(parts[1], "="):
        padding = " " * max(0, width - len(name.text))
        return (
            token_doc(name), padding, " ", token_doc(first(parts[1])), " ", expression(parts[2:-1]),
            token_doc(first(parts[-1])),
        )
    if _is_template(parts, 0):
        return _each(parts)
    return (expression(parts[:-1]), token_doc(first(parts[-1])))


def _each(parts: list[Part]) -> Doc:
    block = parts[-1]
    assert isinstance(block, Bracket)
    at = next(
        (
            k
            for k, part in enumerate(block.items)
            if _is(part, "where") and (k == 0 or _is(block.items[k - 1], ";"))
        ),
        None,
    )
    binds = block.items if at is None else block.items[:at]
    docs: list[Doc] = []
    statements = list(_statements(binds))
    widths = _aligned(statements)
    for k, statement in enumerate(statements):
        docs += [_HARD] if docs else []
        docs.append((_blank_above(statement[0], bool(docs)), _statement(statement, widths[k])))
    if at is not None:
        rest = block.items[at:]
        semicolon = [rest.pop()] if _is(rest[-1], ";") else []
        docs += [_HARD] if docs else []
        docs += [
            _blank_above(rest[0], bool(docs)), _where(rest),
            token_doc(first(semicolon[0])) if semicolon else ";",
        ]
    head = (expression(parts[:-1]), " ", token_doc(block.open))
    line = flat(parts)
    noted = any(has_comments(part) for part in parts)
    if not _written_broken(block) and not noted and len(line) + 4 <= WIDTH and at is None:
        return line
    closing = _closing(block)
    return (head, Indent((_HARD, *docs)) if docs else "", closing[0], _HARD, token_doc(_bare(block.close)))


def _outputs(parts: list[Part]) -> Doc:
    """Outputs, then conditions: beside them if all fits on a line, otherwise below, at last one per line."""
    end: list[Part] = []
    if _is(parts[-1], ";"):
        parts, end = parts[:-1], [parts[-1]]
    at = next(
        (
            k
            for k, part in enumerate(parts)
            if k and _is(part, "where") and not _is(parts[k - 1], ".") and _ends(parts, k)
        ),
        len(parts),
    )
    pieces, commas = split(parts[:at])
    docs: list[Doc] = []
    for k, piece in enumerate(pieces):
        docs.append(expression(piece))
        if k + 1 < len(pieces):
            docs += [token_doc(commas[k]), Line()]
        elif k < len(commas) and (commas[k].trailing or comment_lines(commas[k])):
            docs.append(token_doc(commas[k], ""))
    doc: Doc = group(tuple(docs))
    if at < len(parts):
        text = flat(parts)
        below = parts[at:]
        noted = any(has_comments(part) for part in parts)
        doc = (doc, Line(hard=noted or len(text) + 4 > WIDTH), _where(below))
        doc = group(doc)
    return (doc, token_doc(first(end[0]))) if end else doc


def _ends(parts: Sequence[Part], at: int) -> bool:
    """Is this `where` a clause, not the call of an operator named so?"""
    before = parts[at - 1]
    if isinstance(before, Bracket) or before.kind in ("word", "string", "number"):
        return not _is(parts[at + 1], "=") and not (
            isinstance(before, Token) and before.kind == "word" and before.text in _OPERATORS
        )
    return (
        before.text in (",", "?") and not (isinstance(parts[at + 1], Bracket) and before.text == ",")
        or _is(before, "*")
    )


_OPERATORS = ("in", "if", "else", "and", "or", "not", "keep", "ordered", "match")


def _where(parts: list[Part]) -> Doc:
    pieces, commas = split(parts[1:])
    docs: list[Doc] = []
    for k, piece in enumerate(pieces):
        docs.append(expression(piece))
        if k + 1 < len(pieces):
            docs += [token_doc(commas[k]), Line()]
        elif k < len(commas) and (commas[k].trailing or comment_lines(commas[k])):
            docs.append(token_doc(commas[k], ""))
    return (token_doc(first(parts[0])), " ", group(Indent(tuple(docs), 6)))
