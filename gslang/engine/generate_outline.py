"""Targets of which the part that depends on constants only is laid down as outlines (`graph.outline`).

Only where folding follows, no pattern of the step could match a call of that part, and it is small: then
nobody sees the difference, but that folding computes the part of all applications at once. The other new
nodes have the labels that they would have in the whole target, so that later sweeps come to them in the same
order.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.tensor_type import TensorType, Type, is_static
from gslang.engine.generate_stamp import Layout, Stamp
from gslang.graph.graph import CONST
from gslang.graph.outline import ARITHMETIC, SMALL, Outline, OutlinedNode

RESHAPING: Final = frozenset(("expand_dims", "reshape", "squeeze", "Unsqueeze", "Reshape", "Squeeze"))
"""Operators whose result is the first operand in another shape."""

_FLOATS: Final = {"float32": 4, "float64": 8}  # → bytes


@dataclass(frozen=True, slots=True)
class OutlinedLayout:
    """`layout`: outlines first, then the other nodes. `places`: where the whole target has these. `inside`:
    for each outline the nodes that it stands for, as (operator, operands as an `OutlinedNode` has them,
    place). `leaves`: what they read, as code. `operators`: of these nodes.
    """

    layout: Layout
    places: tuple[int, ...]
    inside: tuple[tuple[tuple[str, tuple[int, ...], int], ...], ...]
    leaves: tuple[str, ...]
    operators: tuple[str, ...]


def outlined_layout(rule: ir.CheckedRule, layout: Layout) -> OutlinedLayout | None:
    """None where no call would be saved."""
    within = _constant_part(rule, layout)
    readers = [
        [k for k, items in enumerate(layout.operands) if f"n{node}" in items]
        for node in range(len(layout.operators))
    ]
    tops = [
        k
        for k in sorted(within)
        if layout.operators[k] != "CONST"
        and (f"n{k}" in layout.outputs or any(r not in within for r in readers[k]))
    ]
    calls = [k for k in sorted(within) if layout.operators[k] != "CONST"]
    if len(calls) <= len(tops):
        return None
    kept = [
        k
        for k in range(len(layout.operators))
        if k not in within or layout.operators[k] == "CONST" and any(r not in within for r in readers[k])
    ]
    places = (*tops, *kept)
    renamed = {f"n{place}": f"n{position}" for position, place in enumerate(places)}
    parts = [_below(layout, top) for top in tops]
    operands = [
        tuple(dict.fromkeys(item for k in part for item in layout.operands[k] if item[0] == "v"))
        for part in parts
    ]
    if not all(operands):
        return None
    inside = tuple([_numbered(layout, part, leaves) for part, leaves in zip(parts, operands)])
    small = Layout(
        ("OUTLINE",) * len(tops) + tuple([layout.operators[k] for k in kept]),
        (*operands, *[tuple([renamed.get(item, item) for item in layout.operands[k]]) for k in kept]),
        tuple([renamed.get(item, item) for item in layout.outputs]),
        layout.key,
    )
    leaves = tuple(dict.fromkeys(leaf for items in operands for leaf in items))
    return OutlinedLayout(
        small, places, inside, leaves, tuple(sorted({layout.operators[k].strip("'") for k in calls}))
    )


def _constant_part(rule: ir.CheckedRule, layout: Layout) -> set[int]:
    """Calls that can be computed once the inputs that they read have values, and the constants that these
    read.
    """
    found: set[int] = set()
    for k, (operator, items) in enumerate(zip(layout.operators, layout.operands)):
        name = operator.strip("'")
        if (
            operator == "CONST" or items and (name in ARITHMETIC or name in RESHAPING)
            and all(_is_constant(rule, item, found) for item in items)
        ):
            found.add(k)
    while unread := [
        k
        for k in found
        if layout.operators[k] == "CONST" and not any(f"n{k}" in layout.operands[r] for r in found)
    ]:
        found.difference_update(unread)
    return found


def _is_constant(rule: ir.CheckedRule, item: str, found: set[int]) -> bool:
    if item[0] == "n":
        return int(item[1:]) in found
    return item[0] == "v" and isinstance(node := rule.nodes[int(item[1:])], ir.LeafNode) and not node.optional


def _below(layout: Layout, top: int) -> list[int]:
    found, stack = {top}, [top]
    while stack:
        for item in layout.operands[stack.pop()]:
            if item[0] == "n" and int(item[1:]) not in found:
                found.add(int(item[1:]))
                stack.append(int(item[1:]))
    return sorted(found)


def _numbered(
    layout: Layout, part: list[int], leaves: tuple[str, ...]
) -> tuple[tuple[str, tuple[int, ...], int], ...]:
    def number(item: str) -> int:
        return part.index(int(item[1:])) if item[0] == "n" else ~leaves.index(item)

    return tuple([(layout.operators[k].strip("'"), tuple(map(number, layout.operands[k])), k) for k in part])


class OutlinedStamps(dict[int, "Stamp | bool"]):
    """`id` of a whole stamp → the one with outlines; False where values would be too large, or are no
    floating-point numbers.
    """

    def __init__(self, outlined: OutlinedLayout) -> None:
        self.outlined = outlined

    def of(self, stamp: Stamp) -> Stamp | bool:
        """The stamp with outlines for a whole one, which is never forgotten, so that its `id` remains its
        own.
        """
        result = self[id(stamp)] = self._made(stamp)
        return result

    def _made(self, stamp: Stamp) -> Stamp | bool:
        values = dict(stamp.values)
        outlines = []
        for position, inside in enumerate(self.outlined.inside):
            nodes = []
            for op, operands, place in inside:
                type_ = stamp.types[place]
                if not isinstance(type_, TensorType) or op != "CONST" and not _is_small(type_):
                    return False
                nodes.append(OutlinedNode(
                    CONST if op == "CONST" else op, operands, stamp.attrs[place], type_, values.get(place),
                    place,
                ))
            if len({node.type.dtype for node in nodes if node.op is not CONST}) > 1:
                return False
            outlines.append(Outline(tuple(nodes), position))
        kept = self.outlined.places[len(outlines) :]
        return replace(
            stamp,
            attrs=(*[{"outline": outline} for outline in outlines], *[stamp.attrs[place] for place in kept]),
            types=tuple([stamp.types[place] for place in self.outlined.places]),
            values=tuple(
                [(len(outlines) + k, values[place]) for k, place in enumerate(kept) if place in values]
            ),
        )


def _is_small(type_: Type) -> bool:
    if not isinstance(type_, TensorType) or type_.dtype not in _FLOATS or not is_static(type_.shape):
        return False
    return math.prod(type_.shape or ()) * _FLOATS[type_.dtype] <= SMALL  # type: ignore[arg-type]
