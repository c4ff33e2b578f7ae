"""Generality of sources: every match of one is also a match of the other, shown by laying the more general
pattern over the more special one.

The answer yes is certain. No may mean "not seen": templates and alternations below the more general root are
compared only where they are equal. Used by L0202 (unreachable) and L0206 (duplicate).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir

_MOST_NODES = 100  # larger patterns are not compared: each node is one level of the search
_MOST_STEPS = 20_000  # of one search; sums of sums have many orders


@dataclass(slots=True)
class Overlay:
    """A mapping: nodes, captures, locals and templates of the general rule → those of the special one."""

    general: ir.CheckedRule
    special: ir.CheckedRule
    nodes: dict[int, int] = field(default_factory=dict)
    captures: dict[int, int] = field(default_factory=dict)
    locals: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, int] = field(default_factory=dict)


def overlays(general: ir.CheckedRule, special: ir.CheckedRule) -> Iterator[Overlay]:
    """The ways to lay one source over another such that each match of `special` is one of `general`."""
    if len(general.outputs) != len(special.outputs) or (general.output_block is None) != (
        special.output_block is None
    ):
        return
    if len(general.blocks) != len(special.blocks) or not _holds_for(general.opset, special.opset):
        return
    if (
        max(len(general.nodes), len(special.nodes), len(general.target.targets), len(special.target.targets))
        > _MOST_NODES
    ):
        return
    for nodes in _laid(general, special, list(zip(general.roots, special.roots)), {}, [_MOST_STEPS]):
        overlay = Overlay(general, special, nodes)
        if _nodes_agree(overlay) and _blocks_agree(overlay) and _constraints_follow(overlay):
            yield overlay


def _holds_for(general: tuple[int | None, int | None], special: tuple[int | None, int | None]) -> bool:
    """True if a rule runs for all the operator sets that the other runs for."""
    (low, high), (least, most) = general, special
    return (low is None or least is not None and least >= low) and (
        high is None or most is not None and most <= high
    )


def _laid(
    general: ir.CheckedRule,
    special: ir.CheckedRule,
    todo: list[tuple[int, int]],
    nodes: dict[int, int],
    steps: list[int],
) -> Iterator[dict[int, int]]:
    """Assignments of nodes such that operators fit; operands of commutative operators in both orders.

    `steps` are left for the search.
    """
    steps[0] -= 1
    if steps[0] < 0:
        return
    if not todo:
        yield nodes
        return
    (g, s), *rest = todo
    if g in nodes:
        if nodes[g] == s:
            yield from _laid(general, special, rest, nodes, steps)
        return
    nodes = {**nodes, g: s}
    a, b = general.nodes[g], special.nodes[s]
    if isinstance(a, ir.LeafNode):
        if _leaf_covers(a, b):
            yield from _laid(general, special, rest, nodes, steps)
    elif (
        type(a) is type(b) and not isinstance(a, ir.ChainNode) and set(b.operators) <= set(a.operators)
        and (a.variable is None) == (b.variable is None)
    ):
        left, right = a.parts or a.below, b.parts or b.below
        orders = [right]
        if b.operators and set(b.operators) <= a.swappable and len(right) == 2:
            orders.append(right[::-1])
        for order in orders:
            inner = _pairs(left, order)
            if inner is not None:
                yield from _laid(general, special, inner + rest, nodes, steps)


def _pairs(
    left: Sequence[int | ir.Splice | None], right: Sequence[int | ir.Splice | None]
) -> list[tuple[int, int]] | None:
    """Operands side by side, or None if they do not fit."""
    found: list[tuple[int, int]] = []
    if len(left) != len(right):
        return None
    for pair in zip(left, right):
        match pair:
            case int() as x, int() as y:
                found.append((x, y))
            case ir.Splice(node=x), ir.Splice(node=y):
                found.append((x, y))
            case None, None:
                pass
            case _:
                return None
    return found


def _leaf_covers(leaf: ir.LeafNode, other: ir.Pattern) -> bool:
    if isinstance(other, ir.LeafNode):
        if other.optional and not leaf.optional:
            return False
        return (
            leaf.kind == "any" or other.kind != "any" and ir.OF_KIND[other.kind] <= ir.OF_KIND[leaf.kind]
        )
    return leaf.kind == "any"


def _nodes_agree(overlay: Overlay) -> bool:
    """True if nodes that must be private, distinct or kept in the general rule are so in the special one."""
    general, special, nodes = overlay.general, overlay.special, overlay.nodes
    inner = [nodes[k] for k in sorted(general.interior)]
    roots = [nodes[k] for k in general.roots if k not in general.interior]
    return len({*inner, *roots}) == len(inner) + len(roots) and set(inner) <= special.interior


def _blocks_agree(overlay: Overlay) -> bool:
    """Templates stand on templates, with the same bounds, conditions and, inside, constraints."""
    general, special = overlay.general, overlay.special
    for g, s in overlay.nodes.items():
        a, b = general.nodes[g].block, special.nodes[s].block
        if (
            (a is None) != (b is None) or a is not None and b is not None
            and overlay.blocks.setdefault(a, b) != b
        ):
            return False
        if a is not None and len(general.nodes[g].constraints) != len(special.nodes[s].constraints):
            return False
    if len(overlay.blocks) != len(general.blocks) or len(set(overlay.blocks.values())) != len(overlay.blocks):
        return False
    for k, m in overlay.blocks.items():
        x, y = general.blocks[k], special.blocks[m]
        if (
            x.as_outputs != y.as_outputs or len(x.nodes) != len(y.nodes)
            or overlay.nodes.get(x.root) != y.root
        ):
            return False
        if not all(
            same(p, q, overlay)
            for p, q in ((x.minimum, y.minimum), (x.maximum, y.maximum), (x.where, y.where))
        ):
            return False
    return True


def _constraints_follow(overlay: Overlay) -> bool:
    """Each constraint and condition of the general rule is one of the special rule."""
    general, special = overlay.general, overlay.special
    for g, s in overlay.nodes.items():
        for wanted in general.nodes[g].constraints:
            if not any(same(wanted, given, overlay) for given in special.nodes[s].constraints):
                return False
    return all(any(same(wanted, given, overlay) for given in special.where) for wanted in general.where)


def same(a: Any, b: Any, overlay: Overlay) -> bool:
    """True if two values, tests or targets say the same, where numbers of the general rule stand for those of
    the special one.
    """
    if type(a) is not type(b):
        return False
    match a:
        case tuple():
            return len(a) == len(b) and all(same(x, y, overlay) for x, y in zip(a, b))
        case ir.Captured() if a.capture not in overlay.captures:
            return False
        case ir.SameNode():
            return all(overlay.nodes.get(x[1]) == y[1] for x, y in ((a.left, b.left), (a.right, b.right)))
    if not hasattr(a, "__dataclass_fields__"):
        return bool(a == b)
    for name in a.__dataclass_fields__:
        x, y = getattr(a, name), getattr(b, name)
        if name.endswith("span"):
            continue
        match name:
            case "node":
                fits = overlay.nodes.get(x) == y
            case "block":
                fits = overlay.blocks.get(x) == y
            case "let":
                fits = same(overlay.general.lets[x], overlay.special.lets[y], overlay)
            case "capture":
                fits = overlay.captures.setdefault(x, y) == y
            case "local":
                fits = overlay.locals.setdefault(x, y) == y
            case "locals":
                fits = len(x) == len(y) and all(
                    overlay.locals.setdefault(k, m) == m for k, m in zip(x, y)
                )
            case _:
                fits = same(x, y, overlay)
        if not fits:
            return False
    return True


def same_targets(overlay: Overlay) -> bool:
    """True if both rules build the same, operands of commutative operators in either order."""
    general, special = overlay.general.target, overlay.special.target
    return len(general.outputs) == len(special.outputs) and all(
        _same_target(x, y, overlay) for x, y in zip(general.outputs, special.outputs)
    )


def _same_target(x: int, y: int, overlay: Overlay) -> bool:
    a, b = overlay.general.target.targets[x], overlay.special.target.targets[y]
    match a, b:
        case ir.NewNode(), ir.NewNode():
            if a.operator != b.operator or len(a.parts) != len(b.parts):
                return False
            if not same(
                tuple(sorted(a.attributes, key=_key)), tuple(sorted(b.attributes, key=_key)), overlay
            ) or not same(a.spreads, b.spreads, overlay):
                return False
            signature = overlay.general.dialect.get(a.operator) if isinstance(a.operator, str) else None
            orders = [b.parts]
            if signature is not None and "commutative" in signature.traits and len(b.parts) == 2:
                orders.append(b.parts[::-1])
            return any(all(_same_target(p, q, overlay) for p, q in zip(a.parts, order)) for order in orders)
        case ir.Repeat(), ir.Repeat() if len(a.locals) != len(b.locals) or any(
            overlay.locals.setdefault(k, m) != m for k, m in zip(a.locals, b.locals)
        ):
            return False
    return (
        type(a) is type(b) and same(a.reads, b.reads, overlay) and len(a.parts) == len(b.parts)
        and all(_same_target(p, q, overlay) for p, q in zip(a.parts, b.parts))
    )


def _key(attribute: tuple[str, ir.Value]) -> str:
    return attribute[0]
