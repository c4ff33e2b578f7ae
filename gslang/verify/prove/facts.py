"""What is known about sizes in one case: equations, inequalities, and the decisions that follow from them.

An inequality is a polynomial that is at least 0. `proves` subtracts multiples of known inequalities until what is left has no
quantity with a negative coefficient; it may fail to see what is true, never the other way round. A question that
stays open becomes a case distinction (`at_least`, `equal`) and is known from then on.

Positions that a sum runs over (`bound`) must not be distinguished by cases: `mentions_bound` tells, and `terms` uses guards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import gcd
from typing import Any

from gslang.verify.prove.paths import Choices, Impossible, NotProved
from gslang.verify.prove.sizes import (
    Number,
    Product,
    Size,
    Terms,
    add,
    divide,
    is_number,
    linear,
    made,
    multiply,
    names_in,
    terms_of,
    text_of,
    without,
)  # fmt: skip

_LONGEST = 5  # terms of an inequality that is tried
_STEPS = 12  # of one attempt to prove an inequality
_DEPTH = 5


class _Found:
    """What was found out from what is known, until that changes."""

    __slots__ = ("about", "least", "long", "nonnegative", "normal", "proved")

    def __init__(self) -> None:
        self.normal: dict[str, Any] = {}
        self.proved: dict[str, bool] = {}
        self.nonnegative: dict[str, bool] = {}
        self.about: dict[str, list[Any]] | None = None  # quantity → short inequalities that mention it
        self.long: list[Any] = []  # the other inequalities
        self.least: dict[str, int] = {}  # text without its number → how small it can be


class Facts:
    """The knowledge of one case. `equations`: quantity → what it equals; `products`: product of quantities → what it equals."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.equations: dict[str, Any] = {}
        self.products: dict[Product, Any] = {}
        self.known: list[Any] = []  # each at least 0
        self.assumed: list[list[Any]] = []  # the same, while `assuming`
        self.different: list[Any] = []  # each other than 0
        self.floors: dict[str, tuple[Any, Any]] = {}
        self.joins: dict[str, tuple[Any, ...]] = {}
        self.withins: dict[str, tuple[Any, Any]] = {}
        self.ranges: dict[str, Any] = {}  # position → the size that it is below
        self.fitting_sizes: list[tuple[Any, Any]] = []  # pairs of sizes that broadcast
        self.order: dict[str, int] = {}  # quantity → when it was made
        self.bounds: set[str] = set()  # positions that sums run over
        self.count = 0
        self.version = 0
        self._found = _Found()
        self._left = 0

    # ── quantities ──

    def _named(self, name: str) -> Any:
        self.order.setdefault(name, len(self.order))
        return Size({(name,): 1}, self)

    def size(self, name: str, least: int | None = 1) -> Any:
        """A new size of which only a lower bound is known, if any."""
        self.count += 1
        result = self._named(f"{name}.{self.count}")
        if least is not None:
            self.known.append(result - least)
            self._changed()
        return result

    def position(self, size: Number, bound: bool = False) -> Any:
        """A new position below `size`, of which it must be known that it is positive."""
        with self._bare():
            if not self.proves(self.normal(size) - 1):
                raise NotProved(f"a range may be empty: {text_of(size)}")
        self.count += 1
        name = f"@{self.count}"
        result = self._named(name)
        if bound:
            self.bounds.add(name)
        self.known += [result, size - 1 - result]
        self.ranges[name] = size
        self._changed()
        return result

    def within(self, position: Number, size: Number) -> Any:
        """The position in a dimension that is broadcast: `position`, but 0 where `size` is 1."""
        size, position = self.normal(size), self.normal(position)
        if type(size) is int and size == 1 or type(position) is int and position == 0:
            return 0
        if isinstance(position, Size) and len(position.terms) == 1:
            ((p, c),) = position.terms.items()
            if c == 1 and len(p) == 1 and p[0] in self.ranges and text_of(self.normal(self.ranges[p[0]])) == text_of(size):
                return position
        if self.proves(size - 2):
            return position
        if (
            isinstance(position, Size)
            and len(position.terms) == 1
            and (inner := next(iter(position.terms)))
            and inner[0] in self.withins
            and len(inner) == 1
        ):
            below, wide = self.withins[inner[0]]  # where `wide` is 1, so is `size`
            if position.terms[inner] == 1 and text_of(self.normal(self.join(self.normal(wide), size))) == text_of(self.normal(wide)):
                return self.within(below, size)
        name = f"within({text_of(position)}, {text_of(size)})"
        if name not in self.order:
            self.withins[name] = (position, size)
            result = self._named(name)
            self.known += [result, position - result, size - 1 - result]
            self._changed()
        return self._named(name)

    def _changed(self) -> None:
        """Something is known that was not: what was found before may be found to be more now."""
        self.version += 1
        self._found = _Found()

    def mentions_bound(self, value: Number) -> bool:
        return any(self._mentions(name) for name in names_in(value))

    def _mentions(self, name: str) -> bool:
        parts = self.parts_of(name)
        return name in self.bounds or any(self.mentions_bound(part) for part in parts)

    def parts_of(self, name: str) -> tuple[Any, ...]:
        """What a composed quantity is made of."""
        return self.floors.get(name) or self.withins.get(name) or self.joins.get(name) or ()

    # ── normal form ──

    def normal(self, value: Number) -> Any:
        """The value with everything that is known put in."""
        if not isinstance(value, Size):
            return value
        found = self._found.normal
        if value.text not in found:
            result = self._normal(value)
            found[value.text] = result
        return found[value.text]

    def _normal(self, value: Size) -> Any:
        self.choices.budget.spend()
        current: Any = value
        for _ in range(40):
            before = text_of(current)
            current = self.replaced(current, self.equations)
            if self.products and isinstance(current, Size):
                current = self._products_replaced(current)
            if text_of(current) == before:
                return current
        raise NotProved("equations go round in circles")

    def replaced(self, value: Number, what: Mapping[str, Any]) -> Any:
        """The value with quantities replaced, also inside quotients and joins, which are simplified."""
        if not isinstance(value, Size):
            return value
        again = self.normal if what is self.equations else lambda part: self.replaced(part, what)
        result: Any = 0
        for p, c in value.terms.items():
            factor: Any = c
            for name in p:
                if name in what:
                    factor = factor * what[name]
                elif name in self.floors:
                    a, b = self.floors[name]
                    factor = factor * self.floor(again(a), again(b))
                elif name in self.withins:
                    a, b = self.withins[name]
                    factor = factor * self.within(again(a), again(b))
                elif name in self.joins:
                    joined: Any = 1
                    for part in self.joins[name]:
                        joined = self.join(joined, again(part))
                    factor = factor * joined
                else:
                    factor = factor * Size({(name,): 1}, self)
            result = result + factor
        return result

    def _products_replaced(self, value: Size) -> Any:
        result: Any = 0
        for p, c in value.terms.items():
            for product, new in self.products.items():
                rest = without(p, product)
                if rest is not None:
                    result = result + multiply(made({rest: c}, self), new, self)
                    break
            else:
                result = result + made({p: c}, self)
        return result

    def floor(self, a: Number, b: Number) -> Any:
        """⌊a / b⌋ for positive b."""
        if type(a) is int and type(b) is int:
            if b == 0:
                raise ZeroDivisionError
            return a // b
        if type(b) is int and b == 1:
            return a
        if not self.proves(b - 1):
            if not self.at_least(b, 1):
                raise NotProved("a quotient by what may not be positive")
        quotient, rest = self._divided(a, b)
        if type(rest) is int and rest == 0 or self.proves(rest) and self.proves(b - 1 - rest):
            return quotient
        if self.proves(-1 - rest) and self.proves(rest + b):
            return quotient - 1
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
            self.known += [rest - b * result, b * result + b - 1 - rest]
            self._changed()
        if not self._at_least_0(name) and self.proves(rest):
            (self.assumed[-1] if self.assumed else self.known).append(result)
            self._changed()
        return quotient + result

    def _divided(self, a: Number, b: Number) -> tuple[Any, Any]:
        if type(b) is int:
            whole = made({p: c // b for p, c in terms_of(a).items()}, self)
            return whole, a - b * whole
        return divide(a, b, self)

    def join(self, a: Number, b: Number) -> Any:
        """The size that two dimensions broadcast to; that they do is known or asked for elsewhere."""
        if text_of(a) == text_of(b):
            return a
        if type(a) is int and a == 1:
            return b
        if type(b) is int and b == 1:
            return a
        if self.proves(a - 2):
            return a
        if self.proves(b - 2):
            return b
        parts: dict[str, Any] = {}
        for value in (a, b):
            names = terms_of(value)
            only = next(iter(names)) if len(names) == 1 else ()
            inside = self.joins.get(only[0]) if len(only) == 1 and names[only] == 1 else None
            parts.update({text_of(part): part for part in inside or (value,)})
        name = "join(" + ", ".join(sorted(parts)) + ")"
        self.joins[name] = tuple(parts[key] for key in sorted(parts))
        new = name not in self.order
        result = self._named(name)
        if new:
            self.known += [result - part for part in self.joins[name]]
            self._changed()
        return result

    # ── knowledge ──

    def learn(self, value: Number) -> None:
        """`value` is at least 0 in this case. Raises `Impossible` where that contradicts what is known."""
        with self._bare():
            value = self.normal(value)
            if self.proves(-1 - value):
                raise Impossible
            if isinstance(value, Size):
                self.known.append(self._primitive(value))
        self._changed()

    def _primitive(self, value: Size) -> Any:
        """The same inequality without a common factor: 2x + 1 ≥ 0 is x ≥ 0."""
        common = gcd(*(c for p, c in value.terms.items() if p))
        return value if common == 1 else made({p: c // common for p, c in value.terms.items()}, self)

    def learn_equal(self, a: Number, b: Number) -> None:
        """Both are the same in this case."""
        with self._bare():
            self._learn_equal(a, b)

    @contextmanager
    def _bare(self) -> Iterator[None]:
        """Without what is only assumed for the moment: what is learned holds beyond it."""
        before, self.assumed = self.assumed, []
        if before:
            self._found = _Found()
        try:
            yield
        finally:
            self.assumed = before
            if before:
                self._found = _Found()

    def _learn_equal(self, a: Number, b: Number) -> None:
        difference = self.normal(a - b)
        if type(difference) is int:
            if difference:
                raise Impossible
            return
        if self.proves(difference - 1) or self.proves(-1 - difference):
            raise Impossible
        for name in sorted(names_in(difference)):  # x·y = x·z is y = z where x is positive
            while isinstance(difference, Size) and all(name in p for p in difference.terms) and self.proves(Size({(name,): 1}, self) - 1):
                difference = made({without(p, (name,)) or (): c for p, c in difference.terms.items()}, self)
        if not isinstance(difference, Size):
            raise Impossible
        if not self._all_ones(difference):
            self._solve(difference)
        self._changed()
        for other in self.different:
            if type(self.normal(other)) is int and self.normal(other) == 0:
                raise Impossible
        before = {text_of(f) for f in self.known}
        self.known = [fact for fact in (self.normal(f) for f in self.known) if isinstance(fact, Size) or fact < 0]
        self._changed()
        if any(type(fact) is int or fact.text not in before and self.proves(-1 - fact) for fact in self.known):
            raise Impossible

    def _all_ones(self, difference: Size) -> bool:
        """Where a product of sizes is 1, all of them are."""
        terms = dict(difference.terms)
        number = terms.pop((), 0)
        if len(terms) != 1 or number != -next(iter(terms.values())):
            return False
        names = next(iter(terms))
        if len(names) < 2 or any(self.parts_of(name) or not self.proves(Size({(name,): 1}, self) - 1) for name in names):
            return False
        self.equations.update({name: 1 for name in names})
        return True

    def _solve(self, difference: Size) -> None:
        """Turn an equation into a replacement: of the newest quantity that stands alone, else of a product.

        Where a remainder is known (a − b·⌊a / b⌋ = r), a becomes b·q + r for a new q.
        """
        for name in sorted(names_in(difference) & self.floors.keys()):
            a, b = (self.normal(part) for part in self.floors[name])
            for sign in (1, -1):
                rest = self.normal(a - b * Size({(name,): 1}, self) - sign * difference)
                if name not in names_in(rest) and not self._inside(name, rest) and name in names_in(difference):
                    if type(rest) is int or self.proves(rest) and self.proves(b - 1 - rest):
                        quotient = self.size("q", 1 if self.proves(a - rest - 1) else 0)
                        self.floors.pop(name)
                        self.equations[name] = quotient
                        self._changed()
                        self._learn_equal(a, b * quotient + rest)
                        return
        for name in sorted(names_in(difference), key=lambda n: -self.order[n]):
            parts = linear(difference, name, self)
            if parts is not None and type(parts[0]) is int and abs(parts[0]) == 1 and not self._inside(name, parts[1]):
                self.equations[name] = -parts[0] * parts[1]
                return
        for p, c in sorted(difference.terms.items(), key=lambda item: [-self.order[n] for n in sorted(item[0], key=lambda n: -self.order[n])]):
            if p and abs(c) == 1 and not any(without(q, p) is not None for q in difference.terms if q != p):
                self.products[p] = -c * (difference - made({p: c}, self))
                return
        self.known += [difference, -difference]

    def _inside(self, name: str, value: Number) -> bool:
        """Whether `name` occurs inside a quotient or join of `value`."""
        for other in names_in(value):
            parts = self.parts_of(other)
            if other == name or any(self._inside(name, part) for part in parts):
                return True
        return False

    @contextmanager
    def assuming(self, *values: Number) -> Iterator[None]:
        """Inside, each value is at least 0, too."""
        before, found = self.version, self._found
        self.assumed.append([self._primitive(v) for v in values if isinstance(v, Size)])
        self._found = _Found()
        try:
            yield
        finally:
            self.assumed.pop()
            self._found = found if self.version == before else _Found()

    def _all_known(self) -> Iterator[Any]:
        for facts in reversed(self.assumed):
            yield from facts
        yield from self.known

    # ── questions ──

    def at_least(self, a: Number, b: Number) -> bool:
        """a ≥ b: known, or decided for this case."""
        difference = self.normal(a - b)
        known = self.decided(difference)
        if known is not None:
            return known
        if self.mentions_bound(difference):
            raise NotProved("a case distinction inside a sum")
        if self.choices.choose(2) == 0:
            self.learn(difference)
            return True
        self.learn(-1 - difference)
        return False

    def decided(self, value: Number) -> bool | None:
        """Whether value ≥ 0; None where it is not known."""
        value = self.normal(value)
        if type(value) is int:
            return value >= 0
        if self.proves(value):
            return True
        return False if self.proves(-1 - value) else None

    def equal(self, a: Number, b: Number) -> bool:
        """a = b: known, or decided for this case."""
        if not is_number(b) or not is_number(a):
            return False
        difference = self.normal(a - b)
        if type(difference) is int:
            return difference == 0
        if self.surely_differ(difference):
            return False
        if self.proves(difference) and self.proves(-difference):
            return True
        if self.mentions_bound(difference):
            raise NotProved("a case distinction inside a sum")
        if self.choices.choose(2) == 0:
            self.learn_equal(a, b)
            return True
        self.different.append(difference)
        for sign in (1, -1):
            if self.proves(sign * difference):
                self.learn(sign * difference - 1)
                break
        return False

    def surely_differ(self, difference: Number) -> bool:
        difference = self.normal(difference)
        if type(difference) is int:
            return difference != 0
        texts = {text_of(difference), text_of(-difference)}
        if any(text_of(self.normal(other)) in texts for other in self.different):
            return True
        return self.proves(difference - 1) or self.proves(-1 - difference)

    # ── inequalities ──

    def proves(self, value: Number) -> bool:
        """Whether value ≥ 0 follows from what is known. False: not found."""
        value = self.replaced_equations(value)
        value = self._primitive(value) if isinstance(value, Size) else value
        if not isinstance(value, Size):
            return value >= 0
        proved = self._found.proved
        if value.text not in proved:
            self._left = _STEPS
            proved[value.text] = self._proves(value, _DEPTH, set())
        return proved[value.text]

    def replaced_equations(self, value: Number) -> Any:
        """`normal` without simplifying quotients (which asks `proves` in turn)."""
        if not isinstance(value, Size) or not (self.equations.keys() & names_in(value)):
            return value
        result: Any = 0
        for p, c in value.terms.items():
            factor: Any = c
            for name in p:
                factor = factor * (self.equations[name] if name in self.equations else Size({(name,): 1}, self))
            result = result + factor
        return self.replaced_equations(result) if text_of(result) != value.text else result

    def _proves(self, value: Number, depth: int, seen: set[str]) -> bool:
        if type(value) is int:
            return value >= 0
        assert isinstance(value, Size)
        if all(c >= 0 for c in value.terms.values()) and all(self._at_least_0(n) for n in names_in(value)):
            return True
        self._about("")
        rest_text, number = _apart(value)
        if self._found.least.get(rest_text, -1 - number) + number >= 0:
            return True
        if depth == 0 or self._left <= 0 or value.text in seen:
            return False
        self.choices.budget.spend()
        if len(value.terms) >= _LONGEST:
            for fact in self._found.long:
                rest = value - fact
                if type(rest) is int or len(rest.terms) <= 2:
                    if self._proves(rest, 1, seen):
                        return True
        self._left -= 1
        seen.add(value.text)
        negative = min((p for p, c in value.terms.items() if c < 0), key=lambda p: (-len(p), p), default=())
        for name in sorted(negative or names_in(value), key=lambda n: -self.order.get(n, 0)):
            parts = linear(value, name, self)
            if parts is None:
                continue
            for fact in self._about(name):
                rest = self._less(value, parts[0], fact, name, depth, seen)
                if rest is not None and self._proves(rest, depth - 1, seen):
                    return True
        return False

    def _less(self, value: Size, coefficient: Number, fact: Size, name: str, depth: int, seen: set[str]) -> Any:
        """value − k·fact without `name`, for a k that is at least 0; None where there is none."""
        own = linear(fact, name, self)
        if own is None or not terms_of(own[0]):
            return None
        k: Any
        if type(own[0]) is int:
            if type(coefficient) is int:
                if coefficient % own[0]:
                    return None
                k = coefficient // own[0]
            elif abs(own[0]) == 1:
                k = coefficient * own[0]
            else:
                return None
        else:
            k, remainder = divide(coefficient, own[0], self)
            if type(remainder) is not int or remainder:
                return None
        if type(k) is int:
            if k <= 0:
                return None
        elif not self._proves(k, min(depth - 1, 3), set()):
            return None
        return add(value, multiply(k, -fact, self), self)

    def _about(self, name: str) -> list[Any]:
        """Known inequalities that mention a quantity, the shortest first."""
        found = self._found
        if found.about is None:
            found.about = {}
            seen: set[str] = set()
            for fact in self._all_known():
                fact = self.replaced_equations(fact)
                if isinstance(fact, Size) and fact.text not in seen:
                    seen.add(fact.text)
                    rest, number = _apart(fact)
                    found.least[rest] = max(found.least.get(rest, -number), -number)
                    if len(fact.terms) > _LONGEST:
                        found.long.append(fact)
                        continue
                    for other in sorted(names_in(fact)):
                        found.about.setdefault(other, []).append(fact)
            for facts in found.about.values():
                facts.sort(key=lambda f: len(f.terms))
        return found.about.get(name, [])

    def _at_least_0(self, name: str) -> bool:
        """Whether a quantity is at least 0 by a fact of its own."""
        if name not in self._found.nonnegative:
            self._found.nonnegative[name] = any(
                fact.terms.get((name,)) == 1 and len(fact.terms) - (() in fact.terms) == 1 and fact.terms.get((), 0) <= 0
                for fact in self._about(name)
            )
        return self._found.nonnegative[name]


def _apart(value: Size) -> tuple[str, int]:
    """The text without the number, and the number."""
    number = value.terms.get((), 0)
    return "+".join(f"{c}*{'*'.join(p)}" for p, c in sorted(value.terms.items()) if p), number


__all__ = ["Facts", "Terms"]
