"""Reads of a chain: `prev.NAME` inside, the end `c[-1].NAME` from outside."""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.context import InstanceOf, Lowering, NodeOf
from gslang.syntax import nodes as n

_TYPE_FACTS = ("shape", "dtype", "ndim")


def previous(low: Lowering, expr: n.Expr) -> InstanceOf:
    """`prev` inside a chain."""
    assert low.inside is not None
    if low.inside.block not in low.runs:
        low.stop(
            "E0405", "`prev` is only allowed inside `chain`", expr.span,
            "in `each` the first instance can be read: `first.NAME`",
        )
    return InstanceOf(low.inside.block, ir.Prev(low.inside.block))


def is_handed_on(low: Lowering, block: int, field: str, place: ir.Place) -> bool:
    """True if `prev.field` is what the chain hands on."""
    return isinstance(place, ir.Prev) and low.runs[block].link == field


def whose(low: Lowering, what: NodeOf, field: str) -> NodeOf:
    """`prev.y.field`: the type is that of the value that comes in; all else is the previous instance's."""
    pattern = low.patterns[what.node]
    if not isinstance(pattern, ir.PreviousNode) or field in _TYPE_FACTS or pattern.block is None:
        return what
    template, link = low.templates[pattern.block], low.runs[pattern.block].link
    known = template.names.get(link)
    number = known.node if isinstance(known, NodeOf) else low.add_ahead(template, link, pattern.span).node
    return NodeOf(ir.Prev(pattern.block), number)


def end(low: Lowering, expr: n.Expr | n.Star, what: NodeOf) -> int | None:
    """The pattern node of a chain's end, if `c[-1].y` is that."""
    place = what.place
    if not isinstance(place, ir.At) or place.block not in low.runs:
        return None
    run, block = low.runs[place.block], low.blocks[place.block]
    if place.index != ir.Const(-1) or what.node != block.root:
        low.stop(
            "E0607", "the source continues from a chain's end", expr.span,
            f"write `{block.name}[-1].{run.link}`",
        )
    if run.end is None:
        run.end = low.add_pattern(ir.ChainNode(
            name=None, span=expr.span, block=None, chain=place.block, root=block.root, start=run.start
        )).node
    return run.end
