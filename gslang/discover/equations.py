"""The equations that become rules, with a direction: those that are no instances of others, from the side
that costs more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import Type
from gslang.discover.enumerate import Equation
from gslang.discover.formers import Former
from gslang.discover.terms import Tree, count, key_of, leaves, match, replaced, variables


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule without conditions, with one term for each output.

    Variables are numbered as they occur in `sources`; `types`: of each, at each of the sizes.
    """

    sources: tuple[Tree, ...]
    targets: tuple[Tree, ...]
    types: tuple[tuple[Type, ...], ...]


def candidates(
    equations: Sequence[Equation],
    formers: Sequence[Former],
    inputs: Sequence[tuple[Type, ...]],
    cost: Callable[[Tree], float | None],
) -> list[Candidate]:
    """The rules that the equations give, smallest first; `cost` of a term over the inputs, None if it has
    none.
    """
    found: dict[tuple[tuple[Tree, ...], tuple[Tree, ...]], Candidate] = {}
    for equation in _general(list(_closed(equations, inputs)), formers):
        ways = [
            (a, b)
            for a, b in ((equation.left, equation.right), (equation.right, equation.left))
            if isinstance(a, tuple) and variables(b) <= variables(a)
        ]
        if not ways:
            continue
        source, target = max(ways, key=lambda way: (*_gain(way[0], way[1], cost), way == ways[0]))
        made = candidate_of((source,), (target,), inputs)
        found.setdefault((made.sources, made.targets), made)
    return in_order(found.values(), formers)


def in_order(found: Iterable[Candidate], formers: Sequence[Former]) -> list[Candidate]:
    """Smallest first."""
    return sorted(
        found,
        key=lambda c: (operators_of(c), [key_of(tree, formers) for tree in (*c.sources, *c.targets)]),
    )


def operators_of(candidate: Candidate) -> int:
    """The number of operators of both sides."""
    return sum(map(count, (*candidate.sources, *candidate.targets)))


def candidate_of(
    sources: Sequence[Tree], targets: Sequence[Tree], types: Sequence[tuple[Type, ...]]
) -> Candidate:
    """The candidate of some terms, whose variables get new numbers. `types`: by their old numbers."""
    order = list(dict.fromkeys(leaf for source in sources for leaf in leaves(source)))
    names: dict[int, Tree] = {variable: k for k, variable in enumerate(order)}
    before, after = (tuple([replaced(tree, names) for tree in side]) for side in (sources, targets))
    return Candidate(before, after, tuple(types[v] for v in order))


def turned_round(candidate: Candidate) -> Candidate | None:
    """The candidate from right to left; None where its target has fewer inputs, and for several outputs."""
    if len(candidate.sources) > 1:
        return None
    (source,), (target,) = candidate.sources, candidate.targets
    if variables(target) != variables(source) or isinstance(target, int):
        return None
    return candidate_of((target,), (source,), candidate.types)


def _gain(source: Tree, target: Tree, cost: Callable[[Tree], float | None]) -> tuple[float, int]:
    """The cost that a direction saves, and the number of operators by which its target is smaller."""
    before, after = cost(source), cost(target)
    return 0.0 if before is None or after is None else before - after, count(source) - count(target)


def _closed(equations: Sequence[Equation], inputs: Sequence[tuple[Type, ...]]) -> Iterator[Equation]:
    """The equations of which one side has all variables.

    Others say that a term depends on no variable: one is put in the place of the others.
    """
    for equation in equations:
        left, right = variables(equation.left), variables(equation.right)
        if left <= right or right <= left:
            yield equation
            continue
        instead: dict[int, Tree] = {
            v: w for v in right - left for w in sorted(left) if inputs[v] == inputs[w]
        }
        now = replaced(equation.right, instead)
        if now != equation.left and variables(now) <= left:
            yield Equation(equation.left, now)


def _general(equations: Sequence[Equation], formers: Sequence[Former]) -> list[Equation]:
    """Without those that are others with terms in the place of variables.

    Ranks of what is put in do not count: a rule has its own conditions.
    """
    order = sorted(
        equations,
        key=lambda e: (count(e.left) + count(e.right), -len(variables(e.left) | variables(e.right))),
    )
    kept: list[Equation] = []
    for equation in order:
        if not any(_is_instance(equation, other, formers) for other in kept):
            kept.append(equation)
    return kept


def _is_instance(equation: Equation, of: Equation, formers: Sequence[Former]) -> bool:
    return any(
        any(True for _ in match(of.right, right, bound, formers))
        for left, right in ((equation.left, equation.right), (equation.right, equation.left))
        for bound in match(of.left, left, {}, formers)
    )
