"""Candidates with several outputs: terms that one computation yields together.

An equation whose larger side has more inputs, split(f(x, y ‖ z)).0 = f(x, y), says that f(x, y) can be read
off something that computes more. Equations that read off the same term are one rule from right to left:
f(x, y) and f(x, z) become the two parts of f(x, y ‖ z). No rule with one output says so, since neither
f(x, y) nor f(x, z) determines the other's input. All others with several outputs follow from rules with one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from gslang.dialect.tensor_type import Type
from gslang.discover.enumerate import Equation
from gslang.discover.equations import Candidate, candidate_of, in_order
from gslang.discover.formers import Former
from gslang.discover.terms import Tree, leaves, match, replaced, variables

_Reading = tuple[Tree, Tree]  # what is read off the shared term, and what it is equal to


def joint_candidates(
    equations: Sequence[Equation],
    formers: Sequence[Former],
    inputs: Sequence[tuple[Type, ...]],
    most: int,
) -> list[Candidate]:
    """Candidates with 2 to `most` outputs, smallest first. The sources of each are connected by inputs."""
    readings: dict[tuple[Tree, tuple[tuple[Type, ...], ...]], dict[_Reading, None]] = {}
    for equation in equations:
        for whole, part in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(part, tuple) and variables(part) < variables(whole):
                for shared in _shared(whole):
                    order = list(dict.fromkeys(leaves(shared)))
                    names: dict[int, Tree] = {variable: k for k, variable in enumerate(order)}
                    key = replaced(shared, names), tuple([inputs[v] for v in order])
                    reading = replaced(whole, names), replaced(part, names)
                    readings.setdefault(key, {}).setdefault(reading)
    found: dict[tuple[tuple[Tree, ...], tuple[Tree, ...]], Candidate] = {}
    for (shared, types), group in readings.items():
        for count in range(2, most + 1):
            for chosen in combinations(group, count):
                sources = [part for _, part in chosen]
                if _is_one_rule(sources, shared, formers):
                    made = _first_order(chosen, types)
                    found.setdefault((made.sources, made.targets), made)
    return in_order(found.values(), formers)


def _shared(whole: Tree) -> Iterator[Tree]:
    """The largest proper subterm with all inputs of a term."""
    if isinstance(whole, tuple):
        own = variables(whole)
        yield from (
            operand for operand in whole[1:] if isinstance(operand, tuple) and variables(operand) == own
        )


def _is_one_rule(sources: Sequence[Tree], shared: Tree, formers: Sequence[Former]) -> bool:
    """True for different terms that have all inputs together, none without what another one reads."""
    read = [variables(source) for source in sources]
    if set().union(*read) != variables(shared) or any(
        set().union(*read[:k], *read[k + 1 :]) == variables(shared) for k in range(len(read)) if len(read) > 2
    ):
        return False
    joined = set(read[0])
    for _ in read:
        joined |= set().union(*(own for own in read if own & joined))
    if joined != variables(shared):
        return False
    return not any(
        a == b or any(True for _ in match(a, b, {v: v for v in variables(a)}, formers))
        for a, b in combinations(sources, 2)
    )


def _first_order(chosen: Sequence[_Reading], types: Sequence[tuple[Type, ...]]) -> Candidate:
    """The outputs in the order in which the numbers of the target's inputs come first."""
    ways = [
        candidate_of([part for _, part in way], [whole for whole, _ in way], types)
        for way in permutations(chosen)
    ]
    return min(ways, key=lambda way: repr((way.targets, way.sources)))
