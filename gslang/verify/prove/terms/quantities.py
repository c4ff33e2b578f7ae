"""Quantities of one case, and polynomials over them in a normal form.

Besides sizes and positions there are quotients rounded down, common sizes of broadcast dimensions (`join`)
and positions in dimensions that are broadcast (`within`): named by what they are made of, and simplified
where enough is known.

Positions that a sum runs over (`bound`) must not be distinguished by cases: `mentions_bound` tells, and
`terms` uses guards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gslang.verify.prove.terms.journal import change, question
from gslang.verify.prove.terms.paths import Choices, NotProved
from gslang.verify.prove.terms.quotients import Quotients
from gslang.verify.prove.terms.sizes import (
    Number,
    Size,
    made,
    multiply,
    names_in,
    terms_of,
    text_of,
    without,
)


class Quantities(Quotients):
    """`joins`, `withins`, `clips`: quantity → what it is made of."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.joins: dict[str, tuple[Number, ...]] = {}
        self.withins: dict[str, tuple[Number, Number]] = {}
        self.clips: dict[str, tuple[Number, Number, int]] = {}
        self.by_cases = True  # whether bounds of slices are settled by cases; else they may stay `clip`s
        self.fitting: list[tuple[Number, Number]] = []  # pairs of sizes: the first is 1 or the second
        self.bounds: set[str] = set()  # positions that sums run over
        self.count = 0
        self.inner_count = 0
        self.place_count = 0

    @change
    def size(self, name: str, least: int | None = 1) -> Number:
        """A new size of which only a lower bound is known, if any."""
        self.count += 1
        result = self._named(f"{name}.{self.count}")
        if least is not None:
            self.known.append(result - least)
        return result

    @change
    def number(self) -> int:
        """A number for a name that no other has."""
        self.count += 1
        return self.count

    @change
    def position(self, size: Number, bound: bool = False) -> Size:
        """A new position below `size`, of which it must be known that it is positive."""
        self.count += 1
        return self._position(size, f"@{self.count}", bound)

    @change
    def inner_position(self, size: Number) -> Size:
        """The same for a sum that the normal form makes: counted apart, so that what operators count does not
        depend on it.
        """
        self.inner_count += 1
        return self._position(size, f"@{self.inner_count}i", True)

    @change
    def place(self, size: Number) -> Size:
        """The same for a place that is looked up: counted apart, too."""
        self.place_count += 1
        return self._position(size, f"@{self.place_count}at", False)

    def _position(self, size: Number, name: str, bound: bool) -> Size:
        with self._bare():
            if not self.proves(self.normal(size) - 1):
                raise NotProved(f"a range may be empty: {text_of(size)}")
        result = self._named(name)
        if bound:
            self.bounds.add(name)
        self.known += [result, size - 1 - result]
        self.ranges[name] = size
        return result

    @question
    def within(self, position: Number, size: Number) -> Number:
        """The position in a dimension that is broadcast: `position`, but 0 where `size` is 1."""
        size, position = self.normal(size), self.normal(position)
        if type(size) is int and size == 1 or type(position) is int and position == 0:
            return 0
        if isinstance(position, Size) and len(position.terms) == 1:
            ((p, c),) = position.terms.items()
            if (
                c == 1 and len(p) == 1 and p[0] in self.ranges
                and text_of(self.normal(self.ranges[p[0]])) == text_of(size)
            ):
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
            if position.terms[inner] == 1 and text_of(
                self.normal(self.join(self.normal(wide), size))
            ) == text_of(self.normal(wide)):
                return self.within(below, size)
        name = f"within({text_of(position)}, {text_of(size)})"
        if name not in self.order:
            self.withins[name] = (position, size)
            result = self._named(name)
            self.known += [result, position - result, size - 1 - result]
        return self._named(name)

    @question
    def clip(self, value: Number, size: Number, low: int) -> Number:
        """A bound of a slice: counted from the end where it is negative, then moved between `low` (0, or -1
        for steps back) and `size + low`.
        """
        value, size = self.normal(value), self.normal(size)
        high = size + low
        if self.proves(value):
            if self.proves(high - value):
                return value
            if self.proves(value - high):
                return high
        elif self.proves(-1 - value):
            if self.proves(value + size - low):
                return value + size
            if self.proves(low - value - size):
                return low
        name = f"clip{low}({text_of(value)}, {text_of(size)})"
        if name not in self.order:
            self.clips[name] = (value, size, low)
            result = self._named(name)
            self.known += [result - low, high - result]
        return self._named(name)

    @question
    def join(self, a: Number, b: Number) -> Number:
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
        if self.fitting:
            for small, big in ((a, b), (b, a)):
                if self.fits(small, big):
                    return big
        parts: dict[str, Number] = {}
        for value in (a, b):
            names = terms_of(value)
            only = next(iter(names)) if len(names) == 1 else ()
            inside = self.joins.get(only[0]) if len(only) == 1 and names[only] == 1 else None
            parts.update({text_of(part): part for part in inside or (value,)})
        for key in sorted(parts) if self.fitting else ():  # what fits another part adds nothing
            others = [part for other, part in parts.items() if other != key]
            if others and any(self.fits(parts[key], part) for part in others):
                del parts[key]
        if len(parts) == 1:
            return next(iter(parts.values()))
        name = "join(" + ", ".join(sorted(parts)) + ")"
        self.joins[name] = tuple(parts[key] for key in sorted(parts))
        new = name not in self.order
        result = self._named(name)
        if new:
            self.known += [result - part for part in self.joins[name]]
        return result

    @question
    def fits(self, small: Number, big: Number, met: frozenset[str] = frozenset()) -> bool:
        """True if it was learnt that a size is 1 or that other one."""
        if text_of(small) == text_of(big) or type(small) is int and small == 1:
            return True
        for a, b in self.fitting:
            if text_of(self._known(a)) == text_of(small) and text_of(small) not in met:
                if self.fits(self._known(b), big, met | {text_of(small)}):
                    return True
        return False

    def _known(self, value: Number) -> Number:
        return self.replaced_equations(value)

    def definition(self, name: str) -> tuple[str, tuple[Number, ...]]:
        """The way in which a quantity is made of others (`models.Definition`)."""
        if name[-1] != ")":
            return ("below", (self.ranges[name],)) if name in self.ranges else ("", ())
        if name in self.floors:
            return "floor", self.floors[name]
        if name in self.withins:
            return "within", self.withins[name]
        return ("join", self.joins[name]) if name in self.joins else ("", ())

    @question
    def mentions_bound(self, value: Number) -> bool:
        """True if a position that a sum runs over occurs in it, also inside quotients."""
        return any(self._mentions(name) for name in names_in(value))

    def _mentions(self, name: str) -> bool:
        parts = self.parts_of(name)
        return name in self.bounds or any(self.mentions_bound(part) for part in parts)

    def parts_of(self, name: str) -> tuple[Number, ...]:
        if name[-1] != ")":  # others are called otherwise
            return ()
        return (  # the name says of which, whatever is known: no question of a journal
            self.floors.get(name) or self.withins.get(name) or self.joins.get(name)
            or self.clips.get(name, ())[:2]
        )

    # ── normal form ──

    def normal(self, value: Number) -> Number:
        """The value with everything that is known put in."""
        return self._normal_size(value) if isinstance(value, Size) else value

    def normals(self, values: Iterable[Number]) -> tuple[Number, ...]:
        """The values of a shape or an index with everything that is known put in: one question for all."""
        given = tuple(values)
        for value in given:
            if type(value) is not int:
                return self._normal_sizes(given)
        return given

    @question
    def _normal_sizes(self, values: tuple[Number, ...]) -> tuple[Number, ...]:
        return tuple([self._known_normal(v) if isinstance(v, Size) else v for v in values])

    @question
    def _normal_size(self, value: Size) -> Number:
        return self._known_normal(value)

    def _known_normal(self, value: Size) -> Number:
        found = self._found.normal
        known = found.get(value.text)
        if known is None:
            known = found[value.text] = self._normal(value)
        return known

    def _normal(self, value: Size) -> Number:
        if not self.products and _is_plain(value, self.equations):
            return value
        self.choices.spend()
        current: Number = value
        for _ in range(40):
            before = text_of(current)
            current = self.replaced(current, self.equations)
            if self.products and isinstance(current, Size):
                current = self._products_replaced(current)
            if text_of(current) == before:
                return current
        raise NotProved("the equations between sizes are circular")

    @question
    def replaced(self, value: Number, what: Mapping[str, Number]) -> Number:
        """The value with quantities replaced, also inside quotients and joins, which are simplified."""
        if not isinstance(value, Size) or _is_plain(value, what):
            return value
        again = self.normal if what is self.equations else lambda part: self.replaced(part, what)
        result: Number = 0
        for p, c in value.terms.items():
            factor: Number = c
            for name in p:
                if name in what:
                    factor = factor * what[name]
                elif name in self.floors:
                    a, b = self.floors[name]
                    factor = factor * self.floor(again(a), again(b))
                elif name in self.withins:
                    a, b = self.withins[name]
                    factor = factor * self.within(again(a), again(b))
                elif name in self.clips:
                    a, b, low = self.clips[name]
                    factor = factor * self.clip(again(a), again(b), low)
                elif name in self.joins:
                    joined: Number = 1
                    for part in self.joins[name]:
                        joined = self.join(joined, again(part))
                    factor = factor * joined
                else:
                    factor = factor * Size({(name,): 1}, self)
            result = result + factor
        return result

    def of_products(self) -> list[Number]:
        """The equations of products, as inequalities."""
        differences = [
            self.replaced_equations(made({names: 1}, self) - value) for names, value in self.products.items()
        ]
        return [side for difference in differences for side in (difference, -difference)]

    def without_products(self, value: Number) -> Number:
        return self._products_replaced(value) if self.products and isinstance(value, Size) else value

    def _products_replaced(self, value: Size) -> Number:
        result: Number = 0
        for p, c in value.terms.items():
            for product, new in self.products.items():
                rest = without(p, product)
                if rest is not None:
                    result = result + multiply(made({rest: c}, self), new, self)
                    break
            else:
                result = result + made({p: c}, self)
        return result


def _is_plain(value: Size, what: Mapping[str, object]) -> bool:
    """True if no quantity is replaced, or made of others: only the names of these have parentheses."""
    for names in value.terms:
        for name in names:
            if name in what or name[-1] == ")":
                return False
    return True
