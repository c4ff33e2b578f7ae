"""Signs of terms: what is surely not negative, and surely positive."""

from __future__ import annotations

from fractions import Fraction

from gslang.verify.prove.terms.terms import ONE, Atom, Factors, Term, infinite, is_infinite, is_truth


def at_least_0(x: Term) -> bool:
    """True if x ≥ 0 for sure."""
    least = _least(x)
    return least is not None and least >= 0


def is_positive(x: Term) -> bool:
    """True if x > 0 for sure."""
    least = _least(x)
    if least is None or least < 0:
        return False
    return least > 0 or any(
        _is_signed(factors, c) and all(_atom_is_positive(atom) for atom, _ in factors)
        for factors, c in x.parts.items()
    )


def _least(x: Term) -> Fraction | None:
    """A lower bound of x: what its constant and its bounded summands are at least. (None of the others is
    negative, so that one of them above 0 puts x above the bound.) None where there is none.
    """
    if _is_infinite(x):
        return Fraction(1)
    least = Fraction(0)
    for factors, c in x.parts.items():
        if not _is_signed(factors, c):
            bound = c if not factors else _least_of(factors, c)
            if bound is None:
                return None
            least += bound
    return least


(_INFINITE,) = infinite(1).parts


def _is_infinite(x: Term) -> bool:
    """True of ∞ and what is finite added to it."""
    c = x.parts.get(_INFINITE)
    return c is not None and c > 0 and not is_infinite(x - infinite(1).scaled(c))


def _is_signed(factors: Factors, c: Fraction) -> bool:
    """True of a summand that is no constant and not negative, whatever its factors are."""
    return bool(factors) and c >= 0 and all(e % 2 == 0 or _atom_at_least_0(atom) for atom, e in factors)


# functions with values from −1 to 1
_BOUNDED = frozenset({"tanh", "Tanh", "erf", "Erf", "sin", "Sin", "cos", "Cos"})


def _least_of(factors: Factors, c: Fraction) -> Fraction | None:
    """A lower bound of a multiple of a product of numbers from −1 to 1; None for others."""
    low = 0
    for atom, exponent in factors:
        if atom.kind == "fn" and atom.name in _BOUNDED and exponent > 0:
            low = low if exponent % 2 == 0 else -1
        elif not (_is_share(atom, exponent) or exponent > 0 and is_truth(atom)):
            return None
    return min(c, c * low)


def _is_share(atom: Atom, exponent: int) -> bool:
    """True of what is divided by a sum of at least 1."""
    return atom.kind == "group" and exponent < 0 and at_least_0(atom.args[0] - ONE)


def _atom_at_least_0(atom: Atom) -> bool:
    if atom.kind == "guard":
        return True
    if atom.kind == "num":
        size = atom.args[0]
        return bool(size.facts.proves(size))
    if atom.kind == "total" and atom.name == "sum" or atom.kind == "group":
        return at_least_0(atom.args[0])
    if atom.kind == "fn" and atom.name == "max":
        return (
            any(at_least_0(a) for a in atom.args) or len(atom.args) == 2
            and (atom.args[0] + atom.args[1]).constant == 0
        )
    return atom.kind == "fn" and atom.name in ("exp", "sqrt", "sigmoid")


def _atom_is_positive(atom: Atom) -> bool:
    if atom.kind == "num":
        size = atom.args[0]
        return bool(size.facts.proves(size - 1))
    if atom.kind == "group" or atom.kind == "total" and atom.name == "sum":
        return is_positive(atom.args[0])
    if atom.kind == "fn" and atom.name == "max":
        return any(is_positive(a) for a in atom.args)
    if atom.kind == "fn" and atom.name == "sqrt":
        return is_positive(atom.args[0])
    return atom.kind == "fn" and atom.name in ("exp", "sigmoid")
