"""Layout of rules and tests: sides, statements, conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gslang.fmt.expressions import comment_lines, expression, flat, listed, split, token_doc
from gslang.fmt.layout import WIDTH, Above, Doc, Group, Indent, Line, Trailing, group
from gslang.fmt.parts import (
    ALIGNED,
    HARD,
    bare,
    blank_above,
    closing_doc,
    is_template,
    is_token,
    side_end,
    template_end,
    words_doc,
    written_broken,
)
from gslang.fmt.tokens import Bracket, Part, Token, first, has_comments, last


def line_rule_layout(parts: list[Part]) -> Doc:
    colon = next(k for k, part in enumerate(parts) if is_token(part, ":"))
    arrow = next(k for k, part in enumerate(parts) if is_token(part, "=>"))
    line = _one_line(parts)
    if line is not None:
        return line
    source, target = parts[colon + 1 : arrow], parts[arrow + 1 : -1]
    inner = (Indent((HARD, _side(source))), Indent((HARD, _target(parts[arrow], target)), 2))
    return (_header(parts[:colon]), token_doc(first(parts[colon])), *inner, token_doc(first(parts[-1])))


def _header(parts: list[Part]) -> Doc:
    """The words before the sides; the table of a family stands below them where it does not fit beside."""
    table = next((k for k, part in enumerate(parts) if k > 2 and is_token(part, "for")), len(parts))
    if table == len(parts):
        return words_doc(parts)
    begin = next(k for k in range(table, len(parts)) if is_token(parts[k], "in")) + 1
    below = (Line(), words_doc(parts[table:begin]), " ", Indent(listed(parts[begin:])))
    return (words_doc(parts[:table]), group(Indent(below, 8)))


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


def block_layout(parts: list[Part]) -> Doc:
    block = parts[-1]
    assert isinstance(block, Bracket)
    block.items, block.flat = _without_semicolons(block.items), None
    if not written_broken(block):
        line = _one_line(parts)
        if line is not None:
            return line
    arrow = next(k for k, part in enumerate(block.items) if is_token(part, "=>"))
    closing = closing_doc(block)
    inner = (
        Indent((HARD, _side(block.items[:arrow]))),
        Indent((HARD, _target(block.items[arrow], block.items[arrow + 1 :])), 2),
    )
    return (
        _header(parts[:-1]), " ", token_doc(block.open), *inner, closing[0], HARD,
        token_doc(bare(block.close)),
    )


def _without_semicolons(parts: list[Part]) -> list[Part]:
    """Without the `;` that may stand after outputs."""
    arrow = next(k for k, part in enumerate(parts) if is_token(part, "=>"))
    source, target = parts[:arrow], parts[arrow:]
    kept: list[Part] = []
    for side in (source, target):
        if side and is_token(side[-1], ";") and not has_comments(side[-1]):
            side = side[:-1]
        kept += side
    return kept


def _target(arrow: Part, parts: list[Part]) -> Doc:
    """`=> outputs` on one line if it was written so and has no statements; otherwise a line for the arrow."""
    at = first(arrow)
    above: Doc = Above(tuple(at.above)) if any(a is not None for a in at.above) else ""
    shown: Doc = (above, "=>", Trailing(at.trailing) if at.trailing else "")
    if (
        side_end(parts, 0) == 0 and first(parts[0]).newlines == 0 and not has_comments(parts[0])
        and len(flat(parts)) + 6 <= WIDTH
    ):
        return (shown, " ", _outputs(parts))
    return (shown, Indent((HARD, _side(parts)), 2))


def _side(parts: list[Part]) -> Doc:
    """Statements, one per line, then outputs and conditions."""
    end = side_end(parts, 0)
    docs: list[Doc] = []
    statements = list(_statements(parts[:end]))
    widths = _aligned(statements)
    for k, statement in enumerate(statements):
        declared = len(statement) > 1 and is_token(statement[1], ":")
        beside = k > 0 and declared and first(statement[0]).newlines == 0 and not first(statement[0]).above
        if docs:
            docs.append(Line("  ") if beside else HARD)
        docs.append((blank_above(statement[0], bool(docs)), _statement(statement, widths[k])))
        if declared:
            _fold_line(docs, beside)
    if parts[end:]:
        docs += [HARD] if docs else []
        docs += [blank_above(parts[end], bool(docs)), _outputs(parts[end:])]
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
        if is_template(parts, at):
            at = template_end(parts, at)
        else:
            while not is_token(parts[at], ";"):
                at += 1
        at += 1
        yield list(parts[start:at])


def _aligned(statements: list[list[Part]]) -> list[int]:
    """For each statement the width of its name: neighbours of nearly equal length are padded to the longest.
    """
    widths = [0] * len(statements)
    start = 0
    for k in range(len(statements) + 1):
        binds = k < len(statements) and is_token(statements[k][1], "=")
        if binds and k > start and not first(statements[k][0]).above:
            continue
        run = range(start, k)
        lengths = [len(first(statements[j][0]).text) for j in run if is_token(statements[j][1], "=")]
        if len(lengths) > 1 and max(lengths) - min(lengths) <= ALIGNED:
            for j in run:
                widths[j] = max(lengths)
        start = k if binds else k + 1
    return widths


def _statement(parts: list[Part], width: int) -> Doc:
    name = first(parts[0])
    if is_token(parts[1], "="):
        padding = " " * max(0, width - len(name.text))
        return (
            token_doc(name), padding, " ", token_doc(first(parts[1])), " ", expression(parts[2:-1]),
            token_doc(first(parts[-1])),
        )
    if is_template(parts, 0):
        return _each(parts)
    return (expression(parts[:-1]), token_doc(first(parts[-1])))


def _each(parts: list[Part]) -> Doc:
    block = parts[-1]
    assert isinstance(block, Bracket)
    at = next(
        (
            k
            for k, part in enumerate(block.items)
            if is_token(part, "where") and (k == 0 or is_token(block.items[k - 1], ";"))
        ),
        None,
    )
    binds = block.items if at is None else block.items[:at]
    docs: list[Doc] = []
    statements = list(_statements(binds))
    widths = _aligned(statements)
    for k, statement in enumerate(statements):
        docs += [HARD] if docs else []
        docs.append((blank_above(statement[0], bool(docs)), _statement(statement, widths[k])))
    if at is not None:
        rest = block.items[at:]
        semicolon = [rest.pop()] if is_token(rest[-1], ";") else []
        docs += [HARD] if docs else []
        docs += [
            blank_above(rest[0], bool(docs)), _where(rest),
            token_doc(first(semicolon[0])) if semicolon else ";",
        ]
    head = (expression(parts[:-1]), " ", token_doc(block.open))
    line = flat(parts)
    noted = any(has_comments(part) for part in parts)
    if not written_broken(block) and not noted and len(line) + 4 <= WIDTH and at is None:
        return line
    closing = closing_doc(block)
    return (head, Indent((HARD, *docs)) if docs else "", closing[0], HARD, token_doc(bare(block.close)))


def _outputs(parts: list[Part]) -> Doc:
    """Outputs, then conditions: beside them if all fits on a line, otherwise below, at last one per line."""
    end: list[Part] = []
    if is_token(parts[-1], ";"):
        parts, end = parts[:-1], [parts[-1]]
    at = next(
        (
            k
            for k, part in enumerate(parts)
            if k and is_token(part, "where") and not is_token(parts[k - 1], ".") and _ends(parts, k)
        ),
        len(parts),
    )
    docs = _listed(parts[:at])
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
        return not is_token(parts[at + 1], "=") and not (
            isinstance(before, Token) and before.kind == "word" and before.text in _OPERATORS
        )
    return (
        before.text in (",", "?") and not (isinstance(parts[at + 1], Bracket) and before.text == ",")
        or is_token(before, "*")
    )



_OPERATORS = ("in", "if", "else", "and", "or", "not", "keep", "ordered", "match")


def _listed(parts: list[Part]) -> list[Doc]:
    """Expressions with their commas, each on a line of its own where they do not fit on one."""
    pieces, commas = split(parts)
    docs: list[Doc] = []
    for k, piece in enumerate(pieces):
        docs.append(expression(piece))
        if k + 1 < len(pieces):
            docs += [token_doc(commas[k]), Line()]
        elif k < len(commas) and (commas[k].trailing or comment_lines(commas[k])):
            docs.append(token_doc(commas[k], ""))
    return docs


def _where(parts: list[Part]) -> Doc:
    docs = _listed(parts[1:])
    return (token_doc(first(parts[0])), " ", group(Indent(tuple(docs), 6)))
