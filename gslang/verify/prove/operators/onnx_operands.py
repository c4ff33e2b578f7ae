"""Whole-number operands of ONNX calls over symbolic tensors: axes and shapes.

Where an operand says which axes, or which shape, and its value is not known, every value is a case: it is
chosen once for each input and each shape that it is applied to, so that source and target see the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.verify.prove.operators.relay_movement import plain_axis
from gslang.verify.prove.operators.tensors import Operands, Tensor, World
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number

SINGLE_OPERANDS: dict[str, tuple[int, ...]] = {"Clip": (1, 2)}
"""Operands that must have one element."""


def _departs(rule: ir.CheckedRule, node: ir.Pattern) -> bool:
    """True if a file declares an operator of a node anew: then nothing is known of its operands."""
    declared = [rule.dialect.get(operator) for operator in node.operators]
    return any(signature is not None and signature.departs for signature in declared)


def asked_to_be_single(rule: ir.CheckedRule) -> frozenset[int]:
    """Pattern nodes that have one element because each call that they are operands of takes no other."""
    single: set[int] = set()
    other: set[int] = set()
    for node in rule.nodes:
        if isinstance(node, ir.CallNode):
            departs = _departs(rule, node)
            for k, operand_ in enumerate(node.operands):
                if isinstance(operand_, int):
                    alone = not departs and all(k in SINGLE_OPERANDS.get(o, ()) for o in node.operators)
                    (single if alone else other).add(operand_)
        else:
            other.update(node.below)
    return frozenset(single - other)


_NUMBERS = frozenset({"Range"})  # operators that read one number of each operand, whatever its rank
_OF_ELEMENTS = frozenset({"value", "dtype"})  # tests that do not ask for ranks


def bare_numbers(rule: ir.CheckedRule) -> frozenset[int]:
    """Inputs of which a rule says no more than that an operator reads their number: their ranks make no
    difference, so one of them stands for all.
    """
    calls: Counter[int] = Counter()
    others = set(rule.outputs)
    for node in rule.nodes:
        numbers_only = bool(node.operators) and _NUMBERS.issuperset(node.operators)
        numbers_only = numbers_only and not _departs(rule, node)
        (calls if numbers_only else others).update(node.below)
    read = walk((rule.where, rule.lets, rule.target, rule.blocks, [node.constraints for node in rule.nodes]))
    others.update(part.node for part in read if isinstance(part, (ir.NodeReference, ir.MatchedNodes)))
    return frozenset([
        node for node, leaf in rule.leaves.items()
        if calls[node] == 1 and node not in others and all(test.field in _OF_ELEMENTS for test in leaf.tests)
    ])


def operand(operands: Operands, k: int) -> Any:
    """Operand k, None where it is absent."""
    return operands[k] if k < len(operands) else None


def whole_numbers(
    world: World, tensor: Any, key: str, choose: Callable[[], tuple[Number, ...]]
) -> tuple[Number, ...]:
    """The elements of a vector: known, or chosen for this case under `key`."""
    if tensor.items is not None:
        return tuple(tensor.items)
    if tensor.leaf is None:
        raise NotProved("computed shapes and axes are not supported")
    chosen = tensor.leaf.chosen
    if key not in chosen:
        if not world.reading:
            raise NotProved("the target uses a shape or axes as the source does not")
        chosen[key] = choose()
    return tuple(chosen[key])


def vector_numbers(world: World, tensor: Tensor) -> tuple[Number, ...] | None:
    """The numbers of a vector: known, or any whole numbers of an input whose numbers say what a call does.
    None for others.
    """
    if tensor.items is not None:
        return tuple(tensor.items)
    leaf = tensor.leaf
    if leaf is None or not leaf.is_vector or len(tensor.shape) != 1:
        return None
    if leaf.numbers is None:
        if not world.reading:
            raise NotProved("the target uses operand values that the source does not")
        length = world.facts.normal(tensor.shape[0])
        if type(length) is not int:
            length = world.choose_rank()
            world.need_equal(tensor.shape[0], length, "length of a vector")
        leaf.numbers = tuple(world.facts.size("number", None) for _ in range(length))
    return tuple(map(world.facts.normal, leaf.numbers))


def axes_operand(
    world: World, operands: Operands, k: int, rank: int, ordered: bool = False
) -> tuple[int, ...] | None:
    """Axes that operand k (or the attribute, in older versions) says, counted from the front; None where
    there is none.

    `ordered`: their order says something, as it does where the rule reads them.
    """
    tensor = operand(operands, k)
    if tensor is None:
        return None
    read = tensor.leaf is not None and tensor.leaf.is_read
    length = world.facts.normal(tensor.shape[0]) if len(tensor.shape) == 1 else None
    counts = (length,) if type(length) is int else range(rank + 1)
    select = permutations if ordered or read else combinations
    subsets = [s for n in counts for s in select(range(rank), n)]
    key = f"axes of {rank}{' in order' if ordered and not read else ''}"
    found = whole_numbers(world, tensor, key, lambda: subsets[world.facts.choices.choose(len(subsets))])
    if tensor.leaf is not None and len(tensor.shape) == 1:
        world.need_equal(tensor.shape[0], len(found), "number of axes")
    return tuple(plain_axis(world, a, rank) for a in found)
