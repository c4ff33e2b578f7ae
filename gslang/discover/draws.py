"""Sizes of inputs under which a candidate is tried, at the ranks at which it was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from random import Random

import numpy as np

from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType
from gslang.discover.equations import Candidate
from gslang.discover.evaluator import build_all, input_value
from gslang.discover.formers import SIZES, Former, shape_of
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph

Place = tuple[int, int]
"""A variable and an axis of it."""

Draw = Mapping[Place, int]
"""The size at each place."""

_RANDOM = 60  # draws at random, beside those with one or two sizes changed
_CHOICES = (1, 2, 3, 4, 5, 6)


class Draws:
    """`places`: attribute sizes → where they are read. `found`: the sizes that the candidate was found with;
    `symbols`: for each size the symbols that it may stand for. `good`, `bad`: what was drawn, by
    whether both sides of the candidate compute the same there."""

    def __init__(
        self, candidate: Candidate, formers: Sequence[Former], dialect: Dialect, places: Mapping[str, Place]
    ) -> None:
        self.candidate, self.formers, self.dialect, self.places = candidate, formers, dialect, places
        self.symbols: dict[Place, set[str]] = {}
        for variable, types in enumerate(candidate.types):
            shapes = [shape_of(type_) for type_ in types]
            for axis in range(len(shapes[0])):
                own = {
                    s
                    for s in SIZES[0]
                    if all(sizes[s] == shape[axis] for sizes, shape in zip(SIZES, shapes))
                }
                self.symbols[variable, axis] = own
        self.bases = [
            {
                (variable, axis): shape_of(candidate.types[variable][at])[axis]
                for variable, axis in self.symbols
            }
            for at in range(len(SIZES))
        ]
        self.found = self.bases[0]
        self.good: list[Draw] = []
        self.bad: list[Draw] = []
        self._seen: set[tuple[int, ...]] = set()

    def look_around(self, equal: Sequence[tuple[Place, Place]]) -> None:
        """Draw the sizes that were found, these with one or two changed, and some at random, all of them with
        certain sizes equal."""
        groups = _joined(self.symbols, equal)
        for base in self.bases:
            self._look_at(base)
            for group in groups:
                for size in (1, base[group[0]] + 1, 2 * base[group[0]]):
                    self._look_at({**base, **dict.fromkeys(group, size)})
            for a, b in combinations(groups, 2):
                self._look_at(
                    {**base, **dict.fromkeys(a, 2 * base[a[0]]), **dict.fromkeys(b, 2 * base[b[0]])}
                )
        for sizes in self._at_random(groups):
            self._look_at(sizes)

    def _at_random(self, groups: Sequence[Sequence[Place]]) -> Iterator[dict[Place, int]]:
        """Other sizes for the symbols, of which some places then take others: what operators demand holds
        often."""
        random = Random(len(groups))
        for _ in range(_RANDOM):
            base = {symbol: random.choice(_CHOICES) for symbol in SIZES[0]}
            sizes = {
                place: base[min(own)] if own else self.found[place] for place, own in self.symbols.items()
            }
            for _ in range(random.choice((0, 1, 2, 3))):
                group = random.choice(groups)
                sizes.update(dict.fromkeys(group, random.choice((2 * sizes[group[0]], *_CHOICES))))
            yield sizes

    def _look_at(self, sizes: Mapping[Place, int]) -> None:
        key = tuple(sizes.values())
        if key in self._seen:
            return
        self._seen.add(key)
        good = self._agrees(sizes)
        if good is not None:
            (self.good if good else self.bad).append(sizes)

    def _agrees(self, sizes: Mapping[Place, int]) -> bool | None:
        """True if target and source compute the same; None if the source has no meaning."""
        graph = Graph(self.dialect.name)
        inputs, values = [], {}
        for variable, types in enumerate(self.candidate.types):
            rank = len(shape_of(types[0]))
            type_ = TensorType(tuple([sizes[variable, axis] for axis in range(rank)]), "float32")
            inputs.append(graph.add_input(f"x{variable}", type_))
            values[f"x{variable}"] = input_value(variable, 7, type_)
        symbols = {**SIZES[0], **{symbol: sizes[place] for symbol, place in self.places.items()}}
        sources = build_all(graph, self.candidate.sources, inputs, self.formers, self.dialect, symbols)
        if sources is None:
            return None
        targets = build_all(graph, self.candidate.targets, inputs, self.formers, self.dialect, symbols)
        if targets is None:
            return False
        try:
            with np.errstate(all="ignore"):
                graph.set_outputs(sources)
                before = evaluate(graph, self.dialect, values)
                graph.set_outputs(targets)
                after = evaluate(graph, self.dialect, values)
        except EvaluationError:
            return None
        if not all(np.isfinite(value).all() for value in before):
            return None
        return all(
            a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=1e-9) for a, b in zip(before, after)
        )


def _joined(places: Mapping[Place, object], equal: Sequence[tuple[Place, Place]]) -> list[list[Place]]:
    """The places in groups of those that are equal."""
    first = {place: place for place in places}
    for a, b in equal:
        old, new = first[a], first[b]
        first = {place: new if leader == old else leader for place, leader in first.items()}
    groups: dict[Place, list[Place]] = {}
    for place, leader in first.items():
        groups.setdefault(leader, []).append(place)
    return list(groups.values())
