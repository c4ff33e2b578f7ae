"""Edits that put a constraint where it can be tested, or where it is tested sooner (E0401, L0111).

Only for constraints that can be written in the other form: plain expressions on nodes that have a name.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Diagnostic
from gslang.base.quick_dataclass import dataclass
from gslang.check.context import KINDS
from gslang.lint.linted_file import walk
from gslang.lsp.pieces import Piece
from gslang.syntax import nodes as n

Change = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of a source that has a name. `end`: where another argument can be put. `brackets`: whether there
    are some already; `before`: what an input without a kind needs before them.
    """

    name: str
    arguments: tuple[n.Argument, ...]
    end: int
    brackets: bool
    before: str = ""


def moves(piece: Piece, finding: Diagnostic) -> Iterator[tuple[str, list[Change]]]:
    """Titles and changes, by offsets in the piece."""
    rule = piece.items[0] if piece.items else None
    if not isinstance(rule, n.Rule):
        return
    span = finding.primary.span
    if finding.code == "E0401":
        for node in _nodes(piece, rule):
            for argument in node.arguments:
                if (
                    isinstance(argument, n.Keyword) and argument.span.start == span.start
                    and argument.span.end == span.end and _plain(argument.value)
                ):
                    yield from _out_of(piece, rule, node, argument)
    elif finding.code == "L0111":
        for condition in rule.source.where:
            if condition.span.start == span.start and condition.span.end == span.end:
                yield from _into(piece, rule, condition)


def _nodes(piece: Piece, rule: n.Rule) -> Iterator[_Node]:
    for given in rule.inputs:
        if given.kind is not None:
            end = given.kind.span.end - (piece.text[given.kind.span.end - 1] == "?")
            brackets = piece.text[end - 1] == ")"
            yield _Node(given.name.id, given.kind.arguments, end - brackets, brackets)
        else:
            yield _Node(given.name.id, (), given.span.end, False, ": any")
    for node in walk(rule.source):
        if isinstance(node, (n.Bind, n.Walrus)) and isinstance(node.value, n.Call):
            yield _Node(node.name.id, node.value.arguments, node.value.span.end - 1, True)


def _plain(value: n.Expr) -> bool:
    return not any(
        isinstance(part, (n.Hole, n.Walrus, n.Star)) or isinstance(part, n.Binary) and part.operator == "|"
        for part in walk(value)
    )


def _out_of(
    piece: Piece, rule: n.Rule, node: _Node, argument: n.Keyword
) -> Iterator[tuple[str, list[Change]]]:
    removed = _removed(piece, argument)
    match argument.value:
        case n.Attribute(base=n.Name(id=other), field=field):
            target = next((k for k in _nodes(piece, rule) if k.name == other), None)
            if target is not None and not any(
                isinstance(a, n.Keyword) and a.name == field for a in target.arguments
            ):
                yield (
                    f"move the constraint to the definition of `{other}`",
                    [removed, _added(target, f"{field} = {node.name}.{argument.name}")],
                )
    condition = f"{node.name}.{argument.name} == {argument.value.span.text}"
    yield "move the constraint to `where`", [removed, _condition(rule, condition)]


def _removed(piece: Piece, argument: n.Keyword) -> Change:
    """The argument and one of the commas around it; the brackets of a kind, too, if nothing else is in them.
    """
    start, end = argument.span.start, argument.span.end
    t = piece.tokens
    k = t.before(start + 1)
    if t.text(k - 1) == ",":
        start = t.all[k - 1].start
    else:
        after = t.before(end)
        if t.text(after + 1) == ",":
            end = (
                t.all[after + 2].start if after + 2 < len(t.all) and t.text(after + 2) != ")"
                else t.all[after + 1].end
            )
        elif t.text(k - 1) == "(" and t.text(after + 1) == ")" and t.text(k - 2) in KINDS:
            start, end = t.all[k - 1].start, t.all[after + 1].end
    return start, end, ""


def _added(node: _Node, text: str) -> Change:
    if node.brackets:
        return node.end, node.end, f", {text}" if node.arguments else text
    return node.end, node.end, f"{node.before}({text})"


def _condition(rule: n.Rule, text: str) -> Change:
    if rule.source.where:
        at = rule.source.where[-1].span.end
        return at, at, f", {text}"
    at = rule.source.outputs[-1].span.end
    return at, at, f" where {text}"


def _into(piece: Piece, rule: n.Rule, condition: n.Expr) -> Iterator[tuple[str, list[Change]]]:
    match condition:
        case n.Comparison(first=n.Attribute(base=n.Name(id=name), field=field), rest=(("==", value),)):
            target = next((k for k in _nodes(piece, rule) if k.name == name), None)
            if target is not None:
                yield (
                    f"move the constraint to the call of `{name}`",
                    [_added(target, f"{field} = {value.span.text}"), _without(piece, rule, condition)],
                )


def _without(piece: Piece, rule: n.Rule, condition: n.Expr) -> Change:
    """A condition taken out of its list; the whole `where` if it is the only one."""
    start, end = condition.span.start, condition.span.end
    t = piece.tokens
    k = t.before(start + 1)
    if len(rule.source.where) == 1:
        begin = k - 1 if t.text(k - 1) == "where" else k
        return t.all[begin - 1].end if begin > 0 else t.all[begin].start, end, ""
    if t.text(k - 1) == ",":
        return t.all[k - 1].start, end, ""
    after = t.before(end)
    return start, t.all[after + 2].start if after + 2 < len(t.all) else end, ""
