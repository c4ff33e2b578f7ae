"""Quotients of sizes and positions, rounded down: simplified where enough is known, and what is known of the
others.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import combinations

from gslang.verify.prove.terms.inequalities import Inequalities
from gslang.verify.prove.terms.journal import question
from gslang.verify.prove.terms.paths import Choices, NotProved
from gslang.verify.prove.terms.sizes import (
    Number,
    Product,
    Size,
    divide,
    linear,
    made,
    multiply,
    names_in,
    terms_of,
    text_of,
    without,
)

_MOST_FACTORS = 4  # of a divisor that is taken apart


class Quotients(Inequalities):
    """`products`: product of quantities → what it equals; `floors`: quotient → dividend and divisor;
    `ranges`: position → the size that it is below.
    """

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.products: dict[Product, Number] = {}
        self.floors: dict[str, tuple[Number, Number]] = {}
        self.ranges: dict[str, Number] = {}

    @abstractmethod
    def normal(self, value: Number) -> Number:
        """The value with everything that is known put in."""

    @question
    def divisions(self, names: set[str]) -> tuple[tuple[Number, Number], ...]:
        """The parts of those quantities that are quotients."""
        return tuple(self.floors[name] for name in sorted(names & self.floors.keys()))

    @question
    def floor(self, a: Number, b: Number) -> Number:
        """⌊a / b⌋ for positive b."""
        if type(a) is int and type(b) is int:
            if b == 0:
                raise ZeroDivisionError
            return a // b
        if type(b) is int and b == 1:
            return a
        key = text_of(a), text_of(b)
        known = self._found.quotients.get(key)
        if known is None:
            known = self._floor(a, b)
            self._found.quotients[key] = known  # of what is known now
        return known

    def _floor(self, a: Number, b: Number) -> Number:
        if not self.proves(b - 1):
            if not self.at_least(b, 1):
                raise NotProved("a divisor may be zero or negative")
        quotient, rest = self._divided(a, b)
        if type(rest) is int and rest == 0 or self.proves(rest) and self.proves(b - 1 - rest):
            return quotient
        if self.proves(-1 - rest) and self.proves(rest + b):
            return quotient - 1
        if self.proves(rest - b) and self.proves(2 * b - 1 - rest):
            return quotient + 1
        if (shorter := self._by_digits(rest, b)) is not None:
            return quotient + shorter
        terms = terms_of(rest)
        if len(terms) == 1:
            ((p, c),) = terms.items()
            if c == 1 and len(p) == 1 and p[0] in self.floors:  # ⌊⌊x / y⌋ / b⌋ = ⌊x / (y·b)⌋
                inner, divisor = self.floors[p[0]]
                return quotient + self.floor(inner, divisor * b)
        name = f"floor({text_of(rest)}, {text_of(b)})"
        self.floors[name] = (rest, b)
        new = name not in self.order
        result = self._named(name)
        if new:
            self.known += [rest - b * result, b * result + b - 1 - rest, *self._bounds(rest, b, result)]
        if not self._at_least_0(name) and self.proves(rest):
            (self.assumed[-1] if self.assumed else self.known).append(result)
            self._changed()
        return quotient + result

    def _by_digits(self, a: Number, b: Number) -> Number | None:
        """⌊(m·p + r) / (m·n)⌋ = ⌊p / n⌋ where r is at least 0 and below m; None where b has no such factor m.
        """
        terms = terms_of(b)
        ((names, c), *others) = terms.items()
        if others or c != 1 or not 1 < len(names) <= _MOST_FACTORS or len(terms_of(a)) < 2:
            return None
        for count in range(len(names) - 1, 0, -1):
            for small in sorted(set(combinations(names, count))):
                unit = made({small: 1}, self)
                whole, rest = divide(a, unit, self)
                if (
                    not (type(whole) is int and whole == 0)
                    and self.proves(rest) and self.proves(unit - 1 - rest)
                ):
                    return self.floor(whole, made({without(names, small) or (): 1}, self))
        return None

    def _bounds(self, a: Number, b: Number, quotient: Size) -> list[Number]:
        """Bounds of ⌊a / b⌋ that follow from those of a by whole multiples of b: of a < b·u, and of a ≥ b·u.

        For a number b, the latter follow from the inequalities of the quotient.
        """
        if not isinstance(a, Size):
            return []
        found = self._highest(a, b, quotient)
        if isinstance(b, int):
            return found
        for fact in self.known:
            if not isinstance(fact, Size) or not names_in(fact) & names_in(a):
                continue
            for bound, below in ((fact + a + 1, True), (a - fact, False)):
                if names_in(bound) & names_in(a):
                    continue
                whole, rest = divide(self.normal(bound), b, self)
                if type(rest) is int and rest == 0:
                    found.append(whole - 1 - quotient if below else quotient - whole)
        return found

    def _highest(self, a: Size, b: Number, quotient: Size) -> list[Number]:
        """The bound of ⌊a / b⌋ by the ranges of the positions in a, if b divides the number that a is below:
        the row of an element in a tensor that is seen as rows of b elements.
        """
        highest: Number = a
        for name in sorted(names_in(a) & self.ranges.keys()):
            parts = linear(highest, name, self)
            if parts is None or not self._is_never_negative(parts[0]):
                return []
            highest = parts[0] * (self.normal(self.ranges[name]) - 1) + parts[1]
        whole, rest = divide(self.normal(highest + 1), b, self)
        return [whole - 1 - quotient] if type(rest) is int and rest == 0 else []

    def _is_never_negative(self, value: Number) -> bool:
        with self._bare():
            return self.proves(value)

    def _divided(self, a: Number, b: Number) -> tuple[Number, Number]:
        if type(b) is int:
            whole = made({p: c // b for p, c in terms_of(a).items()}, self)
            return whole, a - b * whole
        whole, rest = divide(a, b, self)
        if self.products and not (type(rest) is int and rest == 0):
            for names, value in self.products.items():  # a may be a multiple of what stands for a product
                if not isinstance(value, Size) or self.floors.keys() & set(names):
                    continue
                times, left = divide(a, value, self)
                if type(left) is int and left == 0:
                    found, left = divide(multiply(times, made({names: 1}, self), self), b, self)
                    if type(left) is int and left == 0:
                        return self.normal(found), 0
        return whole, rest
