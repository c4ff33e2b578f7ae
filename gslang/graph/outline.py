"""Outlines: the part of a target that depends on constants and parameters only, laid down as one node.

Where folding follows a step of rules, such a part would be built call by call, only to be computed and
removed. As an outline it is computed for all applications of the rule together. No outline outlives the two
steps: what is not computed is written out again (`write_out`), with the calls that the rule says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import OUTLINE, Graph

ARITHMETIC: Final[Mapping[str, str]] = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "divide": "divide",
    "sqrt": "sqrt",
    "negative": "negative",
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "Sqrt": "sqrt",
    "Neg": "negative",
}
"""Operator → NumPy's function.

Each result is correctly rounded, whether it is computed alone or among others.
"""
SMALL: Final = 1 << 16  # bytes of a value in an outline; with larger ones, computing is what takes the time


@dataclass(frozen=True, slots=True)
class OutlinedNode:
    """A call, or a constant (`value`). An operand is the number of an earlier node, or `~k`, operand k of the
    outline.

    `place`: where the rule's target has it; outlines of one application may share it.
    """

    op: str
    operands: tuple[int, ...]
    attrs: Attrs
    type: TensorType
    value: Any
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """`nodes`: operands before users; the last one is the result.

    `position`: the outlines of one application are numbered in a row.
    """

    nodes: tuple[OutlinedNode, ...]
    position: int


def outlines_of(graph: Graph) -> list[int]:
    """The outlines in a graph."""
    op = graph.op
    return (
        [node for node in range(op.index(OUTLINE), len(op)) if op[node] is OUTLINE] if OUTLINE in op else []
    )


def outline_at(graph: Graph, node: int) -> Outline:
    """The calls that an outline stands for."""
    outline: Outline = graph.attrs[node]["outline"]
    return outline


def write_out(graph: Graph) -> None:
    """Put calls in the place of all outlines. The order of the graph is made anew."""
    made: dict[tuple[int, int], int] = {}  # (the application's first outline, place) → node
    moved: dict[int, int] = {}
    for node in outlines_of(graph):
        outline, operands = outline_at(graph, node), graph.operands[node]
        numbers: list[int] = []
        for part in outline.nodes:
            key = (node - outline.position, part.place)
            if key not in made:
                if part.value is not None:
                    made[key] = graph.add_const(part.value, part.type)
                else:
                    below = tuple([numbers[k] if k >= 0 else operands[~k] for k in part.operands])
                    made[key] = graph.add(part.op, below, part.attrs, type=part.type)
            numbers.append(made[key])
        moved[node] = numbers[-1]
        graph.names[numbers[-1]], graph.names[node] = graph.names[node], None
    if moved:
        graph.order = None
        graph.replace_uses(moved)
        graph.remove_dead(moved)
