"""Conditions on numbers that calls choose, which are asked as soon as these are chosen: before other calls
make cases of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from gslang.engine.scope import UNBOUND
from gslang.verify.prove.case import Case
from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.onnx_slices import places_of_slice
from gslang.verify.prove.operators.symbolic_graph import Operands
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.terms.opaque import NotGrown
from gslang.verify.prove.terms.sizes import Number
from gslang.verify.prove.watched import Chosen


def still_open(case: Case, waiting: Iterable[Chosen]) -> list[Chosen]:
    """The conditions that cannot be asked yet, or cannot be read. Raises `Impossible` if another one fails.
    """
    found = []
    for chosen in waiting:
        known = (
            case.takes(chosen.branches) and _all_bound(case, chosen) and _all_grown(case, chosen)
            and all(map(_is_known, _leaves(case, chosen.numbers)))
        )
        if not (known and case.cut_off(chosen.condition)):
            found.append(chosen)
    return found


def _all_bound(case: Case, chosen: Chosen) -> bool:
    """True if the inputs that a condition looks at are there, but for those in instances."""
    return all(
        case.rule.nodes[node].block is not None or case.scope.slots[node] != UNBOUND for node in chosen.asked
    )


def _all_grown(case: Case, chosen: Chosen) -> bool:
    """True if all instances are there that a condition looks at."""
    blocks = {case.rule.nodes[node].block for node in chosen.asked} - {None}
    return not blocks or bool(case.world.counted) and not any(
        isinstance(case.scope.instances[block], NotGrown) for block in blocks if block is not None
    )


def spell_bounds(case: Case, operator: str, slots: Sequence[int]) -> None:
    """Let conditions read the bounds of a slice in an instance before it makes cases of them: any numbers."""
    world, scope = case.world, case.scope
    if operator != "Slice" or not world.counted or scope.current is None:
        return
    if not isinstance(case.graph.values[slots[0]], Leaf):
        return  # bounds of a part of a shape are cases
    for leaf in (case.graph.values[slot] for slot in slots[1:3]):
        sizes = leaf.given or leaf.known if isinstance(leaf, Leaf) and leaf.is_constant else ()
        if isinstance(leaf, Leaf) and len(sizes) == 1 and type(length := sizes[0]) is int:
            leaf.spelled = partial(_any_numbers, world, length)


def settle_axes(case: Case, slot: int) -> None:
    """Choose the axes of a slice of slices before these make cases of their bounds: mostly, conditions say
    that the axes are others, or the same.
    """
    graph, found = case.graph, list[int]()
    while graph.op[slot] == "Slice":
        found.append(slot)
        slot = graph.operands[slot][0]
    if len(found) < 2 or not isinstance(leaf := graph.values[slot], Leaf):
        return
    x = leaf.resolved()
    for slot in reversed(found if x.items is None else ()):
        operands = Operands(graph, graph.operands[slot])
        places_of_slice(case.world, [operand(operands, k) for k in range(1, 5)], len(x.shape))


def _any_numbers(world: World, count: int) -> tuple[Number, ...]:
    return tuple(world.facts.size("bound", None) for _ in range(count))


def _is_known(leaf: object) -> bool:
    return isinstance(leaf, Leaf) and (
        bool(leaf.chosen) or leaf.numbers is not None or leaf.spelled is not None
    )


def _leaves(case: Case, nodes: Iterable[int]) -> Iterator[object]:
    """Inputs of the source, each in all of its instances."""
    scope = case.scope
    for node in nodes:
        block = case.rule.nodes[node].block
        places = [scope.slots] if block is None else [instance.slots for instance in scope.instances[block]]
        yield from (case.graph.values[slots[node]] for slots in places if slots[node] >= 0)
