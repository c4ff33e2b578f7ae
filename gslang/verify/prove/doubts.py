"""Cases in which a proof does not succeed, as graphs to look at: a wrong rule mostly differs in one of them.

A case leaves sizes open. Here they get numbers that satisfy what the case knows of them; what is wished for
is built, and matched by the engine, elsewhere, so that nothing rests on these numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Any, Final

import numpy as np

from gslang.base.deadline import Deadline
from gslang.check import checked as ir
from gslang.engine.scope import Instance
from gslang.graph.graph import ABSENT
from gslang.verify.prove.case import Case
from gslang.verify.prove.operators.domains import Written
from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.operators.relay_movement import AnyShape
from gslang.verify.prove.operators.slices import OpenSlice
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.prove import LIMITS, one_case
from gslang.verify.prove.terms.dtypes import Dtype
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.models import Models
from gslang.verify.prove.terms.opaque import NotGrown
from gslang.verify.prove.terms.paths import (
    FROM_THE_FIRST,
    Budget,
    Choices,
    NotProved,
    TooMuch,
    Unsupported,
    all_cases,
)
from gslang.verify.prove.terms.reals import Real
from gslang.verify.prove.terms.sizes import Number, Size, is_number
from gslang.verify.prove.watched import watched

Doubt = dict[tuple[int, int | None, str], object]
"""(pattern node, instance of its block or None, field) → value; of a block, `%count` → how many there are.
`%branch`, `%operator` and `%absent` are fields, too.
"""

_TRIES = 12  # to find numbers for the sizes of a case
_LARGEST = 2**16  # of a size: an instance with a larger one takes too long
_RANKS = (2, 4)  # of open tensors, in turn
_INSTANCES = 2  # of blocks
_STEPS = 15_000  # for all of it
_MOST = 24


class _Enough(Exception):
    """As many cases were found as are looked at."""


class _Again(Exception):
    """One more operator is an unknown function."""


def doubts(rule: ir.CheckedRule, until: Deadline, seed: int) -> list[Doubt]:
    """Cases in which no proof succeeds, in so many steps."""
    watching, budget = watched(rule), Budget(_STEPS, until)
    budget.patient = True
    found: dict[str, Doubt] = {}
    unknown: set[str] = set()

    def run(most: int, choices: Choices) -> None:
        world = World(Facts(choices), most)
        world.facts.by_cases, world.counted = True, _INSTANCES if rule.blocks else 0
        world.has_infinities = watching.has_infinities
        world.unknown = frozenset(unknown)
        case = Case(watching, world)
        try:
            one_case(case)
        except TooMuch:
            raise
        except (NotProved, *LIMITS) as error:
            if isinstance(error, Unsupported) and error.operator not in unknown:
                unknown.add(error.operator)
                raise _Again from error
            # equations between sizes that go round have no numbers either
            here = None if isinstance(error, RecursionError) else doubt(case, seed + len(found))
            if here is not None:
                found.setdefault(repr(here), here)
            if len(found) == _MOST:
                raise _Enough from None
        finally:
            case.end()

    while True:
        starts = FROM_THE_FIRST
        try:
            for most in _RANKS:
                starts = all_cases(partial(run, most), budget, None, starts)
        except _Again:
            found.clear()
            continue
        except (_Enough, NotProved):
            pass
        return list(found.values())


def doubt(case: Case, seed: int) -> Doubt | None:
    """A graph of this case, as far as it is settled; None where no numbers are found for its sizes."""
    facts = case.world.facts
    number = _numbers(facts, seed)
    if number is None:
        return None
    found: Doubt = {}
    for k, pattern in enumerate(case.rule.nodes):
        for place, slots in _places(case, pattern):
            slot = slots.get(k)
            if slot is None:
                continue
            for field, value in _said(case, pattern, slot, number):
                found[k, place, field] = value
    for k, instances in enumerate(case.scope.instances):
        if case.world.counted and not isinstance(instances, NotGrown):
            found[k, None, "%count"] = len(instances)
    found |= _branches(case)
    shapes = [value for (_, _, field), value in found.items() if field == "shape"]
    return None if any(max(shape, default=0) > _LARGEST for shape in shapes) else found  # type: ignore[call-overload]


def _places(case: Case, pattern: ir.Pattern) -> Iterator[tuple[int | None, Mapping[int, int]]]:
    """The slots of a node of the pattern's block: those of the match, or of each instance with its number."""
    if pattern.block is None:
        yield None, {k: slot for k, slot in enumerate(case.scope.slots) if slot >= ABSENT}
    elif case.world.counted:
        yield from ((i.index, i.slots) for i in _instances(case, pattern.block))


def _instances(case: Case, block: int) -> list[Instance]:
    found = case.scope.instances[block]
    return [] if isinstance(found, NotGrown) else found


def _branches(case: Case) -> Doubt:
    found: Doubt = {(node, None, "%branch"): branch for node, branch in case.scope.chosen.items()}
    for block in range(len(case.rule.blocks)) if case.world.counted else ():
        for instance in _instances(case, block):
            found |= {(node, instance.index, "%branch"): b for node, b in instance.chosen.items()}
    return found


_UNSAID: Final = object()
_Numbers = Callable[[Number], int]


def _said(case: Case, pattern: ir.Pattern, slot: int, number: _Numbers) -> Iterator[tuple[str, object]]:
    """The fields of a node that the case has settled, with their values."""
    graph = case.graph
    match pattern:
        case ir.LeafNode():
            if pattern.optional:
                yield "%absent", slot == ABSENT
            if slot != ABSENT and isinstance(leaf := graph.values[slot], Leaf):
                yield from _of_leaf(leaf, graph.kinds.get(slot, ()), number)
        case ir.CallNode() if slot >= 0:
            operator = graph.op[slot]
            if not isinstance(operator, str):
                return
            yield "%operator", operator
            if operator in case.world.unknown:
                return  # numbers that mean nothing here
            declared = case.rule.dialect.operators[operator].attributes
            padded = graph.attrs[slot].get("auto_pad", "NOTSET") != "NOTSET"
            for name, value in graph.attrs[slot].items():
                # `auto_pad` says what is padded: then there is nothing else that does
                known = None if name == "pads" and padded else _plain(name, value, number)
                if name in declared and known is not _UNSAID:
                    yield name, known


def _of_leaf(leaf: Leaf, kinds: tuple[str, ...], number: _Numbers) -> Iterator[tuple[str, object]]:
    if len(kinds) == 1:
        yield "kind", kinds[0]
    name = leaf.dtype.root().name if isinstance(leaf.dtype, Dtype) else leaf.dtype
    if name:
        yield "dtype", name
    if leaf.tensor is not None:
        yield "shape", tuple(map(number, leaf.tensor.shape))
    value = _value(leaf, number)
    if value is not None:
        yield "kind", "const"
        yield "value", value


def _value(leaf: Leaf, number: _Numbers) -> object:
    """The whole numbers of a vector or a place, as far as the case has settled them."""
    numbers: Any = leaf.items if leaf.items is not None else leaf.numbers
    if numbers is None and len(leaf.chosen) == 1:
        ((key, numbers),) = leaf.chosen.items()
        if key.startswith("axes of "):
            numbers = tuple(leaf.written.get(k, axis) for k, axis in enumerate(numbers))
        elif not key.startswith("shape for "):
            numbers = numbers[0] if leaf.tensor is not None and not leaf.tensor.shape else numbers
    if numbers is None:
        numbers = leaf.number
    if isinstance(numbers, tuple) and all(map(is_number, numbers)):
        return np.array(list(map(number, numbers)), np.int64)
    return np.array(number(numbers), np.int64) if numbers is not None and is_number(numbers) else None


def _plain(name: str, value: object, number: _Numbers) -> object:
    """An attribute with numbers for sizes; `_UNSAID` where the case has not settled it."""
    if isinstance(value, Written):
        value = value.chosen[0] if value.chosen else value.plain
    match value:
        case None | bool() | str() | float():
            return value
        case int() | Size():
            return number(value)
        case Dtype():
            return value.root().name or _UNSAID
        case AnyShape():
            return tuple(map(number, value.shape))
        case OpenSlice():
            return _of_slice(name, value, number)
        case Real() if value.term.constant is not None:
            return float(value.term.constant)
        case tuple() | list():
            items = tuple(_plain(name, item, number) for item in value)
            return _UNSAID if any(item is _UNSAID for item in items) else items
    return _UNSAID


def _of_slice(name: str, taken: OpenSlice, number: _Numbers) -> object:
    """Bounds or steps of a slice along each axis."""
    parts = [part for _, _, part in sorted(taken.ranges, key=lambda item: item[0])]
    if len(parts) < taken.rank:
        return _UNSAID
    match name:
        case "begin":
            return tuple([number(part.start) for part in parts])
        case "end":
            return tuple([number(part.start + part.count * part.step) for part in parts])
        case "strides":
            return tuple([number(part.step) for part in parts])
    return _UNSAID


def _numbers(facts: Facts, seed: int) -> _Numbers | None:
    """Numbers for sizes that satisfy what is known of them, mostly small ones."""
    random = Random(seed)
    for _ in range(_TRIES):
        models = Models(facts.definition)
        models.random = Random(random.random())
        known: list[Number] = [*facts.known, *facts.of_products()]
        for small, big in facts.fitting:
            known += _both(small, 1 if random.random() < 0.5 else big)
        for one, other in facts.fitting_sizes:  # they broadcast, in one of three ways
            known += _both(*random.choice(((one, other), (one, 1), (other, 1))))
        for difference in facts.different:
            known.append(difference - 1 if random.random() < 0.5 else -1 - difference)
        known = list(map(facts.normal, known))
        if any(type(fact) is int and fact < 0 for fact in known):
            continue
        models.know(known)
        if models.found:
            values = models.found[0].values
            return lambda value: models.at(facts.normal(value), values)
    return None


def _both(a: Number, b: Number) -> list[Number]:
    """That two numbers are the same, as inequalities."""
    return [a - b, b - a]
