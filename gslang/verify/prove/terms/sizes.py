"""Sizes and positions as polynomials with whole coefficients over named quantities.

A quantity is a size (`x.0`), a position (`@3`), a quotient rounded down (`floor(…, …)`) or the common size of
broadcast dimensions (`join(…, …)`); what it stands for is kept by `facts.Facts`, which also decides
comparisons: `a == b` between sizes is answered from what is known, or by a case distinction. A polynomial
without quantities is a plain `int`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import chain
from typing import Any, Union

from gslang.verify.prove.terms.paths import NotProved

Product = tuple[str, ...]  # sorted names, repeated for powers
Terms = dict[Product, int]
Number = Union[int, "Size"]


class Knowledge(ABC):
    """The questions of sizes about themselves; `facts` answers them."""

    @abstractmethod
    def equal(self, a: Number, b: Number) -> bool:
        """a = b: known, or decided for this case."""

    @abstractmethod
    def at_least(self, a: Number, b: Number) -> bool:
        """a ≥ b: known, or decided for this case."""

    @abstractmethod
    def floor(self, a: Number, b: Number) -> Number:
        """⌊a / b⌋ for positive b."""

    @abstractmethod
    def parts_of(self, name: str) -> tuple[Number, ...]:
        """The parts of a composed quantity."""


class Size:
    """A polynomial that is no plain number. Immutable."""

    __slots__ = ("facts", "terms", "text")
    text: str  # the same for equal polynomials

    def __init__(self, terms: Terms, facts: Knowledge) -> None:
        self.terms, self.facts = terms, facts

    def __getattr__(self, name: str) -> str:
        """The text, when it is asked for the first time."""
        if name != "text":
            raise AttributeError(name)
        terms = self.terms
        if len(terms) == 1:  # as most are
            ((names, c),) = terms.items()
            self.text = f"{c}*{'*'.join(names)}"
        else:
            self.text = "+".join([f"{c}*{'*'.join(p)}" if p else str(c) for p, c in sorted(terms.items())])
        return self.text

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        raise NotProved("a symbolic size is used where a number is required")

    __index__ = __int__ = __float__ = __bool__ = __hash__  # type: ignore[assignment]

    # Other types than numbers raise `NotProved`: a TypeError would look like a condition that does not hold.

    def __add__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else add(self, other, self.facts)

    __radd__ = __add__

    def __neg__(self) -> Number:
        return Size({p: -c for p, c in self.terms.items()}, self.facts)

    def __sub__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else subtract(self, other, self.facts)

    def __rsub__(self, other: int) -> Number:
        return _other(other) if not is_number(other) else subtract(other, self, self.facts)

    def __mul__(self, other: Any) -> Number:
        if type(other) is tuple and len(other) == 1:
            return Copies(other[0], self)  # type: ignore[return-value]
        return _other(other) if not is_number(other) else multiply(self, other, self.facts)

    __rmul__ = __mul__

    def __floordiv__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else self.facts.floor(self, other)

    def __rfloordiv__(self, other: int) -> Number:
        return _other(other) if not is_number(other) else self.facts.floor(other, self)

    def __mod__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else self - other * self.facts.floor(self, other)

    def __rmod__(self, other: int) -> Number:
        return _other(other) if not is_number(other) else other - self * self.facts.floor(other, self)

    def __truediv__(self, other: object) -> Any:
        return _other(other)

    __rtruediv__ = __truediv__

    def __pow__(self, other: Number) -> Number:
        if type(other) is not int or other < 0:
            raise NotProved("powers of sizes are not supported")
        result: Number = 1
        for _ in range(other):
            result = result * self
        return result

    def __abs__(self) -> Number:
        return self if self >= 0 else -self

    def __eq__(self, other: object) -> bool:
        return is_number(other) and self.facts.equal(self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __ge__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else self.facts.at_least(self, other)

    def __le__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else self.facts.at_least(other, self)

    def __gt__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else not self.facts.at_least(other, self)

    def __lt__(self, other: Number) -> Number:
        return _other(other) if not is_number(other) else not self.facts.at_least(self, other)


class Copies:
    """A value as often as a size says: `[1.0] * n`."""

    __slots__ = ("count", "value")

    def __init__(self, value: Any, count: Size) -> None:
        self.value, self.count = value, count

    __hash__ = __eq__ = __len__ = __iter__ = __getitem__ = Size.__hash__  # type: ignore[assignment]


def _other(value: object) -> Any:
    if hasattr(value, "term"):  # a real number knows what to do with sizes
        return NotImplemented
    raise NotProved("a size is combined with a non-size")


def is_number(value: object) -> bool:
    """True if a value is a size or a plain whole number."""
    return isinstance(value, Size) or type(value) is int


def terms_of(value: Number) -> Terms:
    """The polynomial of a size or a plain number."""
    return value.terms if isinstance(value, Size) else {(): value} if value else {}


def made(terms: Terms, facts: Knowledge) -> Number:
    """A polynomial, as `int` where it is one. The terms are its own from now on."""
    kept = terms if all(terms.values()) else {p: c for p, c in terms.items() if c}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    return Size(kept, facts)


def add(a: Number, b: Number, facts: Knowledge) -> Number:
    """a + b."""
    result = dict(terms_of(a))
    for p, c in terms_of(b).items():
        result[p] = result.get(p, 0) + c
    return made(result, facts)


def subtract(a: Number, b: Number, facts: Knowledge) -> Number:
    """a − b."""
    result = dict(terms_of(a))
    for p, c in terms_of(b).items():
        result[p] = result.get(p, 0) - c
    return made(result, facts)


def multiply(a: Number, b: Number, facts: Knowledge) -> Number:
    """a · b."""
    result: Terms = {}
    for p, c in terms_of(a).items():
        for q, d in terms_of(b).items():
            r = tuple(sorted(p + q))
            result[r] = result.get(r, 0) + c * d
    return made(result, facts)


def text_of(value: Number) -> str:
    """The same text for equal polynomials."""
    return value.text if isinstance(value, Size) else str(value)


def names_in(value: Number) -> set[str]:
    """The quantities that occur in a polynomial."""
    return set(chain.from_iterable(value.terms)) if isinstance(value, Size) else set()


def without(p: Product, q: Product) -> Product | None:
    """p / q; None where q does not divide p."""
    left = list(p)
    for name in q:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def divide(a: Number, b: Number, facts: Knowledge) -> tuple[Number, Number]:
    """(q, r) with a = b·q + r: as much as the leading term of b goes into terms of a."""
    divisor = terms_of(b)
    lead = max(divisor, key=lambda p: (len(p), p))
    factor = divisor[lead]
    quotient: Terms = {}
    rest: Number = a
    for _ in range(32):
        found = None
        for p, c in sorted(terms_of(rest).items(), key=lambda item: (-len(item[0]), item[0])):
            q = without(p, lead)
            if q is not None and c // factor:
                found = (q, c // factor)
                break
        if found is None:
            break
        quotient[found[0]] = quotient.get(found[0], 0) + found[1]
        rest = rest - multiply(made({found[0]: found[1]}, facts), b, facts)
    return made(quotient, facts), rest


def quotient(a: Number, b: Number, facts: Knowledge) -> Number | None:
    """a / b; None where b does not divide a."""
    divisor = terms_of(b)
    if len(divisor) > 1:
        whole, rest = divide(a, b, facts)
        return whole if type(rest) is int and rest == 0 else None
    ((lead, factor),) = divisor.items()
    result: Terms = {}
    for p, c in terms_of(a).items():
        q = without(p, lead)
        if q is None or c % factor:
            return None
        result[q] = c // factor
    return made(result, facts)


def linear(value: Number, name: str, facts: Knowledge) -> tuple[Number, Number] | None:
    """(A, B) with value = A·name + B, where neither has `name`; None where a power of it occurs."""
    inner: Terms = {}
    outer: Terms = {}
    for p, c in terms_of(value).items():
        if name not in p:
            outer[p] = c
            continue
        k = p.index(name)
        rest = p[:k] + p[k + 1 :]
        if name in rest:
            return None
        inner[rest] = c
    return made(inner, facts), made(outer, facts)


def product(values: Iterable[Number]) -> Number:
    """Of all values; 1 without any."""
    result: Number = 1
    for value in values:
        result = result * value
    return result
