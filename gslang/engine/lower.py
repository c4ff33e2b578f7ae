"""Lowering: the match program of a checked rule.

Where a rule can start, which nodes are distinct and which conditions have to wait is decided here, once per
rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.definite import Reads, found_before, found_with
from gslang.check.footprint import footprint, operators_at
from gslang.check.walks import reverse_post_order, walk
from gslang.engine.program import (
    Absent,
    Apart,
    Attr,
    Bounds,
    Choice,
    Climb,
    Constraint,
    Convex,
    Distinct,
    Done,
    Extend,
    Fields,
    Grow,
    Guard,
    IsKind,
    IsOp,
    Late,
    MatchProgram,
    MaybeOutput,
    Operand,
    Operands,
    Private,
    Register,
    Run,
    Start,
    Step,
    Users,
    Valid,
)
from gslang.engine.spine import spine_of


@cache
def program_of(rule: ir.CheckedRule) -> MatchProgram:
    """The program of a rule, made once."""
    return lower(rule)


def lower(rule: ir.CheckedRule) -> MatchProgram:
    """The match program of a rule."""
    nodes = rule.nodes
    outputs = rule.outputs if rule.output_block is None else (rule.blocks[rule.output_block].root,)
    distinct = {k for k in rule.interior if not isinstance(nodes[k], (ir.LeafNode, ir.AltNode))}
    paths: dict[int, list[tuple[tuple[int, int], ...]]] = {}
    for output in outputs:
        for node, path in _without_alternatives(nodes, output):
            if not isinstance(nodes[node], ir.LeafNode):
                paths.setdefault(node, []).append(path)
    distinct.update(k for k in paths if () in paths[k])
    maybe = tuple(
        _maybe_outputs(nodes, {k: tuple(w) for k, w in paths.items() if k not in distinct}, distinct)
    )
    deferred = _deferred(nodes, rule.lets)
    late = frozenset(k for k in range(len(rule.blocks)) if k != rule.output_block and _is_late(rule, k))
    registers = tuple(
        Register(
            node.name, node.block, tuple(_steps_of(rule, k, k in distinct, deferred.get(k, ()))), node.span
        )
        for k, node in enumerate(nodes)
    )
    guards = map(Guard, range(len(rule.where)), rule.where, rule.where_spans)
    whole: list[Step] = [Late(), Apart(maybe), Private(), Convex(), *guards]
    return MatchProgram(
        rule, registers, (*_output_steps(rule), *whole), footprint(rule).starts,
        frozenset(distinct), maybe, deferred, late, spine_of(rule),
    )  # fmt: skip


# ── steps ───────────────────────────────────────────────────────────────────────────────────────────────────


def _output_steps(rule: ir.CheckedRule) -> Iterator[Step]:
    if rule.output_block is not None:
        block, root = rule.output_block, rule.blocks[rule.output_block].root
        yield from (
            Grow(block, root), Valid(block), Extend(block, root, climb_to(rule, root)),
            Bounds(block, None, None),
        )
        return
    first, *others = rule.outputs
    yield Start(first)
    for output in others:
        yield Users(output, climb_to(rule, output))


def _steps_of(
    rule: ir.CheckedRule, number: int, distinct: bool, waiting: Collection[Constraint]
) -> Iterator[Step]:
    """The demands of a pattern node on its graph node."""
    node = rule.nodes[number]
    if node.operators:
        yield IsOp(number, node.operators, node.variable)
    if distinct:
        yield Distinct(number)
    if isinstance(node, ir.LeafNode):
        yield IsKind(number, node.kind, node.optional)
    if node.branches:
        yield Choice(number, node.branches)
    if isinstance(node, ir.ChainNode):
        yield _run_step(rule, number, node)
    if node.operators:
        yield from _operand_steps(rule, number, node.parts, node.swappable)
    for constraint in node.constraints:
        yield Attr(number, constraint, constraint in waiting)
    yield Done(number)


def _run_step(rule: ir.CheckedRule, number: int, end: ir.ChainNode) -> Run:
    block = rule.blocks[end.chain]
    assert block.previous is not None
    linked = tuple(condition for condition in block.where if mentions_another(condition, rule.lets))
    own = tuple(condition for condition in block.where if condition not in linked)
    outside = tuple(k for k in reverse_post_order(rule.nodes, [end.root]) if rule.nodes[k].block is None)
    return Run(
        number, end.chain, end.root, block.previous, end.start, own, linked, outside, climb_to(rule, end.root)
    )


def _operand_steps(
    rule: ir.CheckedRule, of: int, patterns: tuple[int | None | ir.Splice, ...], swappable: frozenset[str]
) -> Iterator[Step]:
    splice = next((k for k, pattern in enumerate(patterns) if isinstance(pattern, ir.Splice)), len(patterns))
    more = splice < len(patterns)
    count = len(patterns) - more
    least = (
        count if more
        else max((k + 1 for k, pattern in enumerate(patterns) if not may_be_absent(rule, pattern)), default=0)
    )
    yield Operands(of, least, count, more, swappable)
    places = [k if k < splice else k - len(patterns) for k in range(len(patterns))]
    yield from (Absent(of, at) for pattern, at in zip(patterns, places) if pattern is None)
    for pattern, at in zip(patterns, places):
        if isinstance(pattern, ir.Splice):
            yield Fields(pattern.node, of, splice, len(patterns) - splice - 1, pattern.block)
        elif pattern is not None:
            yield Operand(pattern, of, at)


def may_be_absent(rule: ir.CheckedRule, part: int | None | ir.Splice) -> bool:
    """True if an operand that matches `part` may be left out."""
    if part is None or isinstance(part, ir.Splice):
        return part is None
    pattern = rule.nodes[part]
    return pattern.optional or any(may_be_absent(rule, k) for k in pattern.stands_for)


def climb_to(rule: ir.CheckedRule, number: int) -> Climb:
    """The step that finds candidates for a pattern node above the matched nodes."""
    known: dict[int, Climb] = {}
    for k in reverse_post_order(rule.nodes, [number]):
        node = rule.nodes[k]
        # of a chain the root: its way down ends at the instance before, so nothing may be known
        below = tuple(known[child] for child in node.stands_for or node.below)
        known[k] = Climb(k, operators_at(rule.nodes, k), below, bool(node.stands_for))
    return known[number]


# ── facts ───────────────────────────────────────────────────────────────────────────────────────────────────


def _is_late(rule: ir.CheckedRule, number: int) -> bool:
    """True if an instance that has been matched as a field may not tell yet: another sequence has more of it,
    or `where` reads later nodes."""
    block = rule.blocks[number]
    sequences = {
        k
        for k, node in enumerate(rule.nodes)
        for part in node.parts if isinstance(part, ir.Splice) and part.block == number
    }
    if len(sequences) > 1:
        return True
    if not block.where:
        return False
    starts = rule.outputs or (rule.blocks[rule.output_block or 0].root,)
    order = reverse_post_order(rule.nodes, starts)
    found = found_with(rule.nodes, order)
    known = found_before(rule.nodes, starts, order, found)[block.root] | found[block.root]
    reads = Reads(rule.nodes, rule.lets, rule.target.targets, rule.target.spans, found)
    return any(True for _ in reads.by(block.where, known, rule.span))


def _without_alternatives(
    nodes: tuple[ir.Pattern, ...], node: int
) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """The node behind an output, with the branches that lead to it."""
    pattern = nodes[node]
    if isinstance(pattern, ir.AltNode):
        for k, branch in enumerate(pattern.branches):
            for end, way in _without_alternatives(nodes, branch):
                yield end, ((node, k), *way)
    elif isinstance(pattern, ir.ChainNode):
        yield from _without_alternatives(nodes, pattern.root)
    else:
        yield node, ()


def _maybe_outputs(
    nodes: tuple[ir.Pattern, ...],
    paths: dict[int, tuple[tuple[tuple[int, int], ...], ...]],
    distinct: set[int],
) -> Iterator[MaybeOutput]:
    """Only where two nodes can be one: not if one lies below the other, or their operators differ."""
    below = {k: _surely_below(nodes, k) for k in {*paths, *distinct}} if paths else {}
    for node in sorted(paths):
        many = nodes[node].block is not None  # and another instance's may be the same
        others = [
            k
            for k in sorted({*paths, *distinct})
            if (many or k not in below[node] and node not in below[k]) and may_coincide(nodes[node], nodes[k])
        ]
        if others:
            yield MaybeOutput(node, paths[node], tuple(others))


def _surely_below(nodes: tuple[ir.Pattern, ...], node: int) -> set[int]:
    """A node, and what is matched below it whatever is chosen: graph nodes that differ from its own."""
    return set(reachable([node], lambda k: () if isinstance(nodes[k], ir.AltNode) else nodes[k].below))


def may_coincide(left: ir.Pattern, right: ir.Pattern) -> bool:
    """True if one graph node can match both."""
    if isinstance(left, ir.CallNode) and isinstance(right, ir.CallNode):
        return not set(left.operators).isdisjoint(right.operators)
    return type(left) is type(right)


def _deferred(nodes: tuple[ir.Pattern, ...], lets: tuple[ir.Value, ...]) -> dict[int, tuple[Constraint, ...]]:
    """Constraints that read what is complete only with another instance, directly or by a capture."""
    templates = [(k, node) for k, node in enumerate(nodes) if node.block is not None]
    late: set[int] = set()  # captures
    found: dict[int, tuple[Constraint, ...]] = {}
    number = -1
    while number != len(late):
        number = len(late)
        for k, node in templates:
            waiting = tuple(c for c in node.constraints if mentions_another(c, lets, late))
            if waiting:
                found[k] = waiting
                late.update(p.capture for p in walk(waiting) if isinstance(p, ir.Capture))
    return found


def mentions_another(item: object, lets: tuple[ir.Value, ...], captures: Collection[int] = ()) -> bool:
    """True if a constraint or value reads another instance of its own block, the first or the one before, or
    one of `captures`.
    """
    return any(
        isinstance(part, ir.AnotherInstance) or isinstance(part, ir.Captured) and part.capture in captures
        for part in walk(item, lets)
    )
