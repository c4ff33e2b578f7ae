"""Numbers of which constants are made where a rule leaves them open: like those of a model, small ones of
both signs, nothing, halves, ties; and where they are only computed with, the ends of their own type and of
narrower ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from random import Random
from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import readings, walk
from gslang.dialect.dtypes import whole_numbers
from gslang.verify.reads import nodes_read

_WHOLE = (0, 1, -1, 2, -2, 3, -3, 7, 64, -100)
_REAL = (0.0, 1.0, -1.0, 0.5, -0.5, -2.0, 3.0, -0.125, 6.0, 64.0)
_SMALL = tuple(range(7))
_LIKE_WEIGHTS = tuple(k / 8 for k in range(2, 17))
_WITH_ENDS = 0.3  # share of constants with numbers that are far from others
_NARROWER = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
_BEYOND = (300, -300, 2**11 + 1, 2**24 + 1)  # more than a byte, and than floats of 16 and 32 bits tell apart
_FAR = (256.0, -256.0, 2.0**14, 2.0**16)  # their products, and sums with `_REAL`, are exact in float32
# operand 1 says how often something is done
_COUNTING = frozenset({"Pow", "power", "BitShift", "left_shift", "right_shift"})


def open_numbers(rng: Random, dtype: str, count: int, computed_with: bool) -> list[Any]:
    """Numbers of a constant of an element type. `computed_with`: no shape, index or count depends on them."""
    if dtype == "bool":  # most numbers would be true
        return [rng.random() < 0.6 for _ in range(count)]
    whole = whole_numbers(dtype) is not None
    far = rng.choice(rng.choice(_far(dtype))) if computed_with and rng.random() < _WITH_ENDS else None
    found: list[Any]
    if rng.random() < 0.5:  # numbers like those of a model
        found = rng.choices(_SMALL if whole else _LIKE_WEIGHTS, k=count)
    else:
        found = rng.choices(_WHOLE if whole else _REAL, k=count)
    if dtype.startswith("uint"):
        found = [abs(number) for number in found]
    return found if far is None else [far if count == 1 or rng.random() < 0.5 else n for n in found]


@cache
def _far(dtype: str) -> tuple[tuple[float, ...], ...]:
    """Numbers of a type that are far from 0, in groups: its own ends, those of narrower types and what is
    beyond them, others.
    """
    own = whole_numbers(dtype)
    if own is None:
        return (_REAL if dtype == "float16" else _FAR,)
    least, most = own
    ends = [end for name in _NARROWER for end in whole_numbers(name) or () if end]
    narrower = {number for end in ends for number in (end, end + (1 if end > 0 else -1))}
    groups = (narrower, _BEYOND)
    inside = [tuple(sorted(number for number in group if least < number < most)) for group in groups]
    return (least, most, most), *filter(None, inside)


@lru_cache(maxsize=4)
def not_computed_with(rule: ir.CheckedRule) -> frozenset[int]:
    """The nodes of a source on whose numbers a shape, an index or a count may depend: those below any call
    that is not element-wise, and those that the rule counts up to.
    """
    found: set[int] = set()
    left = list(_counted_up_to(rule))
    for node in rule.nodes:
        if isinstance(node, ir.CallNode) and all(_is_elementwise(rule, name) for name in node.operators):
            left += [part for part in node.operands[1:2] if isinstance(part, int) and _counts(node)]
        elif not node.stands_for:
            left += node.below
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left += rule.nodes[number].below
    return frozenset(found)


def _counted_up_to(rule: ir.CheckedRule) -> Iterator[int]:
    """The nodes that are read to tell the length of a range, or an exponent: both have a limit."""
    tests = tuple([node.constraints for node in rule.nodes])
    for part in walk((rule.where, rule.lets, rule.blocks, rule.target.targets, tests)):
        match part:
            case ir.Builtin("range") | ir.BinaryValue("**"):
                yield from nodes_read(rule, readings(part, rule.lets))


def _is_elementwise(rule: ir.CheckedRule, operator: str) -> bool:
    return bool(rule.dialect.operators[operator].traits & {"elementwise", "broadcast"})


def _counts(node: ir.CallNode) -> bool:
    return not _COUNTING.isdisjoint(node.operators)
