"""Small notes in the text: in which order a source is matched, and the types of values and of a test's nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from gslang.check import checked as ir
from gslang.lsp.analysis import Analysis
from gslang.lsp.diagnostics import offset_of
from gslang.lsp.document import Document
from gslang.lsp.hover import type_of_binding
from gslang.lsp.kinds import lowered, resolved, value_type
from gslang.lsp.names import marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store


def inlay_hints(store: Store, document: Document, given: lsp.Range) -> list[lsp.InlayHint]:
    start, end = offset_of(document, given.start), offset_of(document, given.end)
    analysis = store.analysis(document)
    found = []
    for piece, at in zip(document.pieces, document.starts):
        if at <= end and at + len(piece.text) >= start:
            for offset, label, tooltip, order in sorted(_hints(analysis, piece)):
                if start <= at + offset <= end:
                    place = lsp.Position(*document.lines.position(at + offset))
                    kind = None if order else lsp.InlayHintKind.Type
                    found.append(lsp.InlayHint(
                        position=place, label=label, kind=kind, tooltip=tooltip, padding_right=order
                    ))
    return found


def _hints(analysis: Analysis, piece: Piece) -> Iterator[tuple[int, str, str, bool]]:
    rule = analysis.checked(piece)
    if rule is not None:
        for number, node in enumerate(match_order(rule), 1):
            span = rule.nodes[node].span
            if span.source is piece.source:
                yield (
                    span.start, shown_number(number),
                    f"matched as number {number}: operands first, left to right", True,
                )
    lowering = lowered(analysis, piece)
    for mark in marks(piece):
        if mark.defines and mark.role == "binding":
            type_ = type_of_binding(analysis, piece, mark) or (
                value_type(resolved(lowering, mark.text)) if lowering is not None else None
            )
            if type_ is not None:
                yield mark.end, f": {type_}", "inferred", False


def match_order(rule: ir.CheckedRule) -> list[int]:
    """The pattern nodes in the order in which they are matched (language.md §4)."""
    starts = list(rule.outputs) if rule.output_block is None else [rule.blocks[rule.output_block].root]
    seen: set[int] = set()
    result: list[int] = []
    for start in starts:
        stack: list[tuple[int, Iterator[int]]] = []
        if start not in seen:
            seen.add(start)
            stack.append((start, iter(rule.nodes[start].below)))
        while stack:
            node, rest = stack[-1]
            child = next((c for c in rest if c not in seen), None)
            if child is None:
                stack.pop()
                result.append(node)
            else:
                seen.add(child)
                stack.append((child, iter(rule.nodes[child].below)))
    return result


def shown_number(number: int) -> str:
    """①, ② … where there is such a sign."""
    return chr(0x245F + number) if number <= 20 else f"({number})"
