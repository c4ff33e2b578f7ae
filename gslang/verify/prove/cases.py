"""Equality of terms by cases: which argument of a maximum is the largest, whether what a comparison asks is
above 0.

Each case adds linear inequalities between products of atoms; cases whose inequalities contradict each other
(Fourier 1826, Motzkin 1936) do not occur. In each other case the difference of two terms must vanish. Real
numbers only need to be ordered for this, so it holds for the numbers that whole numbers stand for
(`truths.order`) as well. Not here: cases of sizes, which are settled before (`facts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from gslang.verify.prove.axioms import apply, at_least_0, is_positive
from gslang.verify.prove.paths import Budget
from gslang.verify.prove.terms import FUNCTION_OF, ONE, ZERO, Atom, Factors, Term, of_atom, rebuilt, term

_MOST_ATOMS = 12  # of which cases are made, one in another
_MOST_INEQUALITIES = 120
_MOST_MULTIPLIED = 6  # inequalities of which products are taken

Bound = tuple[Term, bool]
"""A term that is at least 0, or above it."""


def vanishes(
    difference: Term, budget: Budget, known: tuple[Bound, ...] = (), depth: int = _MOST_ATOMS
) -> bool:
    """True if a term is 0 in every case. False: not found."""
    if not difference.parts:
        return True
    budget.spend(5)
    if contradictory(known):
        return True
    atom = _innermost(difference)
    if atom is None or depth == 0:
        more = (*known, *_products(known))
        return all(contradictory((*more, (side, True))) for side in (difference, -difference))
    return all(
        vanishes(_with(difference, atom, value), budget, (*known, *bounds), depth - 1)
        for value, bounds in _ways(atom)
    )


def _ways(atom: Atom) -> list[tuple[Term, list[Bound]]]:
    """The values that an atom may have, each with when."""
    if atom.name == "positive":
        (x,) = atom.args
        return [(ONE, [(x, True)]), (ZERO, [(-x, False)])]
    if atom.name == "truth":
        return [(ONE, []), (ZERO, [])]
    sign = Fraction(-1 if atom.name == "whole minimum" else 1)
    places = [a if atom.name == "max" else apply("order", [a]) for a in atom.args]
    return [
        (a, [((places[k] - other).scaled(sign), False) for j, other in enumerate(places) if j != k])
        for k, a in enumerate(atom.args)
    ]


def _products(known: tuple[Bound, ...]) -> list[Bound]:
    """Products of two inequalities: what is at least 0 times what is at least 0."""
    if len(known) > _MOST_MULTIPLIED:
        return []
    return [(a * b, s and t) for (a, s), (b, t) in combinations(known, 2)]


_SPLIT = frozenset({"positive", "truth", "max", "whole maximum", "whole minimum"})


def _innermost(value: Term) -> Atom | None:
    """The first atom to make cases of, inside which there is none."""
    for atom in sorted(value.atoms(), key=lambda a: a.key):
        if atom.kind in ("fn", "group"):
            for argument in atom.args:
                if (found := _innermost(argument)) is not None:
                    return found
        if atom.kind == "fn" and atom.name in _SPLIT:
            return atom
    return None


def _with(value: Term, what: Atom, by: Term) -> Term:
    """A term with an atom replaced, except inside sums."""

    def change(atom: Atom) -> Term:
        if atom == what:
            return by
        match atom.kind:
            case "fn":
                return apply(FUNCTION_OF.get(atom.name, atom.name), [_with(a, what, by) for a in atom.args])
            case "group":
                return _with(atom.args[0], what, by)
        return of_atom(atom)

    return rebuilt(value, change)


# ── linear inequalities ──


def contradictory(bounds: Sequence[Bound]) -> bool:
    """True if inequalities contradict each other, products of atoms taken as variables. False: not found."""
    rows = [(dict(x.parts), strict) for x, strict in bounds]
    for product in sorted({p for row, _ in rows for p in row if p}, key=_text):
        alone = term({product: Fraction(1)})
        if at_least_0(alone):
            rows.append(({product: Fraction(1)}, is_positive(alone)))
    while True:
        for row, strict in rows:
            if all(not p for p in row) and (
                row.get((), Fraction(0)) < 0 or strict and not row.get((), Fraction(0))
            ):
                return True
        products = sorted({p for row, _ in rows for p in row if p and row[p]}, key=_text)
        if not products:
            return False
        product = min(products, key=lambda p: _growth(rows, p))
        rows = _without(rows, product)
        if len(rows) > _MOST_INEQUALITIES:
            return False


_Row = tuple[dict[Factors, Fraction], bool]


def _text(product: Factors) -> list[tuple[str, int]]:
    return [(atom.key, exponent) for atom, exponent in product]


def _growth(rows: Sequence[_Row], product: Factors) -> int:
    above = sum(1 for row, _ in rows if row.get(product, 0) > 0)
    below = sum(1 for row, _ in rows if row.get(product, 0) < 0)
    return above * below - above - below


def _without(rows: Sequence[_Row], product: Factors) -> list[_Row]:
    """The inequalities that follow for the other products."""
    kept = [(row, strict) for row, strict in rows if not row.get(product)]
    above = [(row, strict) for row, strict in rows if row.get(product, 0) > 0]
    below = [(row, strict) for row, strict in rows if row.get(product, 0) < 0]
    for up, strict in above:
        for down, other in below:
            sum_ = {
                p: up.get(p, Fraction(0)) / up[product] - down.get(p, Fraction(0)) / down[product]
                for p in {*up, *down}
            }
            kept.append(({p: c for p, c in sum_.items() if c}, strict or other))
    return kept
