"""Real numbers as sums of products: the values of tensor elements, in normal form.

A factor (`Atom`) is an element of an input at a position, a size as a number, an unknown function of terms, a
reciprocal of a sum, a guard (1 where a size is at least 0, else 0), or a sum (maximum, …) over positions.
Equal factors have equal `key`s. What functions do (`exp`, `max`, …) is in `axioms`, sums are in `totals`;
terms only add and multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, Union

from gslang.base.quick_dataclass import dataclass
from gslang.verify.prove.terms.paths import NotProved, TooMuch
from gslang.verify.prove.terms.sizes import Number, Size, text_of

_MOST_SUMMANDS: Final = 100_000  # of a product: about a second

# positions that a total runs over, with their sizes
Variables = tuple[tuple[str, Number], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """`kind`: read num fn group guard total. `args`: sizes (read, num, guard) or terms (fn, group, total: the
    body).

    `level`: how deep sums are nested in it. `variables`: of a total.
    """

    kind: str
    name: str
    args: tuple[Any, ...]
    key: str
    level: int = 0
    variables: Variables = ()

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key


Factors = tuple[tuple[Atom, int], ...]  # sorted by key


class Term:
    """Coefficients of products of atoms, none of which is 0. Immutable."""

    __slots__ = ("_key", "parts")

    def __init__(self, parts: Mapping[Factors, Fraction]) -> None:
        self.parts = parts
        self._key = ""

    @property
    def key(self) -> str:
        """The same for equal terms; most sums on the way to one are never asked for it."""
        if not self._key:
            self._key = " + ".join(sorted(
                f"{c}·{'·'.join(f'{a.key}^{e}' for a, e in factors)}" for factors, c in self.parts.items()
            )) or "0"
        return self._key

    def __add__(self, other: Term) -> Term:
        if not self.parts or not other.parts:
            return self if self.parts else other
        return term(_sum(dict(self.parts), other.parts.items()))

    def __neg__(self) -> Term:
        return term({factors: -c for factors, c in self.parts.items()})

    def __sub__(self, other: Term) -> Term:
        return self + -other

    def __mul__(self, other: Term) -> Term:
        """Raises `TooMuch` for a product of more summands than can be looked at."""
        if len(self.parts) * len(other.parts) > _MOST_SUMMANDS:
            raise TooMuch("a product has too many terms")
        for one, many in ((self, other), (other, self)):
            if (c := one.parts.get(())) is not None and len(one.parts) == 1:
                return many.scaled(c)
        total = ZERO
        plain: dict[Factors, Fraction] = {}
        for f, c in self.parts.items():
            for g, d in other.parts.items():
                product = joined(f, g)
                if isinstance(product, Term):
                    total = total + product.scaled(c * d)
                else:
                    _sum(plain, ((product, c * d),))
        return total + term(plain) if total.parts else term(plain)

    def scaled(self, factor: Fraction) -> Term:
        """Times a fraction."""
        return self if factor == 1 else term({factors: c * factor for factors, c in self.parts.items()})

    def power(self, exponent: int) -> Term:
        """To a whole power; negative ones by `inverse`."""
        if exponent < 0:
            return inverse(self).power(-exponent)
        result = self if exponent else ONE
        for _ in range(exponent - 1):
            result = result * self
        return result

    @property
    def constant(self) -> Fraction | None:
        """The number that this is, if it is one."""
        if not self.parts:
            return Fraction(0)
        return self.parts.get(()) if len(self.parts) == 1 else None

    @property
    def alone(self) -> tuple[Atom, Fraction] | None:
        """(atom, c) of c·atom."""
        if len(self.parts) == 1:
            ((factors, c),) = self.parts.items()
            if len(factors) == 1 and factors[0][1] == 1:
                return factors[0][0], c
        return None

    @property
    def level(self) -> int:
        """The nesting depth of sums in it."""
        return max((atom.level for factors in self.parts for atom, _ in factors), default=0)

    def atoms(self) -> Iterable[Atom]:
        """All atoms of all summands."""
        for factors in self.parts:
            for atom, _ in factors:
                yield atom


def term(parts: Mapping[Factors, Fraction]) -> Term:
    """A sum of products, without summands that vanish."""
    return Term(parts if all(parts.values()) else {factors: c for factors, c in parts.items() if c})


def _sum(to: dict[Factors, Fraction], more: Iterable[tuple[Factors, Fraction]]) -> dict[Factors, Fraction]:
    """The first summands, to which others were added."""
    for factors, c in more:
        to[factors] = to[factors] + c if factors in to else c
    return to


ZERO = term({})
ONE = term({(): Fraction(1)})


def number(value: Union[int, float, Fraction]) -> Term:
    """A constant. Raises `NotProved` for infinities and NaN."""
    if isinstance(value, float) and value - value != 0:
        raise NotProved("a constant is not finite")
    return term({(): _meant(value) if isinstance(value, float) else Fraction(value)})


def infinite(sign: int) -> Term:
    """∞, or −∞: a number above, or below, all those that inputs are made of (see `operators.infinities`)."""
    return unknown(_INFINITE).scaled(Fraction(sign))


def is_infinite(value: Term) -> bool:
    """True if ∞ is anywhere in a term."""
    return any(atom.name == _INFINITE for atom in all_atoms(value))


def all_atoms(value: Term) -> Iterator[Atom]:
    """All atoms of a term, those inside of others too."""
    for factors in value.parts:
        for atom, _ in factors:
            yield atom
            for argument in atom.args:
                if isinstance(argument, Term):
                    yield from all_atoms(argument)


_INFINITE: Final = "infinite"


def _meant(value: float) -> Fraction:
    """The fraction that a float is the rounding of, where it is a simple one: 1/3 is no float."""
    exact = Fraction(value)
    near = exact.limit_denominator(_SIMPLE)
    return near if abs(near - exact) <= abs(exact) * Fraction(1, 2**53) else exact


_SIMPLE = 64  # the largest denominator


_TRUTHS = frozenset({"positive", "truth"})
FUNCTION_OF = {"max": "maximum"}  # the name that a function's result is kept under → the function


def is_truth(atom: Atom) -> bool:
    """True if an atom is 1 or 0."""
    return atom.kind == "guard" or atom.kind == "fn" and atom.name in _TRUTHS


def of_atom(atom: Atom) -> Term:
    """The atom itself."""
    return term({((atom, 1),): Fraction(1)})


def of_size(value: Number) -> Term:
    """A size as a number."""
    if type(value) is int:
        return number(value)
    assert isinstance(value, Size)
    result = ZERO
    for p, c in value.terms.items():
        part = number(c)
        for name in p:
            part = part * of_atom(Atom("num", name, (Size({(name,): 1}, value.facts),), f"#{name}"))
        result = result + part
    return result


def read(name: str, index: tuple[Number, ...]) -> Term:
    """An element of an input."""
    return of_atom(Atom("read", name, index, f"{name}[{', '.join(map(text_of, index))}]"))


def guard(value: Number) -> Term:
    """1 where `value` is at least 0, else 0."""
    if type(value) is int:
        return ONE if value >= 0 else ZERO
    return of_atom(Atom("guard", "", (value,), f"[{text_of(value)} ≥ 0]"))


def unknown(name: str, *arguments: Term) -> Term:
    """An unknown function."""
    level = max((a.level for a in arguments), default=0)
    return of_atom(Atom("fn", name, arguments, f"{name}({', '.join(a.key for a in arguments)})", level))


def inverse(value: Term) -> Term:
    """1 / x; of a sum as an atom of its own."""
    if not value.parts:
        return unknown("1/0")  # whatever it is, it is the same on both sides
    if len(value.parts) == 1:
        ((factors, c),) = value.parts.items()
        if not any(is_truth(atom) for atom, _ in factors):
            result = number(1 / c)
            for atom, exponent in factors:
                result = result * term({((atom, -exponent),): Fraction(1)})
            return result
    first = min(value.parts.items(), key=lambda item: [a.key for a, _ in item[0]])[1]
    monic = value.scaled(1 / first)
    group = Atom("group", "", (monic,), f"({monic.key})", monic.level)
    return term({((group, -1),): 1 / first})


# Called with a function's factors that meet in a product: (exp, [(argument, exponent)]) → what they are
# together.
SIMPLIFY: dict[str, Callable[[list[tuple[Atom, int]]], Term | None]] = {}


def joined(f: Factors, g: Factors) -> Factors | Term:
    """The product of two products; a term where factors simplify each other."""
    if not f or not g:
        return f or g
    exponents: dict[Atom, int] = {}
    for atom, exponent in (*f, *g):
        exponents[atom] = exponents.get(atom, 0) + exponent
    plain: list[tuple[Atom, int]] = []
    changed: list[Term] = []
    special: dict[str, list[tuple[Atom, int]]] = {}
    for atom, exponent in exponents.items():
        if exponent == 0:
            continue
        if is_truth(atom):
            plain.append((atom, 1))
        elif atom.kind == "group" and exponent > 0:
            changed.append(atom.args[0].power(exponent))
        elif atom.kind == "fn" and atom.name in SIMPLIFY:
            special.setdefault(atom.name, []).append((atom, exponent))
        else:
            plain.append((atom, exponent))
    for name, items in special.items():
        result = SIMPLIFY[name](items)
        if result is None:
            plain += items
        else:
            changed.append(result)
    factors = tuple(sorted(plain, key=lambda item: item[0].key))
    if not changed:
        return factors
    total = term({factors: Fraction(1)})
    for part in changed:
        total = total * part
    return total


def rebuilt(value: Term, change: Callable[[Atom], Term]) -> Term:
    """The term with every factor replaced."""
    result = ZERO
    for factors, c in value.parts.items():
        part = number(c)
        for atom, exponent in factors:
            part = part * change(atom).power(exponent)
        result = result + part
    return result


def with_value(value: Term, truth: Atom, known: int) -> Term:
    """A term where a truth value is 0 or 1; inside of functions it stays."""
    result: dict[Factors, Fraction] = {}
    for factors, c in value.parts.items():
        rest = tuple(factor for factor in factors if factor[0] != truth)
        if len(rest) == len(factors) or known:
            result[rest] = result.get(rest, Fraction(0)) + c
    return term(result)


def sizes_of(atom: Atom) -> Iterable[Number]:
    """All sizes and positions in an atom, those inside its arguments included."""
    for argument in atom.args:
        if isinstance(argument, Term):
            for inner in argument.atoms():
                yield from sizes_of(inner)
        elif isinstance(argument, Size):
            yield argument
    for _, size in atom.variables:
        if isinstance(size, Size):
            yield size
