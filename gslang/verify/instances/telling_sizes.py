"""Sizes and ranks at which a rule may mean something else: beyond each number that it states, and beyond the
numbers of the narrow types that it names.

A rule that cuts at 512, counts to 9 or numbers rows in 8 bits is right for all smaller tensors. One that
names the fourth axis and the last three means another axis only if there are seven.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from gslang.check import checked as ir
from gslang.check.walks import is_field, walk
from gslang.verify.instances.leaves import LARGEST, MOST_DIMENSIONS
from gslang.verify.reads import stated
from gslang.verify.thresholds import BEYOND

_LARGE = 4001  # no byte and no half-precision number is that
_SIZED = frozenset({"Shape", "Size", "shape_of", "ndarray_size"})  # sizes as numbers
_LIMIT = 4_000  # of a sum: smaller ones are reached anyway
_BYTE, _PRODUCT = 100, 10_000  # bytes, and products of two, are larger on average
_OF_AXES = frozenset({"axis", "axes"})
_USUAL = 6  # smaller sizes are drawn anyway


@lru_cache(maxsize=64)
def telling_sizes(rule: ir.CheckedRule) -> tuple[int, ...]:
    """The sizes, those that tell most first; none where a rule states no such numbers and types."""
    known = list(stated((rule.nodes, rule.where, rule.lets, rule.blocks, rule.target.targets)))
    whole = [abs(int(n)) for n in known if isinstance(n, (int, float)) and n % 1 == 0]
    numbers = [n for n in whole if _USUAL <= n < LARGEST]
    made = [t.operator for t in rule.target.targets if isinstance(t, ir.MakeCall)]
    named = {*(o for call in rule.calls.values() for o in call.operators), *map(str, made)}
    found = [_LARGE] if _SIZED & named else []
    if any(_adds_up(rule, name) for name in named):  # numbers of bytes, or products of these, reach that far
        found += [n // part + 1 for n in whole if n > _LIMIT for part in (_PRODUCT, _BYTE)]
    found += [n for name in known if isinstance(name, str) for n in BEYOND.get(name, ())]
    for step in (lambda n: n + 1, lambda n: n, lambda n: 2 * n + 2):
        found += map(step, numbers)
    return tuple([n for n in dict.fromkeys(found) if n <= LARGEST])


def _adds_up(rule: ir.CheckedRule, name: str) -> bool:
    """True of an operator whose results are sums over an axis."""
    declared = rule.dialect.operators.get(name)
    traits = declared.traits if declared is not None else frozenset()
    return not traits.isdisjoint(("accumulating", "reduction")) or "MatMul" in name or "Conv" in name


@lru_cache(maxsize=64)
def telling_ends(rule: ir.CheckedRule) -> tuple[int, int]:
    """The number of axes from the front and from the back that conditions and attributes name."""
    places = [0]
    for item in _axes_stated(rule):
        places += _places(item)
    for part in walk((rule.where, rule.lets, rule.nodes, rule.target.targets)):
        if isinstance(part, ir.ItemValue) and is_field(part.base, "shape"):
            places += _places(part.index)
        elif isinstance(part, ir.CompareValue) and is_field(part.left, "ndim"):
            places += _places(part.right)
    return max(places) + 1, max(0, -min(places))


def _axes_stated(rule: ir.CheckedRule) -> Iterator[object]:
    """The values and tests of attributes that name axes."""
    for target in rule.target.targets:
        if isinstance(target, ir.MakeCall):
            yield from (value for name, value in target.attributes if name in _OF_AXES)
    for node in rule.nodes:
        yield from (c.test for c in getattr(node, "tests", ()) if c.field in _OF_AXES)


def _places(item: object) -> list[int]:
    return [n for n in stated(item) if type(n) is int and abs(n) < MOST_DIMENSIONS]
