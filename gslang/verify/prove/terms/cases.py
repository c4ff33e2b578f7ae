"""Equality of terms by cases: which argument of a maximum is the largest, whether what a comparison asks is
above 0.

Each case adds linear inequalities between products of atoms; cases whose inequalities contradict each other
(Fourier 1826, Motzkin 1936) do not occur. In each other case the difference of two terms must vanish. Real
numbers only need to be ordered for this, so it holds for the numbers that whole numbers stand for
(`truths.order`) as well. Not here: cases of sizes, which are settled before (`facts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm

from gslang.verify.prove.terms.axioms import apply
from gslang.verify.prove.terms.paths import Budget
from gslang.verify.prove.terms.signs import at_least_0, is_positive
from gslang.verify.prove.terms.terms import (
    FUNCTION_OF,
    ONE,
    ZERO,
    Atom,
    Factors,
    Term,
    of_atom,
    rebuilt,
    term,
)

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
    products = sorted({p for x, _ in bounds for p in x.parts if p}, key=_text)
    columns: dict[Factors, int] = {(): 0, **{product: k for k, product in enumerate(products, 1)}}
    rows = [_whole({columns[p]: c for p, c in x.parts.items()}, strict) for x, strict in bounds]
    for product in products:
        alone = term({product: Fraction(1)})
        if at_least_0(alone):
            rows.append((((columns[product], 1),), is_positive(alone)))
    while True:
        for row, strict in rows:
            if not row and strict or len(row) == 1 and not row[0][0] and row[0][1] < 0:
                return True
        rows = _strongest(rows)
        above = Counter(k for row, _ in rows for k, c in row if c > 0)
        below = Counter(k for row, _ in rows for k, c in row if c < 0)
        left = sorted({k for k in (*above, *below) if k})
        if not left:
            return False
        rows = _without(rows, min(left, key=lambda k: above[k] * below[k] - above[k] - below[k]))
        if len(rows) > _MOST_INEQUALITIES:
            return False


_Row = tuple[tuple[tuple[int, int], ...], bool]
"""An inequality: (column, whole coefficient) by columns, 0 for the constant; at least 0, or above it."""


def _text(product: Factors) -> list[tuple[str, int]]:
    return [(atom.key, exponent) for atom, exponent in product]


def _whole(coefficients: Mapping[int, Fraction], strict: bool) -> _Row:
    """An inequality times the denominators of its coefficients."""
    times = lcm(*(c.denominator for c in coefficients.values()))
    return tuple(sorted((k, int(c * times)) for k, c in coefficients.items())), strict


def _strongest(rows: Sequence[_Row]) -> list[_Row]:
    """The inequalities, each once, of those with the same coefficients the one with the least constant."""
    found: dict[tuple[tuple[int, int], ...], tuple[int, bool]] = {}
    for row, strict in rows:
        constant, rest = (row[0][1], row[1:]) if row and not row[0][0] else (0, row)
        best = found.get(rest)
        if best is None or (constant, not strict) < (best[0], not best[1]):
            found[rest] = constant, strict
    return [(((0, c), *rest) if c else rest, strict) for rest, (c, strict) in found.items()]


def _without(rows: Sequence[_Row], column: int) -> list[_Row]:
    """The inequalities that follow for the other products."""
    kept: list[_Row] = []
    above: list[tuple[dict[int, int], int, bool]] = []
    below: list[tuple[dict[int, int], int, bool]] = []
    for item in rows:
        own = dict(item[0])
        sign = own.pop(column, 0)
        if not sign:
            kept.append(item)
        else:
            (above if sign > 0 else below).append((own, abs(sign), item[1]))
    for up, a, strict in above:
        for down, b, other in below:
            sum_ = {k: up.get(k, 0) * b + down.get(k, 0) * a for k in {*up, *down}}
            shared = gcd(*sum_.values()) or 1
            row = tuple(sorted((k, c // shared) for k, c in sum_.items() if c))
            kept.append((row, strict or other))
    return kept
