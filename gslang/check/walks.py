"""The nodes, targets and values right below one, and walks over all that is below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, Final, TypeGuard

from gslang.base.reachable import reachable
from gslang.check import checked as ir

_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def reverse_post_order(patterns: Sequence[ir.Pattern], outputs: Sequence[int]) -> list[int]:
    """Pattern nodes in the order in which they are matched."""
    seen: set[int] = set()
    result: list[int] = []
    for output in outputs:
        if output in seen:
            continue
        seen.add(output)
        stack = [(output, iter(patterns[output].below))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if child not in seen:
                    seen.add(child)
                    stack.append((child, iter(patterns[child].below)))
                    break
            else:
                stack.pop()
                result.append(node)
    return result


def always_matched(rule: ir.CheckedRule, of_blocks: bool = False) -> frozenset[int]:
    """Pattern nodes that every match binds once: not inside an alternation or a template. With `of_blocks`
    also those that every instance of a template binds.
    """
    nodes = rule.nodes

    def below(node: int) -> list[int]:
        parts = () if isinstance(nodes[node], ir.AltNode) else nodes[node].below
        return [part for part in parts if of_blocks or nodes[part].block is None]

    roots = [root for root in rule.roots if of_blocks or nodes[root].block is None]
    return frozenset(reachable(roots, below))


def walk(item: object, lets: Sequence[ir.Value] = (), sure: bool = False) -> Iterator[Any]:
    """A value, test or constraint and all its parts, in order; what is shared, once. With `lets` also what
    those that are read are made of; `sure`: only what is evaluated whatever the match is.
    """
    stack, met = [item], set[int]()
    while stack:
        part = stack.pop()
        if id(part) in met and not isinstance(part, (int, str)):
            continue
        met.add(id(part))
        yield part
        if isinstance(part, (tuple, list)):
            stack.extend(reversed(part))
        elif sure and isinstance(part, ir.Partly):
            stack.extend(reversed(part.surely))
        else:
            kind: type = type(part)
            if lets and isinstance(part, ir.Let):
                stack.append(lets[part.let])
            stack.extend([getattr(part, name) for name in _names_below(kind)])


@cache
def _names_below(kind: type) -> tuple[str, ...]:
    """The fields of a class that parts stand in, the last one first."""
    names = [f.name for f in reversed(fields(kind))] if is_dataclass(kind) else []
    return tuple([name for name in names if not name.endswith(("span", "spans"))])


def conjuncts(conditions: Iterable[ir.Value], lets: Sequence[ir.Value] = ()) -> Iterator[ir.Value]:
    """Conditions that must all be true, `and` taken apart: only true passes, so what is unknown may be found
    out anywhere. With `lets` also those that are named.
    """
    for condition in conditions:
        whole = condition.meant(lets)
        if isinstance(whole, ir.AllOf):
            yield from conjuncts(whole.items, lets)
        else:
            yield condition


def equations(conditions: Iterable[ir.Value]) -> Iterator[tuple[ir.NodeAttr, ir.Value]]:
    """Fields of nodes with what conditions say that they equal; both ways."""
    for condition in conjuncts(conditions):
        if isinstance(condition, ir.CompareValue) and condition.operator == "==":
            for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
                if isinstance(side, ir.NodeAttr):
                    yield side, other


def against_constant(condition: object) -> tuple[ir.Value, str, object] | None:
    """The value that a condition compares with a constant, the sign with the constant on its right, and the
    constant; None for other conditions.
    """
    match condition:
        case ir.CompareValue(_, ir.Const(), ir.Const()):
            return None
        case ir.CompareValue(sign, value, ir.Const(constant)):
            return value, sign, constant
        case ir.CompareValue(sign, ir.Const(constant), value) if sign in _FLIPPED:
            return value, _FLIPPED[sign], constant
    return None


def readings(item: object, lets: Sequence[ir.Value]) -> Iterator[ir.Reading]:
    """All that a value, test or constraint reads of the match, its lets and what these read included; what is
    shared, once.
    """
    return (part for part in walk(item, lets) if isinstance(part, ir.Reading))


@lru_cache(maxsize=4)
def attributes_read(rule: ir.CheckedRule) -> frozenset[tuple[int, str]]:
    """(pattern node, attribute) of all that a rule reads, an alternation's also as those of its branches."""
    tested = tuple([node.constraints for node in rule.nodes])
    found: set[tuple[int, str]] = set()
    for part in walk((rule.where, rule.lets, rule.target.targets, rule.blocks, tested)):
        nodes = [part.node] if isinstance(part, ir.NodeAttr) else []
        for node in nodes:
            found.add((node, part.name))
            nodes += rule.nodes[node].stands_for
    return frozenset(found)


def values_below(value: object) -> Iterator[Any]:
    """The values, tests and places right below one."""
    kind: type = type(value)
    stack = [getattr(value, name) for name in _names_below(kind)]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(reversed(part))
        elif is_dataclass(part):
            yield part


def field_of(value: object) -> str | None:
    """The field of a node that a value is."""
    return value.name if isinstance(value, ir.NodeAttr) else None


def dimension_of(value: object) -> tuple[ir.NodeAttr, int] | None:
    """`x.shape[2]`: the shape and the index, if that is written out."""
    match value:
        case ir.ItemValue(base, ir.Const(int() as index)) if is_field(base, "shape"):
            return base, index
    return None


def is_field(value: object, name: str) -> TypeGuard[ir.NodeAttr]:
    """True for `x.name` of a node."""
    return isinstance(value, ir.NodeAttr) and value.name == name


def within_captures(test: ir.Test) -> ir.Test:
    """A test without the captures around it."""
    while isinstance(test, ir.Capture):
        test = test.test
    return test


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
