"""Items → documents: rules, tests, declarations, passes, and how far apart they stand.

The text is known to parse, so each item is read off its first words.
"""

from __future__ import annotations

from gslang.fmt.expressions import bracket, expression, listed, token_doc
from gslang.fmt.layout import Doc, Group, Indent, Line, forces_break, group
from gslang.fmt.parts import (
    HARD,
    Item,
    bare,
    blank_above,
    closing_doc,
    is_block,
    is_token,
    words_doc,
    written_broken,
)
from gslang.fmt.rule_layout import block_layout, line_rule_layout
from gslang.fmt.tokens import Bracket, Part, first, has_comments


def item_doc(item: Item) -> Doc:
    """The item, without the comments above its first token."""
    parts, docs = item.parts, []
    at = 0
    while is_token(parts[at], "@"):
        stop = at + 3 if isinstance(parts[at + 2], Bracket) else at + 2
        docs += [words_doc(parts[at:stop]), HARD]
        at = stop
    parts = parts[at:]
    match item.word:
        case "rule" if not is_block(parts[-1]):
            docs.append(line_rule_layout(parts))
        case "rule" | "test":
            docs.append(block_layout(parts))
        case "pass":
            docs.append((words_doc(parts[:-1]), " ", _pass_block(parts[-1])))
        case "op":
            docs.append(_op(parts))
        case "fn":
            docs.append(_fn(parts))
        case "param":
            docs.append(_param(parts))
        case _:
            docs.append(_use(parts))
    return tuple(docs)


def _use(parts: list[Part]) -> Doc:
    if len(parts) > 2 and isinstance(parts[-2], Bracket):
        return (words_doc(parts[:-2]), " ", bracket(parts[-2], parts[-3]), token_doc(first(parts[-1])))
    return words_doc(parts)


def _op(parts: list[Part]) -> Doc:
    at = next(k for k, part in enumerate(parts) if isinstance(part, Bracket))
    arrow = at + 1
    end = next(
        (k for k in range(arrow, len(parts)) if is_token(parts[k], "is") or is_block(parts[k])),
        len(parts) - 1
    )
    docs: list[Doc] = [
        words_doc(parts[: at + 1], fill=True), " ", token_doc(first(parts[arrow])), " ",
        expression(parts[arrow + 1 : end]),
    ]
    if is_block(parts[end]):
        docs += [" ", expression(parts[end : end + 1])]
        end += 1
    if end < len(parts) - 1:
        traits = listed(parts[end + 1 : -1])
        docs.append(group(Indent((Line(), token_doc(first(parts[end])), " ", traits))))
    docs.append(token_doc(first(parts[-1])))
    return group(tuple(docs))


def _fn(parts: list[Part]) -> Doc:
    equals = next((k for k, part in enumerate(parts) if is_token(part, "=")), None)
    if equals is None:  # the signature of a function in Python
        return (words_doc(parts[:-1]), token_doc(first(parts[-1])))
    body = parts[equals + 1 : -1]
    value = expression(body)
    head = (words_doc(parts[:equals]), " ", token_doc(first(parts[equals])))
    return (head, group(Indent((Line(), value))), token_doc(first(parts[-1])))


def _param(parts: list[Part]) -> Doc:
    equals = next((k for k, part in enumerate(parts) if is_token(part, "=")), len(parts) - 1)
    head = (words_doc(parts[:3]), " ", expression(parts[3:equals]))
    value: Doc = (
        () if equals == len(parts) - 1 else (" = ", group(Indent(expression(parts[equals + 1 : -1]))))
    )
    return (head, value, token_doc(first(parts[-1])))


def _pass_block(part: Part) -> Doc:
    assert isinstance(part, Bracket)
    docs: list[Doc] = []
    broken = written_broken(part) or has_comments(part)
    at = 0
    while at < len(part.items):
        start = at
        beside = bool(docs) and first(part.items[at]).newlines == 0
        above = blank_above(part.items[at], bool(docs))
        if is_token(part.items[at], "repeat") and is_block(part.items[at + 1]):
            at += 2
            doc: Doc = (token_doc(first(part.items[start])), " ", _pass_block(part.items[start + 1]))
        else:
            while not is_token(part.items[at], ";"):
                at += 1
            at += 1
            doc = words_doc(part.items[start:at])
        if beside and not above:
            docs.append(Group((Line(), doc)))
        else:
            docs += [HARD] if docs else []
            docs.append((above, doc))
    closing = closing_doc(part)
    if not docs:
        return (token_doc(part.open), closing[0], token_doc(bare(part.close)))
    return Group(
        (token_doc(part.open), Indent((Line(), *docs)), closing[0], Line(), token_doc(bare(part.close))),
        broken or forces_break(tuple(docs)),
    )
