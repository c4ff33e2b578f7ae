"""The inputs that both sides of an instance are computed for: several kinds of numbers, so that clips, ties,
thresholds, overflows and divisions by zero show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.dialect.tensor_type import UnknownValue
from gslang.evaluate.bfloat16 import as_bfloat16
from gslang.evaluate.index_ranges import (
    COUNT_FROM_THE_END,
    are_counted_from_both_ends,
    are_counts,
    bounds_of,
    read_as_positions,
)
from gslang.evaluate.random_inputs import random_inputs
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.graph.inner_graph import inner_graph
from gslang.verify.partial import SHIFTS
from gslang.verify.thresholds import NO_THRESHOLDS, Thresholds, numbers_in

Values = dict[str, Array]

_LARGE = 50  # times a normal number: as far as exponentials have values
_CLOSE = 1e-4  # times a normal number: less than what guards roots and quotients
_SHARE = 0.7  # of the inputs of one instance that are as large, or as close to each other
_BESIDE_ENDS = 0.1  # share of integers that are next to the end of their type at which the others are
_USUAL = 12  # sizes that are drawn are no larger
_WITH_LIMITS = ("float16", "float32", "float64")
_TOO_LARGE = 0.75  # power of the largest number of a type
MANY = "many"  # a kind
_OF_LARGE = frozenset({"spread", "near", "far", "overflowing"})
_BEYOND_NARROW = (0, 130, 256, 300, 32_770, 65_536, 65_540)  # places that a cast to a narrow type changes
_MOST_ALONE = 4  # inputs that count many while others do not
_FEW = 8  # integers of an operand that says sizes, counts or bounds
_ROUNDS = (-1, 0, 4, 12, 40)
_FEW_ROUNDS, _MOST_ROUNDS = 4, 1200


class Inputs:
    """Random values by name for a graph, the same for the same seed, of several kinds. `near`: the thresholds
    of the instance. `small`: inputs that are never large.
    """

    def __init__(
        self, graph: Graph, seed: int, near: Thresholds = NO_THRESHOLDS,
        small: frozenset[str] = frozenset(),
    ) -> None:
        self.graph, self.seed, self.thresholds, self.small = graph, seed, near, small

    @cached_property
    def normal(self) -> Values:
        return random_inputs(self.graph, self.seed)

    def of_kind(self, kind: str) -> Values:
        """Inputs of one kind (`_of_kind`), as their types hold them."""
        found = self._of_kind(kind)
        if kind in _OF_LARGE:
            found |= {name: value for name, value in self.normal.items() if name in self.small}
        narrow = {name for name, dtype in self._types.items() if dtype == "bfloat16"}
        return {name: as_bfloat16(value) if name in narrow else value for name, value in found.items()}

    @cached_property
    def _types(self) -> dict[str, str | None]:
        graph = self.graph
        return {
            str(graph.names[node]): getattr(graph.types[node], "dtype", None)
            for node in graph.nodes() if graph.op[node] in (INPUT, PARAM)
        }

    def _of_kind(self, kind: str) -> Values:
        """Normal; from a half to two, and true; normal, times eight (so that clips and saturations show);
        with zeros and the smallest numbers among them; whole numbers and halves, many of them equal; near
        thresholds; far from all that is normal; ever larger ones; whole numbers of all sizes, or apart by a
        power of 2; with infinities and NaN among them, or with numbers whose squares overflow or vanish.
        """
        if kind == "normal":
            return self.normal
        if kind == "wide":
            return self._widely()
        if kind == "near":
            return self._near()
        if kind == "far":
            return self._far()
        if kind == "colliding":
            return self._colliding()
        if kind.startswith(MANY):
            alone = kind.removeprefix(MANY)
            return self._many([self._counts[int(alone)]] if alone else self._counts)
        changed = {}
        for k, (name, value) in enumerate(self.normal.items()):
            if value.dtype.kind == "b" and value.size == 1:
                changed[name] = ~value  # a choice goes the other way
            elif value.dtype.kind == "b" and kind == "positive":
                changed[name] = np.ones_like(value)  # as many as can be
            elif value.dtype.kind != "f":
                changed[name] = value
            elif kind in ("zeros", "special", "overflowing"):  # at other places in each input of one size
                rng = np.random.default_rng([self.seed, value.size, 13, k])
                changed[name] = _sprinkled(value, rng, self._odd(value.dtype, kind))
            elif kind == "halves":
                changed[name] = (np.round(value * 4) / 2).astype(value.dtype)
            elif kind == "positive":
                changed[name] = (0.5 + np.abs(value) % 1.5).astype(value.dtype)
            else:
                changed[name] = (value * 8).astype(value.dtype)
        return changed

    def _odd(self, dtype: np.dtype[Any], kind: str) -> list[float]:
        """Infinities and NaN; numbers whose squares are none of the type; or zeros, denormal numbers, and
        what narrower types take for zeros."""
        if kind == "special":
            return [np.inf, -np.inf, np.nan]
        if kind == "overflowing":
            ends = np.finfo(dtype if dtype.name in _WITH_LIMITS else np.float32)
            large, tiny = float(ends.max) ** _TOO_LARGE, float(ends.tiny) ** _TOO_LARGE
            return [large, -large, tiny, -tiny]
        small: list[float] = []
        if dtype.name in _WITH_LIMITS:
            small = [float(np.finfo(dtype).smallest_subnormal), *self.thresholds.vanishing(dtype)]
        return [0.0, -0.0, *small, *[-number for number in small]]

    @cached_property
    def _whole(self) -> list[tuple[int, int, str, tuple[int, int] | None]]:
        """Inputs that are integers: number, node, name, and their range if they are positions or counts."""
        graph = self.graph
        return [
            (k, node, name, bounds_of(graph, node, {}))
            for k, node in enumerate(graph.reverse_post_order())
            if graph.op[node] in (INPUT, PARAM) and (name := str(graph.names[node])) in self.normal
            and self.normal[name].dtype.kind in "iu"
        ]

    @cached_property
    def free(self) -> list[str]:
        """Inputs of integers that are neither positions nor counts."""
        return [name for _, _, name, bounds in self._whole if bounds is None]

    @cached_property
    def _free(self) -> list[str]:
        """Inputs that may be any integer."""
        return [name for _, node, name, bounds in self._whole if bounds is None and not self._shifts(node)]

    @property
    def has_free_integers(self) -> bool:
        """True if some input may be any integer."""
        return bool(self._free)

    @property
    def may_lie_outside(self) -> bool:
        """True if all integers are positions for which nothing outside of the axis is too far."""
        return bool(self._whole) and all(
            bounds is not None and _may_be_anywhere(self.graph, node)
            for _, node, _, bounds in self._whole
        )

    def _shifts(self, node: int) -> bool:
        operands = [self.graph.operands[n] for n in self.graph.users[node] if self.graph.op[n] in SHIFTS]
        return any(operand[1:2] == (node,) for operand in operands)

    def _widely(self) -> Values:
        """Whole numbers of all sizes, the largest and the smallest among them, where they are no positions
        and no counts; positions in every way of counting them.
        """
        changed = dict(self.normal)
        for k, node, name, bounds in self._whole:
            value = changed[name]
            rng = np.random.default_rng([self.seed, value.size, 7, k])  # those of one size differ
            if (rounds := _rounds(self.graph, node)).size:
                changed[name] = rng.choice(rounds, value.shape).astype(value.dtype)
                continue
            if bounds is not None:
                changed[name] = _positions(self.graph, node, value, bounds[1], rng)
                continue
            if self._shifts(node):
                changed[name] = rng.integers(0, 40, value.shape).astype(value.dtype)
                continue
            limits = np.iinfo(value.dtype)
            ends = np.array([limits.min, limits.min + 1, limits.max - 1, limits.max], value.dtype)
            whole = rng.integers(limits.min, limits.max, value.shape, value.dtype, endpoint=True)
            at_end = rng.random(value.shape) < 0.3
            changed[name] = np.where(at_end, rng.choice(ends, value.shape), whole).astype(value.dtype)
        return changed

    def _colliding(self) -> Values:
        """Integers that are the same in all inputs of one size, or apart by a power of 2: of these a narrower
        type, a shift or a product may leave the same number.
        """
        changed = dict(self.normal)
        for k, name in enumerate(self._free):
            value = changed[name]
            bits = 8 * value.dtype.itemsize
            alike, own = (np.random.default_rng([self.seed, value.size, 23, *more]) for more in ((), (k,)))
            known = np.concatenate([[0, 0, 1], self.thresholds.near_whole(value.dtype)]).astype(value.dtype)
            width = 8 * own.integers(1, bits // 8, value.shape, endpoint=True)  # of a type
            ways = [width % bits, width - own.integers(1, 5, value.shape)]
            ways.append(own.integers(bits // 4, bits, value.shape))
            place = np.choose(own.integers(0, len(ways), value.shape), ways)
            apart = np.where(own.random(value.shape) < 0.7, np.uint64(1) << place.astype(np.uint64), 0)
            changed[name] = alike.choice(known, value.shape) + apart.astype(value.dtype)
        return changed

    def _near(self) -> Values:
        """Half of all numbers near thresholds. Different elements are near different ones, none much larger
        than one of them that is drawn.
        """
        most = abs(self.thresholds.drawn(np.random.default_rng([self.seed, 17])))
        changed = dict(self.normal)
        for k, (name, value) in enumerate(self.normal.items()):
            rng = np.random.default_rng([self.seed, value.size, 11, k])
            if value.dtype.kind == "f":
                largest = float(np.finfo(value.dtype).max)
                near = self.thresholds.near_floats(most).clip(-largest, largest).astype(value.dtype)
            elif name in self._free:
                near = self.thresholds.near_whole(value.dtype)
            else:
                continue
            changed[name] = np.where(rng.random(value.shape) < 0.5, rng.choice(near, value.shape), value)
        return changed

    @cached_property
    def counts_many(self) -> bool:
        """True if an axis is longer than those that are drawn, or a range may be."""
        leaves = [self.graph.types[n] for n in self.graph.nodes() if self.graph.op[n] in (INPUT, PARAM)]
        sizes = [d for type_ in leaves for d in getattr(type_, "shape", None) or () if isinstance(d, int)]
        return max(sizes, default=0) > _USUAL or bool(self.thresholds.count and self._counts)

    @property
    def of_many(self) -> list[str]:
        """The kinds of inputs that count many: in all that may, then in one of them alone."""
        alone = range(min(len(self._counts), _MOST_ALONE)) if len(self._counts) > 1 else ()
        return [MANY, *[f"{MANY}{k}" for k in alone]] if self.counts_many else []

    @cached_property
    def _counts(self) -> list[str]:
        """Inputs of few integers that may be sizes, counts or bounds."""
        return [
            name for _, node, name, _ in self._whole
            if self.normal[name].size <= _FEW and are_counts(self.graph, node)
        ]

    @cached_property
    def last_places(self) -> dict[str, int]:
        """Inputs that are positions, and the last place that they may be."""
        return {
            name: bounds[1] - 1 for _, node, name, bounds in self._whole
            if bounds is not None and not are_counts(self.graph, node)
        }

    def _many(self, counts: Sequence[str]) -> Values:
        """Floats that grow along a tensor, so that what is cut off shows; truth values that are all true, so
        that their number does; sizes and bounds beyond thresholds, and last places."""
        changed = dict(self.normal)
        for name, value in self.normal.items():
            if value.dtype.kind == "f":
                changed[name] = np.linspace(-1, 1, value.size).reshape(value.shape).astype(value.dtype)
            elif value.dtype.kind == "b":
                changed[name] = np.ones_like(value)
            elif name in self.last_places:
                changed[name] = np.full_like(value, min(self.last_places[name], np.iinfo(value.dtype).max))
            elif name in counts and self.thresholds.count and value.size:
                one = int(np.argmax(value))  # what all of them count together is too much
                changed[name] = value.copy()
                changed[name].flat[one] = min(self.thresholds.count, np.iinfo(value.dtype).max)
        return changed

    def _far(self) -> Values:
        """Floats that are large, close to each other (also closer than narrower types tell), or all of them
        on one side of a threshold; one integer in the whole of a tensor, the smallest or the largest of its
        type.
        """
        rng = np.random.default_rng([self.seed, 19])
        kind, end, one = rng.integers(3), rng.integers(2), rng.random() < _SHARE
        beyond = self.thresholds.drawn(rng)
        changed = dict(self.normal)
        for name, value in self.normal.items():
            drawn, sign = rng.random(), rng.choice((-1, 1))
            if name in self._free:
                limits = np.iinfo(value.dtype)
                least = end == 0 if one else sign < 0
                at_end, beside = (limits.min, limits.min + 1) if least else (limits.max, limits.max - 1)
                some = rng.random(value.shape) < rng.choice((0, _BESIDE_ENDS))  # sums of one number are round
                changed[name] = np.where(some, beside, at_end).astype(value.dtype)
            elif value.dtype.kind != "f":
                continue
            elif kind == 2:
                largest = float(np.finfo(value.dtype).max)
                scale = 1 + np.abs(value.astype(np.float64))
                numbers = sign * beyond * (scale if drawn < _SHARE else 1 / scale)
                changed[name] = numbers.clip(-largest, largest).astype(value.dtype)
            elif kind == 1 and (steps := self.thresholds.merging(value.dtype)) and end:
                changed[name] = (1 + np.round(value) * rng.choice(steps)).astype(value.dtype)
            elif drawn < _SHARE:
                changed[name] = (value * (_LARGE if kind == 0 else _CLOSE)).astype(value.dtype)
        return changed


def _positions(graph: Graph, node: int, value: Array, size: int, rng: np.random.Generator) -> Array:
    """Positions, some of them counted from the end, or outside where what reads them allows it."""
    users = graph.users[node]
    if value.dtype.kind != "i" or not users:
        return value
    places = {user: COUNT_FROM_THE_END.get(graph.op[user], len(graph.operands[user])) for user in users}
    if _may_be_anywhere(graph, node):
        anywhere = rng.integers(-2 * size, 3 * size, value.shape)
        far = rng.choice([n for n in _BEYOND_NARROW if np.iinfo(value.dtype).max > n], value.shape)
        return np.where(rng.random(value.shape) < 0.2, far, anywhere).astype(value.dtype)
    if all(graph.operands[user][k : k + 1] == (node,) for user, k in places.items()):
        return np.where(rng.random(value.shape) < 0.5, value - size, value).astype(value.dtype)
    if are_counted_from_both_ends(graph, node):  # behind an operator that may change their sign
        return np.where(rng.random(value.shape) < 0.5, -value, value).astype(value.dtype)
    return value


def _may_be_anywhere(graph: Graph, node: int) -> bool:
    """True if all calls that read an input's integers as positions, also behind others, take such as lie
    outside: they clip or wrap them, or mark nothing."""
    read = read_as_positions(graph, node)
    return bool(read) and all(_takes_any_position(graph, user, k) for user, k in read)


def _takes_any_position(graph: Graph, user: int, k: int) -> bool:
    op, operands = graph.op[user], graph.operands[user]
    if op == "take":
        return k == 1 and operands[0] != operands[1] and graph.attrs[user].get("mode", "clip") != "fast"
    return op in ("one_hot", "OneHot") and k == 0 and operands[0] not in operands[1:]


def _rounds(graph: Graph, node: int) -> Array:
    """Numbers of rounds of the loops that an input counts: none, more than shows at once, and about as many
    as the numbers that their bodies add up to or compare with. No numbers where it counts no loop.
    """
    loops = [n for n in sorted(graph.users[node]) if graph.op[n] == "Loop" and graph.operands[n][0] == node]
    if not loops:
        return np.zeros(0)
    known = {abs(number) for loop in loops for number in _numbers_in_body(graph, loop)}
    near = {int(n) + more for n in known if _FEW_ROUNDS < n <= _MOST_ROUNDS for more in (-1, 0, 1, 3)}
    return np.array(sorted({*_ROUNDS, *near}))


def _numbers_in_body(graph: Graph, loop: int) -> set[float]:
    try:
        floats, whole = numbers_in(inner_graph(graph, loop, "body").graph)
    except UnknownValue:
        return set()
    return floats | whole


def _sprinkled(value: Array, rng: np.random.Generator, numbers: list[float]) -> Array:
    """Some elements replaced by some of these numbers."""
    return np.where(rng.random(value.shape) < 0.2, rng.choice(numbers, value.shape), value).astype(
        value.dtype
    )
