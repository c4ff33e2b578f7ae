"""The order of definition: an attribute is read only from a node that is already matched.

Matching visits the source in reverse post-order (operands first, left to right, outputs as listed). When the constraints
of a node are tested, the nodes before it have values; later ones do not (language.md §4). This pass walks the same order
as the matchers. It also checks that outputs hang together and that names of an alternative stay in its arm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from gslang.base.diagnostics import Label
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.context import Lowering
from gslang.syntax import nodes as n


def children(node: ir.Pattern) -> list[int]:
    """The pattern nodes directly below one."""
    match node:
        case ir.CallNode(operands=parts) | ir.TupleNode(fields=parts):
            return [p.node if isinstance(p, ir.Splice) else p for p in parts if p is not None]
        case ir.ProjNode(base=base):
            return [base]
        case ir.AltNode(branches=branches):
            return list(branches)
    return []


def reverse_post_order(low: Lowering, outputs: list[int]) -> list[int]:
    """Pattern nodes in the order in which they are matched."""
    seen: set[int] = set()
    result: list[int] = []
    for output in outputs:
        if output in seen:
            continue
        seen.add(output)
        stack = [(output, iter(children(low.patterns[output])))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if child not in seen:
                    seen.add(child)
                    stack.append((child, iter(children(low.patterns[child]))))
                    break
            else:
                stack.pop()
                result.append(node)
    return result


def check_order(
    low: Lowering, rule: n.Rule, outputs: list[int], output_block: int | None, blocks: tuple[ir.Block, ...],
    where: list[ir.Value], conditions: list[tuple[n.Expr, ir.Value]], target_outputs: list[int], disconnected: bool,
) -> None:  # fmt: skip
    """Report values that read what no order of matching can have found by then."""
    starts = list(outputs) if output_block is None else [blocks[output_block].root]
    order = reverse_post_order(low, starts)
    position = {node: k for k, node in enumerate(order)}
    captures = _captures(low)
    for node in order:
        for constraint in low.patterns[node].constraints:
            for read in _reads(low, constraint, captures):
                if read == node and low.patterns[node].block is None:
                    _too_early(low, order, node, read, constraint, "itself")
                elif read not in position:
                    _unmatched(low, read, constraint.span)
                elif position[read] > position[node] and not _first_of_own(low, node, constraint, read):
                    _too_early(low, order, node, read, constraint, "later")
    for expr, condition in conditions:
        for read in _reads(low, condition, captures):
            if read not in position:
                _unmatched(low, read, expr.span)
    if output_block is None and not disconnected:
        _check_connected(low, rule, outputs)
    _check_arms(low, rule, starts, conditions, target_outputs)


def _captures(low: Lowering) -> dict[int, int]:
    """Capture → the pattern node whose constraint makes it."""
    found = {}
    for k, node in enumerate(low.patterns):
        for constraint in node.constraints:
            for part in _walk(constraint):
                if isinstance(part, ir.Capture):
                    found[part.capture] = k
    return found


def _walk(item: Any) -> Iterator[Any]:
    stack = [item]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, tuple):
            stack.extend(reversed(part))
        elif is_dataclass(part) and not isinstance(part, type):
            stack.extend(getattr(part, f.name) for f in reversed(fields(part)) if f.name != "span")


def _reads(low: Lowering, item: Any, captures: dict[int, int]) -> list[int]:
    """Pattern nodes that a constraint or value reads, lets expanded."""
    found: dict[int, None] = {}
    own: set[int] = set()
    stack = [item]
    while stack:
        for part in _walk(stack.pop()):
            match part:
                case ir.Capture(number, _):
                    own.add(number)
                case ir.NodeAttr(_, node, _) | ir.SelectValue(_, node, _) | ir.IsAbsent(_, node) | ir.SelectTest(_, node, _):
                    found[node] = None
                case ir.SameAttributes(_, node, _, _):
                    found[node] = None
                case ir.Captured(_, number):
                    if number in captures and number not in own:
                        found[captures[number]] = None
                case ir.Let(_, number):
                    stack.append(low.lets[number])
    return list(found)


def _first_of_own(low: Lowering, node: int, constraint: Any, read: int) -> bool:
    """`first.x` inside a template is tested when the first instance is complete, so its order is free."""
    block = low.patterns[node].block
    if block is None or low.patterns[read].block != block:
        return False
    places = [p.place for p in _walk(constraint) if isinstance(p, (ir.NodeAttr, ir.SameAttributes)) and p.node == read]
    return bool(places) and all(isinstance(place, ir.First) for place in places)


def shown(low: Lowering, node: int) -> str:
    """A pattern node for a message: its name, else its operator."""
    pattern = low.patterns[node]
    if pattern.name is not None:
        return f"`{pattern.name}`"
    if isinstance(pattern, ir.CallNode):
        return f"{pattern.variable or pattern.operators[0]}(…)"
    return pattern.span.text if len(pattern.span.text) < 20 else "a node"


def _too_early(low: Lowering, order: list[int], node: int, read: int, constraint: Any, why: str) -> None:
    here, there = shown(low, node), shown(low, read)
    sequence = ", ".join(shown(low, k) for k in order)
    if why == "itself":
        low.error(
            "E0401", f"{there} is read before it is matched", constraint.span, "compare its attributes in `where`",
            text=f"{here} is being matched here",
        )  # fmt: skip
        return
    low.error(
        "E0401", f"{there} is read before it is matched", constraint.span,
        f"put the constraint at the definition of {there} (solve it for that attribute), or move it to `where`",
        text=f"{here} needs it here",
        related=(Label(low.patterns[read].span, f"operands are matched first, left to right: {sequence}"),),
    )  # fmt: skip


def _unmatched(low: Lowering, read: int, span: Span) -> None:
    low.error(
        "E0605", f"{shown(low, read)} is no part of what is matched", span, "use it as an operand of an output",
        related=(Label(low.patterns[read].span, "defined here"),),
    )  # fmt: skip


def _check_connected(low: Lowering, rule: n.Rule, outputs: list[int]) -> None:
    """Output k shares a node with the outputs before it (thesis, definition 2.11)."""
    before: set[int] = set()
    for k, output in enumerate(outputs):
        nodes = set(reverse_post_order(low, [output]))
        if k > 0 and not before & nodes:
            low.error(
                "E0602", f"output {k + 1} shares no node with the outputs before it", rule.source.outputs[k].span,
                "such a rule matches any pair of nodes: share an input, list the outputs in another order, or mark it `@disconnected`",
            )  # fmt: skip
        before |= nodes


def _check_arms(
    low: Lowering, rule: n.Rule, starts: list[int], conditions: list[tuple[n.Expr, ir.Value]], target_outputs: list[int]
) -> None:
    """Nodes that only one alternative has are read only in the arm of that alternative."""
    owner = _owners(low, starts)
    if not owner:
        return
    reported: set[tuple[int, int]] = set()

    def visit(item: Any, allowed: frozenset[tuple[int, int]], span: Span) -> None:
        match item:
            case ir.SelectValue(_, node, arms) | ir.SelectTest(_, node, arms):
                for k, arm in enumerate(arms):
                    visit(arm, allowed | {(node, k)}, span)
                return
            case ir.SelectTarget(_, node, arms):
                for k, number in enumerate(arms):
                    if number is not None:
                        visit(low.targets[number], allowed | {(node, k)}, low.target_spans[number])
                return
            case ir.NodeAttr(_, node, _) | ir.SourceNode(_, node) | ir.SameAttributes(_, node, _, _):
                if node in owner and not owner[node] & allowed and (node, span.start) not in reported:
                    reported.add((node, span.start))
                    low.error(
                        "E0402", f"{shown(low, node)} is matched only in one alternative", span,
                        "read it in that alternative's arm: `match p { a => …, _ => … }`",
                        related=(Label(low.patterns[node].span, "the alternative"),),
                    )  # fmt: skip
            case ir.Let(_, number):
                visit(low.lets[number], allowed, span)
            case ir.MakeCall(_, parts, attributes, spreads):
                for number in parts:
                    visit(low.targets[number], allowed, low.target_spans[number])
                visit(attributes, allowed, span)
                visit(spreads, allowed, span)
                return
            case ir.MakeTuple(parts):
                for number in parts:
                    visit(low.targets[number], allowed, low.target_spans[number])
                return
            case ir.MakeProj(base, index):
                visit(low.targets[base], allowed, low.target_spans[base])
                visit(index, allowed, span)
                return
            case ir.Repeat(element, _, source, condition, _):
                visit(low.targets[element], allowed, low.target_spans[element])
                visit((source, condition), allowed, span)
                return
            case ir.Projections(base):
                visit(low.targets[base], allowed, low.target_spans[base])
                return
            case ir.ChooseTarget(condition, then, otherwise):
                visit(condition, allowed, span)
                for number in (then, otherwise):
                    visit(low.targets[number], allowed, low.target_spans[number])
                return
        if isinstance(item, tuple):
            for part in item:
                visit(part, allowed, span)
        elif is_dataclass(item) and not isinstance(item, type):
            for f in fields(item):
                if f.name != "span":
                    visit(getattr(item, f.name), allowed, span)

    for expr, condition in conditions:
        visit(condition, frozenset(), expr.span)
    for number in target_outputs:
        visit(low.targets[number], frozenset(), low.target_spans[number])


def _owners(low: Lowering, starts: list[int]) -> dict[int, frozenset[tuple[int, int]]]:
    """Nodes that not every match has → the (alternation, branch) pairs that have them."""
    always: set[int] = set()
    stack = list(starts)
    while stack:
        node = stack.pop()
        if node not in always:
            always.add(node)
            pattern = low.patterns[node]
            if isinstance(pattern, ir.AltNode):
                common = set.intersection(*(set(reverse_post_order(low, [b])) for b in pattern.branches))
                stack.extend(sorted(common))
            else:
                stack.extend(children(pattern))
    owner: dict[int, set[tuple[int, int]]] = {}
    for k, pattern in enumerate(low.patterns):
        if isinstance(pattern, ir.AltNode):
            for choice, branch in enumerate(pattern.branches):
                for node in reverse_post_order(low, [branch]):
                    if node not in always:
                        owner.setdefault(node, set()).add((k, choice))
    return {node: frozenset(pairs) for node, pairs in owner.items()}
