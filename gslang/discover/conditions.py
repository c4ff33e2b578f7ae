"""The sizes that must be equal for a candidate to hold, at the ranks at which it was found.

Every size of every input is drawn at random, with those that were one symbol often equal. Where the source
has a meaning and the target has none, or another value, the draw is bad; the conditions are the fewest
equalities of sizes that exclude all bad draws and, among these, exclude the fewest good ones. What the
source's own operators demand is never stated. An attribute that is a size is read from each place with that
size in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType
from gslang.discover.enumerate import Tree, add_call, input_value
from gslang.discover.equations import Candidate
from gslang.discover.formers import SIZES, Former, shape_of
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph

Place = tuple[int, int]
"""A variable and an axis of it."""

_DRAWS = 120
_MOST_PLACES = 4  # from which one attribute may be read
_CHOICES = (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, slots=True)
class SizeConditions:
    """`equal`: pairs of sizes, the later one first. `symbols`: attribute sizes and where they are read."""

    equal: tuple[tuple[Place, Place], ...]
    symbols: tuple[tuple[str, Place], ...] = ()


@dataclass(frozen=True, slots=True)
class _Draw:
    sizes: Mapping[Place, int]
    good: bool


def size_conditions(
    candidate: Candidate, formers: Sequence[Former], dialect: Dialect, symbols: Sequence[str]
) -> Iterator[SizeConditions]:
    """Conditions under which the candidate holds, for each way to read the sizes among its attributes; those
    that need fewest first.
    """
    names = _symbols_of_places(candidate)
    ways = [[place for place, own in names.items() if symbol in own][:_MOST_PLACES] for symbol in symbols]
    found = []
    for chosen in product(*ways):
        places = dict(zip(symbols, chosen))
        draws = list(_draws(candidate, formers, dialect, names, places))
        if not any(draw.good for draw in draws):
            continue
        equal = _fewest(draws, names)
        if equal is not None:
            kept = sum(draw.good and _holds(draw, equal) for draw in draws)
            found.append((-kept, len(equal), SizeConditions(tuple(equal), tuple(places.items()))))
    found.sort(key=lambda item: item[:2])
    yield from (conditions for _, _, conditions in found[:2])


def _symbols_of_places(candidate: Candidate) -> dict[Place, set[str]]:
    """For each size of each variable the symbols that it may stand for."""
    found: dict[Place, set[str]] = {}
    for variable, types in enumerate(candidate.types):
        shapes = [shape_of(type_) for type_ in types]
        for axis in range(len(shapes[0])):
            found[variable, axis] = {
                s for s in SIZES[0] if all(sizes[s] == shape[axis] for sizes, shape in zip(SIZES, shapes))
            }
    return found


def _draws(
    candidate: Candidate,
    formers: Sequence[Former],
    dialect: Dialect,
    names: Mapping[Place, set[str]],
    places: Mapping[str, Place],
) -> Iterator[_Draw]:
    """Draws on which the source has a meaning; the first ones are those that the candidate was found with."""
    random = Random(0)
    for attempt in range(_DRAWS):
        if attempt < len(SIZES):
            sizes = {
                (variable, axis): shape_of(candidate.types[variable][attempt])[axis]
                for variable, axis in names
            }
        else:
            sizes = _drawn(random, names)
        attributes = {symbol: sizes[place] for symbol, place in places.items()}
        answer = _agrees(candidate, formers, dialect, sizes, attributes)
        if answer is not None:
            yield _Draw(sizes, answer)


def _drawn(random: Random, names: Mapping[Place, set[str]]) -> dict[Place, int]:
    """Sizes: each symbol has a few, and each place takes one of those of its symbol."""
    few = random.choice((1, 2, 2, 3))
    known = {symbol: random.sample(_CHOICES, few) for symbol in SIZES[0]}
    fixed = random.random() < 0.5
    return {
        place: random.choice(known[min(own)] if own else _CHOICES) if own or fixed
        else random.choice(_CHOICES)
        for place, own in names.items()
    }


def _agrees(
    candidate: Candidate,
    formers: Sequence[Former],
    dialect: Dialect,
    sizes: Mapping[Place, int],
    symbols: Mapping[str, int],
) -> bool | None:
    """True if target and source compute the same; None if the source has no meaning."""
    graph = Graph(dialect.name)
    inputs, values = [], {}
    for variable, types in enumerate(candidate.types):
        type_ = TensorType(tuple(sizes[variable, axis] for axis in range(len(shape_of(types[0])))), "float32")
        inputs.append(graph.add_input(f"x{variable}", type_))
        values[f"x{variable}"] = input_value(variable, 7, type_)
    all_sizes = {**SIZES[0], **symbols}
    source = build(graph, candidate.source, inputs, formers, dialect, all_sizes)
    if source is None:
        return None
    target = build(graph, candidate.target, inputs, formers, dialect, all_sizes)
    if target is None:
        return False
    try:
        with np.errstate(all="ignore"):
            graph.set_outputs([source])
            before = evaluate(graph, dialect, values)[0]
            graph.set_outputs([target])
            after = evaluate(graph, dialect, values)[0]
    except EvaluationError:
        return None
    if not np.isfinite(before).all():
        return None
    return before.shape == after.shape and bool(np.allclose(before, after, rtol=1e-7, atol=1e-9))


def build(
    graph: Graph,
    tree: Tree,
    inputs: Sequence[int],
    formers: Sequence[Former],
    dialect: Dialect,
    sizes: Mapping[str, int],
) -> int | None:
    """Add a term to a graph; its node, None where it does not type-check."""
    if isinstance(tree, int):
        return inputs[tree]
    operands: list[int] = []
    for operand in tree[1:]:
        node = build(graph, operand, inputs, formers, dialect, sizes)
        if node is None:
            return None
        operands.append(node)
    former = formers[tree[0]]
    return add_call(graph, dialect, former, operands, former.attributes(sizes))


def _fewest(draws: Sequence[_Draw], names: Mapping[Place, set[str]]) -> list[tuple[Place, Place]] | None:
    """The equalities, greedily: each excludes the most of what is left for the good draws that it costs; then
    those that turn out idle go.
    """
    first = draws[0]
    pairs = [
        (b, a)
        for a, b in combinations(sorted(names), 2) if names[a] & names[b] and first.sizes[a] == first.sizes[b]
    ]
    left = [draw for draw in draws if not draw.good]
    good = [draw for draw in draws if draw.good]
    chosen: list[tuple[Place, Place]] = []
    while left:
        def worth(pair: tuple[Place, Place]) -> tuple[float, Any]:
            a, b = pair
            excluded = sum(draw.sizes[a] != draw.sizes[b] for draw in left)
            lost = sum(draw.sizes[a] != draw.sizes[b] for draw in good)
            return (excluded / (1 + 4 * lost) if excluded else -1.0), (
                a[1] == b[1], -a[0], -a[1], -b[0], -b[1],
            )

        best = max(pairs, key=worth, default=None)
        if best is None or worth(best)[0] < 0:
            return None
        chosen.append(best)
        left = [draw for draw in left if draw.sizes[best[0]] == draw.sizes[best[1]]]
        good = [draw for draw in good if draw.sizes[best[0]] == draw.sizes[best[1]]]
    for pair in list(chosen):
        rest = [other for other in chosen if other != pair]
        if not any(_holds(draw, rest) for draw in draws if not draw.good):
            chosen = rest
    return sorted(chosen)


def _holds(draw: _Draw, equal: Sequence[tuple[Place, Place]]) -> bool:
    return all(draw.sizes[a] == draw.sizes[b] for a, b in equal)
