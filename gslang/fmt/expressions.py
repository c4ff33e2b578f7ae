"""Expressions → documents: spaces between tokens, breaks at the loosest operators first, then in brackets.

Works on tokens and brackets rather than on syntax nodes, so that numbers, strings and parentheses stay as
written.
"""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.fmt.layout import Above, Doc, Fill, Group, IfBroken, Indent, Line, Trailing, group
from gslang.fmt.tokens import Bracket, Part, Token, first, has_comments, last

ATOM = 24  # characters; what is shorter is never broken
FILLED = 20  # characters; lists of shorter items stand several to a line
_WORDS = frozenset(
    {"for", "in", "if", "else", "and", "or", "not", "where", "each", "match", "keep", "ordered"}
)
_BINARY = {
    "|": 2,
    "==": 6,
    "!=": 6,
    "<": 6,
    "<=": 6,
    ">": 6,
    ">=": 6,
    "+": 7,
    "-": 7,
    "*": 8,
    "/": 8,
    "//": 8,
    "%": 8,
}
_KEYWORDS = {"or": 3, "and": 4}


@dataclass(frozen=True, slots=True)
class Mark:
    """Before a part: is there a space, and how loosely binds the operator that it is (None: it is none)?"""

    space: bool
    level: int | None = None


def marks(parts: Sequence[Part], in_subscript: bool = False) -> list[Mark]:
    """Spaces and operators of the parts between two brackets, commas or semicolons."""
    found: list[Mark] = []
    operand = False  # did an operand end before this part?
    tight = True  # no space, whatever comes
    loop = awaits_in = negated = in_block = False
    before: Part | None = None
    for k, part in enumerate(parts):
        text = part.open.text if isinstance(part, Bracket) else part.text
        after = parts[k + 1] if k + 1 < len(parts) else None
        space, level, next_operand, next_tight = not tight, None, True, False
        dotted = isinstance(before, Token) and before.text == "."
        in_block = in_block or text in ("each", "chain") and not dotted and not _is_key(after)
        if isinstance(part, Bracket):
            space = space and (text == "{" or not operand)
            if text == "{" and in_block:  # a statement, which ends with it
                next_operand = in_block = False
        elif part.kind == "word" and text in _WORDS and not dotted and not _is_key(after):
            next_operand = False
            if text == "for":
                loop = awaits_in = True
                level = 0
            elif text == "in":
                level = None if awaits_in or negated else 6
                awaits_in = False
            elif text == "if" or text == "else":
                level = 0 if loop and text == "if" else 1
            elif text == "not" and operand:
                level, negated = 6, True
            elif text == "where" and isinstance(after, Bracket) and not operand:
                next_operand = True
            level = _KEYWORDS.get(text, level)
            negated = negated and text == "not"
        elif part.kind == "sign":
            next_operand = False
            match text:
                case ".":  # `1 .0` would be another number without the space
                    space, next_tight = _is_number(before) and _is_number(after), True
                case "*" if dotted:
                    next_operand = True
                case "?":
                    space, next_operand = False, True
                case "," | ";":
                    space = False
                case ":":
                    space, next_tight = False, in_subscript
                case "@":
                    next_tight = True
                case ".." if not (operand and _is_computed(before, after)):
                    space = space and not _is_number(before)
                    next_tight = _is_number(after)
                case "-" | "*" if not operand:
                    next_tight = True
                case _:
                    level = _BINARY.get(text)
        found.append(Mark(space, level))
        operand, tight, before = next_operand, next_tight, part
    return found


def _is_key(after: Part | None) -> bool:
    return isinstance(after, Token) and after.text == "="


def _is_computed(before: Part | None, after: Part | None) -> bool:
    """True for a range with an end that is more than a number."""
    if isinstance(after, Token):
        if after.text == "from" and _is_number(before):  # `chain c in 2.. from x`
            return False
        return (
            after.kind == "word" and after.text not in _WORDS or after.text == "-" or after.kind == "number"
            and not _is_number(before)
        )
    return isinstance(after, Bracket) and after.open.text == "("


def _is_number(part: Part | None) -> bool:
    return isinstance(part, Token) and part.kind == "number"


def flat(parts: Sequence[Part], in_subscript: bool = False) -> str:
    """The text on one line, without comments."""
    pieces: list[str] = []
    for k, (part, mark) in enumerate(zip(parts, marks(parts, in_subscript))):
        if mark.space:
            pieces.append(" ")
        pieces.append(
            part.text if isinstance(part, Token) else flat_bracket(part, parts[k - 1] if k else None)
        )
    return "".join(pieces)


def flat_bracket(bracket: Bracket, before: Part | None) -> str:
    if bracket.flat is None:
        bracket.flat = _flat_bracket(bracket, before)
    return bracket.flat


def _flat_bracket(bracket: Bracket, before: Part | None) -> str:
    inner = _without_last_comma(bracket, before)
    text = flat(inner, _is_subscript(bracket, before))
    pad = " " if _is_block(bracket, before) and text else ""
    return f"{bracket.open.text}{pad}{text}{pad}{bracket.close.text}"


def _is_block(bracket: Bracket, before: Part | None) -> bool:
    return bracket.open.text == "{" and not (isinstance(before, Token) and before.text == ".")


def _follows_operand(before: Part | None) -> bool:
    """Is a bracket behind `before` a call or a subscript?"""
    match before:
        case Bracket():
            return True
        case Token(kind="string" | "number"):
            return True
        case Token(kind="word", text=text):
            return text not in _WORDS or text == "where"
        case Token(text="?"):
            return True
    return False


def _is_subscript(bracket: Bracket, before: Part | None) -> bool:
    return bracket.open.text == "[" and _follows_operand(before)


def _is_comma(part: Part) -> bool:
    return isinstance(part, Token) and part.text == "," and part.kind == "sign"


def _without_last_comma(bracket: Bracket, before: Part | None) -> list[Part]:
    """The items; a last comma stays only where it makes a tuple of one."""
    items = bracket.items
    if items and _is_comma(items[-1]) and not _is_tuple_of_one(bracket, before):
        return items[:-1]
    return items


def _is_tuple_of_one(bracket: Bracket, before: Part | None) -> bool:
    commas = sum(_is_comma(item) for item in bracket.items)
    # `where (x,)`: a clause, or a call
    call = _follows_operand(before) and not (isinstance(before, Token) and before.text == "where")
    return commas == 1 and bracket.open.text == "(" and not call and _is_comma(bracket.items[-1])


def is_loop(parts: Sequence[Part]) -> bool:
    """Is it `… for … in …`?"""
    for k, part in enumerate(parts):
        if isinstance(part, Token) and part.text == "for" and part.kind == "word":
            before = parts[k - 1] if k else None
            if (
                k and not (isinstance(before, Token) and before.text == ".")
                and not _is_key(parts[k + 1] if k + 1 < len(parts) else None)
            ):
                return True
    return False


def split(parts: Sequence[Part]) -> tuple[list[list[Part]], list[Token]]:
    """The parts between commas, and the commas. A last comma has nothing behind it."""
    pieces: list[list[Part]] = [[]]
    signs: list[Token] = []
    for part in parts:
        if isinstance(part, Token) and _is_comma(part):
            signs.append(part)
            pieces.append([])
        else:
            pieces[-1].append(part)
    if not pieces[-1]:
        pieces.pop()
    return pieces, signs


def listed(parts: Sequence[Part]) -> Fill:
    """Expressions between commas, as many on a line as fit."""
    pieces, commas = split(parts)
    return Fill(tuple([
        (expression(piece), token_doc(commas[k])) if k < len(commas) else expression(piece)
        for k, piece in enumerate(pieces)
    ]))


def comment_lines(token: Token) -> tuple[str | None, ...]:
    """Own-line comments above a token inside an expression: blank lines go."""
    return tuple(text for text in token.above if text is not None)


def token_doc(token: Token, text: str | None = None) -> Doc:
    """A token with its comments."""
    shown: Doc = token.text if text is None else text
    above = comment_lines(token)
    if not above and token.trailing is None:
        return shown
    return (Above(above) if above else "", shown, Trailing(token.trailing) if token.trailing else "")


def expression(parts: Sequence[Part], in_subscript: bool = False) -> Doc:
    """The document of an expression, a keyword argument, or a typed name."""
    if not any(has_comments(part) for part in parts):
        text = flat(parts, in_subscript)
        if len(text) <= ATOM:
            return text
    elif (note := last(parts[-1]).trailing) is not None:
        # a comment at its end does not break the expression, only the line behind it
        return (expression([*parts[:-1], _without_note(parts[-1])], in_subscript), Trailing(note))
    return _chain(parts, marks(parts, in_subscript), None, in_subscript)


def _without_note(part: Part) -> Part:
    """The same without the comment at its end."""
    token = last(part)
    bare = Token(token.kind, token.text, token.start, token.end, token.newlines, token.above)
    return bare if isinstance(part, Token) else Bracket(part.open, part.items, bare)


def _chain(parts: Sequence[Part], found: list[Mark], before: Part | None, in_subscript: bool) -> Doc:
    """Split at the loosest operators; `before` stands left of the first part."""
    if (
        len(parts) > 1 and isinstance(parts[0], Token) and isinstance(parts[1], Token)
        and parts[1].text in ("=", ":=", "=>")
    ):
        return (
            token_doc(first(parts[0])), " ", token_doc(parts[1]), " ",
            _chain(parts[2:], found[2:], parts[1], in_subscript),
        )
    levels = [mark.level for mark in found[1:] if mark.level is not None]
    if not levels:
        docs: list[Doc] = []
        for part, mark in zip(parts, found):
            if mark.space and docs:
                docs.append(" ")
            docs.append(token_doc(part) if isinstance(part, Token) else bracket(part, before))
            before = part
        return tuple(docs)
    loosest = min(levels)
    cuts = [k for k in range(1, len(parts)) if found[k].level == loosest]
    docs = []
    for k, cut in enumerate(cuts):
        end = cuts[k + 1] if k + 1 < len(cuts) else len(parts)
        operator = parts[cut]
        rest = _chain(parts[cut + 1 : end], found[cut + 1 : end], operator, in_subscript)
        docs.append((Line(), token_doc(first(operator)), " " if cut + 1 < end else "", rest))
    head = _chain(parts[: cuts[0]], found[: cuts[0]], before, in_subscript)
    return group((head, tuple(docs) if loosest == 0 else Indent(tuple(docs))))


def bracket(part: Bracket, before: Part | None, fill: bool = False) -> Doc:
    """A bracket that stands behind `before`: on one line, or its items on lines of their own."""
    if part.close.trailing:
        bare = _without_note(part)
        assert isinstance(bare, Bracket)
        return (bracket(bare, before, fill), Trailing(part.close.trailing))
    if not has_comments(part):
        text = flat_bracket(part, before)
        if len(text) <= ATOM:
            return text
    gap = Line(" ") if _is_block(part, before) else Line("")
    opening, closing = token_doc(part.open), part.close.text
    inside_end = comment_lines(part.close)
    end: Doc = Indent(Above(inside_end)) if inside_end else ""
    if not part.items:
        return group((opening, end, Line("") if inside_end or part.open.trailing else "", closing))
    subscript = _is_subscript(part, before)
    pieces, commas = split(part.items)
    lone = not commas and not (_follows_operand(before) or part.open.text != "(")
    if is_loop(part.items) or lone or (subscript and not commas):
        return group((opening, Indent((gap, expression(part.items, subscript))), end, gap, closing))
    docs: list[Doc] = [expression(piece) for piece in pieces]
    # none ends a row
    last: Doc = (
        "," if _is_tuple_of_one(part, before) else IfBroken(",") if len(pieces) > 1 and not subscript else ""
    )
    if len(commas) == len(pieces):
        last = (token_doc(commas[-1], "") if _noted(commas[-1]) else "", last)
    if not has_comments(part) and (fill or all(len(flat(piece)) <= FILLED for piece in pieces)):
        filled = tuple((doc, ",") if k + 1 < len(docs) else doc for k, doc in enumerate(docs))
        return Group((opening, Indent((gap, Group((Fill(filled), last)))), gap, closing))
    inner: list[Doc] = []
    for k, doc in enumerate(docs):
        inner += [doc, token_doc(commas[k]), Line()] if k + 1 < len(docs) else [doc, last]
    body = group(tuple(inner))
    arms = _is_block(part, before)
    return group((opening, Indent((gap, tuple(inner) if arms else body)), end, gap, closing))


def _noted(token: Token) -> bool:
    return token.trailing is not None or bool(comment_lines(token))
