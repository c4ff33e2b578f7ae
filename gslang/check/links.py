"""Reads of a chain: `prev.NAME` inside, the end `c[-1].NAME` from outside."""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.context import InstanceOf, Lost, Lowering, NodeOf, Stop
from gslang.syntax import nodes as n

_TYPE_FACTS = ("shape", "dtype", "ndim")


def previous(lowering: Lowering, expr: n.Expr) -> InstanceOf:
    """`prev` inside a chain."""
    assert lowering.inside is not None
    if lowering.inside.block not in lowering.runs:
        lowering.stop(
            "E0405", "`prev` is only allowed inside `chain`", expr.span,
            "in `each` the first instance can be read: `first.NAME`",
        )
    return InstanceOf(lowering.inside.block, ir.Prev(lowering.inside.block))


def is_handed_on(lowering: Lowering, block: int, field: str, place: ir.Place) -> bool:
    """True if `prev.field` is what the chain hands on."""
    return isinstance(place, ir.Prev) and lowering.runs[block].link == field


def whose(lowering: Lowering, what: NodeOf, field: str) -> NodeOf:
    """`prev.y.field`: the type is that of the value that comes in; all else is the previous instance's."""
    pattern = lowering.patterns[what.node]
    if not isinstance(pattern, ir.PreviousNode) or field in _TYPE_FACTS or pattern.block is None:
        return what
    template, link = lowering.templates[pattern.block], lowering.runs[pattern.block].link
    known = template.names.get(link)
    number = (
        known.node if isinstance(known, NodeOf) else lowering.add_ahead(template, link, pattern.span).node
    )
    return NodeOf(ir.Prev(pattern.block), number)


def end(lowering: Lowering, expr: n.Expr | n.Star, what: NodeOf) -> int | None:
    """The pattern node of a chain's end, if `c[-1].y` is that."""
    place = what.place
    if not isinstance(place, ir.At) or place.block not in lowering.runs:
        return None
    run, block = lowering.runs[place.block], lowering.blocks[place.block]
    if isinstance(lowering.templates[place.block].names.get(run.link), Lost):
        raise Stop  # the chain has an error that is reported
    if place.index != ir.Const(-1) or what.node != block.root:
        lowering.stop(
            "E0607", "the source continues from a chain's end", expr.span,
            f"write `{block.name}[-1].{run.link}`",
        )
    if run.end is None:
        run.end = lowering.add_pattern(ir.ChainNode(
            name=None, span=expr.span, block=None, chain=place.block, root=block.root, start=run.start
        )).node
    return run.end
