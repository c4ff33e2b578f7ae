"""Attributes and constants that are real numbers of which nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from gslang.verify.prove.terms.axioms import square_root
from gslang.verify.prove.terms.cases import contradictory
from gslang.verify.prove.terms.opaque import Opaque, unanswered
from gslang.verify.prove.terms.paths import Choices, NotProved
from gslang.verify.prove.terms.sizes import Size
from gslang.verify.prove.terms.terms import Atom, Term, inverse, number, of_atom, of_size, unknown

LOW = -(10**29)  # numbers of at most this one are told from others (`lows`)
_OUTWEIGHED = -(10**4)  # the same of those that weigh nothing beside usual scores


class Real(Opaque):
    """A number that may be any. Comparisons are cases, and what they say is known from then on
    (`Choices.bounds`).

    `term`: what a constant becomes that is made of it; `exact`: the number that the rule computes with. They
    differ for whole numbers, which wrap.
    """

    __slots__ = ("choices", "exact", "term")

    def __init__(self, term: Term, choices: Choices, exact: Term | None = None) -> None:
        self.term, self.choices, self.exact = term, choices, term if exact is None else exact

    @staticmethod
    def named(name: str, choices: Choices) -> Real:
        """A new number of which nothing is known."""
        return Real(unknown(name), choices)

    __hash__ = unanswered  # type: ignore[assignment]

    def _with(self, other: object, combine: Callable[[Term, Term], Term]) -> Any:
        if isinstance(other, (int, float, Real, Size)) and not isinstance(other, bool):
            return Real(combine(self.term, as_term(other)), self.choices, combine(self.exact, _exact(other)))
        if hasattr(other, "term"):
            return NotImplemented
        raise NotProved("a number is combined with a non-number")

    def __add__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __neg__(self) -> Number:
        return Real(-self.term, self.choices, -self.exact)

    def __sub__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: object) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return self._with(other, lambda a, b: a * inverse(b))

    def __rtruediv__(self, other: object) -> object:
        return self._with(other, lambda a, b: b * inverse(a))

    def __eq__(self, other: object) -> bool:
        if hasattr(type(other), "real") and not isinstance(other, (int, float)):
            other = other.real()  # type: ignore[attr-defined]
        if not isinstance(other, (int, float, Real, Size, Near)) or isinstance(other, bool):
            return False
        difference = self.exact - _exact(other)
        if difference.constant is not None:
            return difference.constant == 0
        if all(self._follows(-d, True) for d in (difference, -difference)):  # neither above nor below
            return True
        if self._follows(difference, True) or self._follows(-difference, True) or not self.choices.decide():
            return False
        self.choices.bounds += [(difference, False), (-difference, False)]
        alone = self.term.alone
        if alone is None or alone[1] != 1:
            return True
        if isinstance(other, Real):  # both are elements of constants: one stands for the other
            twin = other.term.alone
            if twin is not None and twin[1] == 1 and alone[0].kind == twin[0].kind == "read":
                self.choices.fixed[alone[0].key] = other.term
            elif self._is_product_for(alone[0], other):  # as a scale is one of two others
                self.choices.fixed[alone[0].key] = other.term
            return True
        if alone[0].kind == "read" or not alone[0].args:
            self.choices.fixed[alone[0].key] = as_term(other)
        return True

    def _is_product_for(self, atom: Atom, other: Real) -> bool:
        """True if an element of a constant is a product of elements of others: of real numbers, which do not
        wrap.
        """
        return (
            atom.kind == "read"
            and self.exact.key == self.term.key and other.exact.key == other.term.key
            and len(other.term.parts) == 1 and all(a.kind == "read" and a != atom for a in other.term.atoms())
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _follows(self, value: Term, strict: bool) -> bool:
        """True if it is known that a number is at least 0, or above it."""
        bounds = (*self.choices.bounds, (-value, not strict))
        return self.choices.recalled("above", (value.key, strict), lambda: contradictory(bounds))

    def surely_above(self, other: Term) -> bool:
        """True if it is known to be above a number, without a case."""
        return self._follows(self.exact - other, True)

    def _is(self, value: Term, strict: bool) -> bool:
        """True if a number is at least 0, or above it: known, or decided for this case."""
        if value.constant is not None:
            return value.constant > 0 if strict else value.constant >= 0
        if self._follows(value, strict) or self._is_product_above(value):
            return True
        if self._follows(-value, not strict):
            return False
        holds = self.choices.decide()
        self.choices.bounds.append((value, strict) if holds else (-value, not strict))
        if holds:
            self._note_low(value)
        return holds

    def _is_product_above(self, value: Term) -> bool:
        """True if it is known of each factor of a product that it is above 0: a quotient has the sign of its
        divisor.
        """
        ((factors, c), *others) = value.parts.items()
        if others or c <= 0 or len(factors) == 1 and factors[0][1] == 1:
            return False
        return all(exponent % 2 and self._follows(of_atom(atom), True) for atom, exponent in factors)

    def _note_low(self, value: Term) -> None:
        """Where it is at least 0 that a limit is above this number, and the limit is low, so is it."""
        alone = self.exact.alone
        limit = (value + self.exact).constant
        if limit is None or limit > _OUTWEIGHED or alone is None:
            return
        if alone[1] == 1 and alone[0].kind == "read":
            name = "very_low" if limit <= LOW else "outweighed"
            self.choices.fixed.setdefault(alone[0].key, unknown(name, self.exact))

    def __lt__(self, other: Number) -> bool:
        return self._is(_exact(other) - self.exact, True)

    def __le__(self, other: Number) -> bool:
        return self._is(_exact(other) - self.exact, False)

    def __gt__(self, other: Number) -> bool:
        return self._is(self.exact - _exact(other), True)

    def __ge__(self, other: Number) -> bool:
        return self._is(self.exact - _exact(other), False)


class Near(Opaque):
    """A number that a constant is compared with by `close`, which a proof takes for equality: the root that a
    float stands for where it is one.
    """

    __slots__ = ("term",)

    def __init__(self, value: float) -> None:
        square = Fraction(value) ** 2
        near = square.limit_denominator(_MOST_UNDER_ROOT)
        self.term = number(value)
        if value > 0 and abs(near - square) <= square * _ROUNDED and near.numerator <= _MOST_UNDER_ROOT:
            self.term = square_root(number(near)) if near >= 1 else inverse(square_root(number(1 / near)))

    __hash__ = unanswered  # type: ignore[assignment]


_MOST_UNDER_ROOT = 64
_ROUNDED = Fraction(1, 10**12)  # of the square of a float


class Token(Opaque):
    """A text that may be any: equal to another one or not, of which nothing is remembered."""

    __slots__ = ("choices", "name")

    def __init__(self, name: str, choices: Choices) -> None:
        self.name, self.choices = name, choices

    def __repr__(self) -> str:
        return self.name

    __hash__ = unanswered  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, (str, Token)) and self.choices.choose(2) == 0

    def __ne__(self, other: object) -> bool:
        return not self == other


@runtime_checkable
class Number(Protocol):
    """The term of one real number."""

    @property
    def term(self) -> Term:
        """The number in normal form."""


def _exact(value: object) -> Term:
    """The number that a rule computes with."""
    if hasattr(value, "real") and not isinstance(value, (int, float)):
        value = value.real()
    return value.exact if isinstance(value, Real) else as_term(value)


def as_term(value: object) -> Term:
    """A number as a term. Raises `NotProved` for what is none."""
    if isinstance(value, Term):
        return value
    alone = value.term.alone if isinstance(value, Real) and value.choices.fixed else None
    if isinstance(value, Real) and alone is not None and alone[1] == 1:
        return value.choices.fixed.get(alone[0].key, value.term)  # type: ignore[no-any-return]
    if isinstance(value, Size):
        return of_size(value)
    if isinstance(value, (int, float)):
        return number(value)  # truth values are 1 and 0
    if isinstance(value, Number):
        return value.term
    raise NotProved(f"{value!r} is not a number")
