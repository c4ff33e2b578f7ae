"""The order of definition: an attribute is read only from a node that is already matched.

Matching visits the source in reverse post-order (operands first, left to right, outputs as listed). When the
constraints of a node are tested, the nodes before it have values; later ones do not (language.md §4). This
pass walks the same order as the matchers. It also checks that outputs hang together and that names of an
alternative stay in its arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice, product
from operator import and_, or_

from gslang.base.diagnostics import Label
from gslang.base.reachable import reachable
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.context import Lowering
from gslang.check.definite import Read, Reads, found_before, found_with
from gslang.check.walks import reverse_post_order, walk
from gslang.syntax import nodes as n


def check_order(
    lowering: Lowering, rule: n.Rule, outputs: list[int], output_block: int | None,
    blocks: tuple[ir.Block, ...],
    conditions: list[tuple[n.Expr, ir.Value]], target_outputs: list[int], disconnected: bool,
) -> None:  # fmt: skip
    """Report values that read what no order of matching can have found by then."""
    starts = list(outputs) if output_block is None else [blocks[output_block].root]
    order = reverse_post_order(lowering.patterns, starts)
    found = found_with(lowering.patterns, order)
    before = found_before(lowering.patterns, starts, order, found)
    always = reduce(or_, (found[start] for start in starts))
    reads = Reads(lowering.patterns, lowering.lets, lowering.targets, lowering.target_spans, found)
    reported: set[tuple[int, int]] = set()

    def report(node: int | None, read: Read, span: Span) -> None:
        """`node`: where it is read, None at the end."""
        if (read.node, span.start) not in reported:
            reported.add((read.node, span.start))
            if read.node not in found:
                _unmatched(lowering, read, span)
            elif not always >> read.node & 1:
                _in_one_alternative(lowering, read, span, node is not None and not always >> node & 1)
            elif node is not None:
                _too_early(lowering, order, node, read, span)

    for node in order:
        pattern = lowering.patterns[node]
        for constraint in pattern.constraints:
            for read in reads.by(constraint, before[node] | found[node] & ~(1 << node), constraint.span):
                if pattern.block is None or not (
                    read.node == node or _first_of_own(lowering, node, constraint, read.node)
                ):
                    report(node, read, constraint.span)
    for number, block in enumerate(blocks):
        known = _known_to_bounds(lowering, number, before) if number != output_block else always
        for read in reads.by((block.minimum, block.maximum), known, block.bounds_span):
            if always >> read.node & 1:
                _counted_too_early(lowering, block, read)
            else:
                report(None, read, read.span)
        if block.previous is not None and not found.get(block.root, -1) >> block.previous & 1:
            _without_previous(lowering, number, block)
        known = always if block.previous is None else _known_to_bounds(lowering, number, before)
        for condition, span in zip(block.where, block.where_spans):
            for read in reads.by(condition, known | found.get(block.root, 0), span):
                if block.previous is not None and always >> read.node & 1:
                    _before_the_run(lowering, block, read, span)
                else:
                    report(None, read, span)
    for expr, value in conditions:
        for read in reads.by(value, always, expr.span):
            report(None, read, expr.span)
    inputs = {item.name.id for item in rule.inputs}
    for target in target_outputs:
        for read in reads.by_target(target, always):
            if lowering.patterns[read.node].name not in inputs:  # of those `rule` tells
                report(None, read, read.span)
    if output_block is None and not disconnected:
        _check_connected(lowering, rule, outputs)


def _without_previous(lowering: Lowering, number: int, block: ir.Block) -> None:
    link = lowering.runs[number].link
    lowering.error(
        "E0404", f"not every alternative of `{link}` reads the previous instance",
        lowering.patterns[block.root].span, f"let each one read `prev.{link}`",
    )


def _known_to_bounds(lowering: Lowering, block: int, before: dict[int, int]) -> int:
    """The nodes that are definitely matched when the instances of a block of fields are counted."""
    ends = [
        k
        for k, pattern in enumerate(lowering.patterns)
        if isinstance(pattern, ir.ChainNode) and pattern.chain == block
    ]
    splices = ends or [
        part.node
        for pattern in lowering.patterns
        for part in pattern.parts if isinstance(part, ir.Splice) and part.block == block
    ]
    return reduce(and_, (before[node] for node in splices if node in before), -1)


def _first_of_own(lowering: Lowering, node: int, constraint: object, read: int) -> bool:
    """`first.x` inside a template is tested when the first instance is complete, so its order is free."""
    block = lowering.patterns[node].block
    if block is None or lowering.patterns[read].block != block:
        return False
    places = [
        p.place
        for p in walk(constraint) if isinstance(p, ir.NodeReference) and p.node == read
    ]
    return bool(places) and all(isinstance(place, ir.AnotherInstance) for place in places)


def shown(lowering: Lowering, node: int) -> str:
    """A pattern node for a message: its name, else its operator."""
    pattern = lowering.patterns[node]
    if pattern.name is not None:
        return f"`{pattern.name}`"
    if isinstance(pattern, ir.CallNode):
        return f"{pattern.variable or pattern.operators[0]}(…)"
    return pattern.span.text if len(pattern.span.text) < 20 else "a node"


def _what(lowering: Lowering, read: Read) -> str:
    return shown(lowering, read.node) if read.capture is None else f"`{lowering.captures[read.capture]}`"


def _too_early(lowering: Lowering, order: list[int], node: int, read: Read, span: Span) -> None:
    here, there, place = shown(lowering, node), shown(lowering, read.node), lowering.patterns[read.node].span
    title = f"{_what(lowering, read)} is read before it is matched"
    if read.node == node:
        lowering.error(
            "E0401", title, span, "compare its attributes in `where`", text=f"{here} is being matched here"
        )
    elif order.index(read.node) < order.index(node):
        lowering.error(
            "E0401",
            title,
            span,
            f"list an output that always contains {there} before, or compare in `where`",
            text=f"{here} needs it here",
            related=(Label(place, "matched earlier only in another alternative"),),
        )
    else:
        sequence = ", ".join(shown(lowering, k) for k in order)
        lowering.error(
            "E0401", title, span,
            f"put the constraint at the definition of {there} (rearranged for that attribute), or move it to "
            "`where`",
            text=f"{here} needs it here",
            related=(Label(place, f"operands are matched first, left to right: {sequence}"),),
        )


def _counted_too_early(lowering: Lowering, block: ir.Block, read: Read) -> None:
    lowering.error(
        "E0401", f"{_what(lowering, read)} is read before it is matched", read.span,
        f"leave the number open, `{block.name} in ..`, and compare `len({block.name})` in `where`",
        text="the instances are counted here",
        related=(Label(lowering.patterns[read.node].span, "matched only after them"),),
    )


def _before_the_run(lowering: Lowering, block: ir.Block, read: Read, span: Span) -> None:
    lowering.error(
        "E0401", f"{_what(lowering, read)} is read before it is matched", span,
        f"compare it outside the block: `where [i.{lowering.patterns[block.root].name}.shape for i in "
        f"{block.name}] == …`",
        text="a chain is matched from its end",
        related=(Label(lowering.patterns[read.node].span, "matched only after the chain"),),
    )


def _in_one_alternative(lowering: Lowering, read: Read, span: Span, in_another: bool) -> None:
    there = _what(lowering, read)
    lowering.error(
        "E0402", f"{there} is matched only in one alternative", span,
        f"this is in a different one: use a node that both have, or make {there} a part of this one too"
        if in_another
        else "read it in that alternative's arm: `match p { a => …, _ => … }`",
        related=(Label(lowering.patterns[read.node].span, "the alternative"),),
    )


def _unmatched(lowering: Lowering, read: Read, span: Span) -> None:
    lowering.error(
        "E0605", f"{_what(lowering, read)} is not part of the matched nodes", span,
        "use it as an operand of an output",
        related=(Label(lowering.patterns[read.node].span, "defined here"),),
    )


def _check_connected(lowering: Lowering, rule: n.Rule, outputs: list[int]) -> None:
    """Output k shares a node with the outputs before it (thesis, definition 2.11), whichever alternatives are
    chosen.
    """
    for k in range(1, len(outputs)):
        alone = next(
            (
                chosen for chosen in _choices(lowering, outputs[: k + 1])
                if not _share(lowering, outputs, k, chosen)
            ),
            None,
        )
        if alone is None:
            continue
        places = [
            lowering.patterns[node.branches[branch]].span
            for alternation, branch in alone.items()
            if isinstance(node := lowering.patterns[alternation], ir.AltNode)
        ]
        lowering.error(
            "E0602",
            f"output {k + 1} shares no node with the outputs before "
            f"it{' in one alternative' if places else ''}",
            rule.source.outputs[k].span,
            "such a rule matches any pair of nodes: share an input, list the outputs in another order, or "
            "mark it `@disconnected`",
            related=tuple(Label(place, "if this alternative is chosen") for place in places),
        )
        return


_MOST_CHOICES = 1024  # a rule with more alternatives is given the benefit of the doubt


def _choices(lowering: Lowering, outputs: list[int]) -> Iterator[dict[int, int]]:
    """All ways to choose among the alternatives below these outputs, later ones varying fastest."""
    branches = {
        k: len(node.branches)
        for k in reverse_post_order(lowering.patterns, outputs)
        if isinstance(node := lowering.patterns[k], ir.AltNode)
    }
    for chosen in islice(product(*map(range, branches.values())), _MOST_CHOICES):
        yield dict(zip(branches, chosen))


def _share(lowering: Lowering, outputs: list[int], k: int, chosen: dict[int, int]) -> bool:
    def below(number: int) -> Sequence[int]:
        node = lowering.patterns[number]
        return (node.branches[chosen[number]],) if isinstance(node, ir.AltNode) else node.below

    return not reachable(outputs[:k], below).keys().isdisjoint(reachable([outputs[k]], below))
