"""The sizes that must be equal for a candidate to hold, at the ranks at which it was found.

Sizes are drawn (`draws`). Where the source has a meaning and the target has none, or another value, a draw is
bad; the conditions are the fewest equalities of sizes that exclude all bad draws and, among these, exclude
the fewest good ones. Draws that they admit are looked at next, until none of these is bad. Two equalities may
weaken to one of products. Likewise the fewest inputs are told that must have whole shapes in common, where
that excludes no more, but for inputs that are broadcast. What the source's own operators demand is never
stated. An attribute that is a size is read from each place with that size in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.discover.draws import Draw, Draws, Place
from gslang.discover.equations import Candidate
from gslang.discover.formers import Former, shape_of

Product = tuple[tuple[Place, Place], tuple[Place, Place]]
"""Two sizes, and two others with the same product."""

_ROUNDS = 6  # of draws that the conditions admit so far
_MOST_PLACES = 4  # from which one attribute may be read
_CLEARLY = 3  # good draws more, for which a condition is weakened
_MOST_ALIKE = 3  # ways in which inputs may have shapes in common


@dataclass(frozen=True, slots=True)
class SizeConditions:
    """Conditions that are enough: `equal` and `products` together, or one of `alike`.

    `equal`: pairs of sizes, the later one first. `products`: pairs of sizes whose products are equal.
    `alike`: pairs of variables that have one shape, the later one first. `symbols`: attributes that are
    sizes, and where they are read. `admits`: the part of the good draws on which they hold.
    """

    equal: tuple[tuple[Place, Place], ...]
    symbols: tuple[tuple[str, Place], ...] = ()
    products: tuple[Product, ...] = ()
    alike: tuple[tuple[tuple[int, int], ...], ...] = ()
    admits: float = 1.0


def size_conditions(
    candidate: Candidate, formers: Sequence[Former], dialect: Dialect, symbols: Sequence[str]
) -> list[SizeConditions]:  # fmt: skip
    """Conditions under which the candidate holds, for each way to read the sizes among its attributes (at
    most two of these); those that admit most first."""
    found: list[tuple[int, int, SizeConditions]] = []
    names = Draws(candidate, formers, dialect, {}).symbols
    ways = [[place for place, own in names.items() if symbol in own][:_MOST_PLACES] for symbol in symbols]
    for chosen in product(*ways):
        places = dict(zip(symbols, chosen))
        draws = Draws(candidate, formers, dialect, places)
        equal = _enough(draws)
        if equal is None:
            continue
        plain = [draw for draw in draws.good if 1 not in draw.values()] or draws.good
        rest, products = _weakened(equal, plain, draws.bad)
        kept = sum(_holds(draw, rest, products) for draw in plain)
        alike = tuple(_alike(candidate, plain, draws.bad, kept))
        conditions = SizeConditions(tuple(rest), tuple(places.items()), products, alike, kept / len(plain))
        found.append((-kept, len(rest) + len(products), conditions))
    found.sort(key=lambda item: item[:2])
    return [conditions for _, _, conditions in found[:2]]


def _enough(draws: Draws) -> list[tuple[Place, Place]] | None:
    """Equalities that exclude all bad draws, as far as they can be found; None if there are none."""
    draws.look_around(())
    equal = _fewest(draws.good, draws.bad, draws.symbols, draws.found) if draws.good else None
    for _ in range(_ROUNDS):
        if not equal:
            break
        draws.look_around(equal)
        if not any(_holds(draw, equal) for draw in draws.bad):
            break
        equal = _fewest(draws.good, draws.bad, draws.symbols, draws.found)
    return equal


def _fewest(
    good: Sequence[Draw], bad: Sequence[Draw], names: Mapping[Place, set[str]], found: Mapping[Place, int]
) -> list[tuple[Place, Place]] | None:
    """The equalities, greedily: each excludes the most of what is left for the good draws that it costs; then
    those that turn out idle go. None if there are none. `found`: the sizes with which the candidate was
    found."""
    pairs = [
        (b, a) for a, b in combinations(sorted(names), 2)
        if (names[a] & names[b] or names[a] == names[b]) and found[a] == found[b]
    ]  # fmt: skip
    left, kept = list(bad), list(good)
    chosen: list[tuple[Place, Place]] = []
    while left:

        def worth(pair: tuple[Place, Place]) -> tuple[float, object]:
            a, b = pair
            excluded = sum(draw[a] != draw[b] for draw in left)
            lost = sum(draw[a] != draw[b] for draw in kept)
            return (excluded / (1 + 4 * lost) if excluded else -1.0), (
                a[1] == b[1],
                -a[0],
                -a[1],
                -b[0],
                -b[1],
            )

        best = max(pairs, key=worth, default=None)
        if best is None or worth(best)[0] < 0:
            return None
        chosen.append(best)
        left = [draw for draw in left if draw[best[0]] == draw[best[1]]]
        kept = [draw for draw in kept if draw[best[0]] == draw[best[1]]]
    for pair in list(chosen):
        rest = [other for other in chosen if other != pair]
        if not any(_holds(draw, rest) for draw in bad):
            chosen = rest
    return sorted(chosen)


def _weakened(
    equal: list[tuple[Place, Place]], good: Sequence[Draw], bad: Sequence[Draw]
) -> tuple[list[tuple[Place, Place]], tuple[Product, ...]]:
    """Two equalities a = b and c = d weakened to a · d = b · c, if that excludes all bad draws, too, and
    keeps clearly more good ones: the numbers of groups of convolutions are such quotients."""
    best: tuple[list[tuple[Place, Place]], tuple[Product, ...]] = equal, ()
    most = sum(_holds(draw, equal) for draw in good) + max(_CLEARLY, len(good) // 20)
    for (a, b), (c, d) in combinations(equal, 2):
        rest = [pair for pair in equal if pair not in ((a, b), (c, d))]
        products = (((a, d), (b, c)),)
        kept = sum(_holds(draw, rest, products) for draw in good)
        if kept > most and not any(_holds(draw, rest, products) for draw in bad):
            best, most = (rest, products), kept
    return best


def _alike(
    candidate: Candidate, good: Sequence[Draw], bad: Sequence[Draw], least: int
) -> Iterator[tuple[tuple[int, int], ...]]:
    """The fewest pairs of inputs that exclude all bad draws if they have one shape and keep at least so many
    good ones, those that keep most first."""
    types = candidate.types
    pairs = [(b, a) for a, b in combinations(range(len(types)), 2) if types[a] == types[b]]

    def holds(draw: Draw, chosen: Sequence[tuple[int, int]]) -> bool:
        ranks = [len(shape_of(own[0])) for own in types]
        return all(draw[a, k] == draw[b, k] for a, b in chosen for k in range(ranks[a]))

    for count in range(1, len(types) if bad else 0):
        enough = []
        for chosen in combinations(pairs, count):
            later = [a for a, _ in chosen]
            if len(set(later)) == count and not any(holds(draw, chosen) for draw in bad):
                kept = sum(holds(draw, chosen) for draw in good)
                enough += [(-kept, chosen)] if kept >= least else []
        if enough:
            yield from (chosen for _, chosen in sorted(enough)[:_MOST_ALIKE])
            return


def _holds(draw: Draw, equal: Sequence[tuple[Place, Place]], products: Sequence[Product] = ()) -> bool:
    return all(draw[a] == draw[b] for a, b in equal) and all(
        draw[a] * draw[b] == draw[c] * draw[d] for (a, b), (c, d) in products
    )
