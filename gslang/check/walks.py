"""The nodes, targets and values right below one, and walks over all that is below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from gslang.check import checked as ir


def parts(node: ir.Pattern) -> tuple[int | None | ir.Splice, ...]:
    """Operands of a call, fields of a tuple."""
    match node:
        case ir.CallNode(operands=found) | ir.TupleNode(fields=found):
            return found
    return ()


def children(node: ir.Pattern) -> tuple[int, ...]:
    """The pattern nodes right below a node."""
    match node:
        case ir.CallNode() | ir.TupleNode():
            return tuple(p.node if isinstance(p, ir.Splice) else p for p in parts(node) if p is not None)
        case ir.ProjNode(base=base):
            return (base,)
        case ir.AltNode(branches=branches):
            return branches
        case ir.ChainNode(root=root, start=start):
            return (root, start)  # matched from the end
    return ()


def reverse_post_order(patterns: Sequence[ir.Pattern], outputs: Sequence[int]) -> list[int]:
    """Pattern nodes in the order in which they are matched."""
    seen: set[int] = set()
    result: list[int] = []
    for output in outputs:
        if output in seen:
            continue
        seen.add(output)
        stack = [(output, iter(children(patterns[output])))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if child not in seen:
                    seen.add(child)
                    stack.append((child, iter(children(patterns[child]))))
                    break
            else:
                stack.pop()
                result.append(node)
    return result


def walk(item: object) -> Iterator[Any]:
    """A value, test or constraint and all its parts, in order; what is shared, once."""
    stack, met = [item], set[int]()
    while stack:
        part = stack.pop()
        if id(part) in met and not isinstance(part, (int, str)):
            continue
        met.add(id(part))
        yield part
        if isinstance(part, tuple):
            stack.extend(reversed(part))
        else:
            kind: type = type(part)
            stack.extend([getattr(part, name) for name in _names_below(kind)])


@cache
def _names_below(kind: type) -> tuple[str, ...]:
    """The fields of a class that parts stand in, the last one first."""
    return tuple(f.name for f in reversed(fields(kind)) if f.name != "span") if is_dataclass(kind) else ()


def targets_in(target: object) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The targets that a target is made of, and the values that it reads."""
    match target:
        case ir.MakeCall(_, operands, attributes, spreads):
            return operands, (attributes, spreads)
        case ir.MakeTuple(parts):
            return parts, ()
        case ir.MakeProj(base, index):
            return (base,), (index,)
        case ir.Repeat(element, _, source, condition, _):
            return (element,), (source, condition)
        case ir.Projections(base):
            return (base,), ()
        case ir.ChooseTarget(condition, then, otherwise):
            return (then, otherwise), (condition,)
    return (), (target,)


def targets_below(target: ir.Target) -> tuple[int, ...]:
    """The targets right below one, the arms of a choice included."""
    if isinstance(target, ir.SelectTarget):
        return tuple(arm for arm in target.arms if arm is not None)
    return targets_in(target)[0]


def heights(
    numbers: Iterable[int],
    below: Callable[[int], Iterable[int]],
    own: Callable[[int], int] = lambda number: 1,
) -> dict[int, int]:
    """Number → the largest sum of `own` on a way down, itself included. There are no circles."""
    found: dict[int, int] = {}
    for number in numbers:
        stack = [number]
        while stack:
            top = stack[-1]
            if missing := [other for other in below(top) if other not in found]:
                stack += missing
                continue
            found[stack.pop()] = own(top) + max([found[other] for other in below(top)], default=0)
    return found
