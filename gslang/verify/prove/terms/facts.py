"""Known facts about sizes in one case: equations, inequalities, and the decisions that follow from them.

A question that stays open becomes a case distinction (`at_least`, `equal`) and is known from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import gcd
from typing import Any

from gslang.verify.prove.terms.journal import change, question
from gslang.verify.prove.terms.paths import SIZES, Choices, Impossible, NotProved
from gslang.verify.prove.terms.quantities import Quantities
from gslang.verify.prove.terms.sizes import Number, Size, is_number, linear, made, names_in, text_of, without

_LEARNT = (
    "assumed", "bounds", "clips", "count", "different", "equations", "fitting", "fitting_sizes", "floors",
    "inner_count", "joins", "known", "order", "products", "place_count", "proved", "ranges",
    "withins",
)


class Facts(Quantities):
    """The knowledge of one case. Learning what contradicts it raises `Impossible`."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.different: list[Number] = []  # each other than 0
        self.fitting_sizes: list[tuple[Number, Number]] = []  # pairs of sizes that broadcast

    # ── earlier states ──

    def saved(self) -> object:
        """All that was learnt, as a copy."""
        state = {name: copy(getattr(self, name)) for name in _LEARNT}
        state["assumed"] = [list(facts) for facts in self.assumed]
        true = {assumed: set(found) for assumed, found in self._true.items()}
        return state, true, self._found.copy()

    def put_back(self, state: Any) -> None:
        """Know what was known then, and nothing else."""
        learnt, true, found = state
        for name in _LEARNT:
            setattr(self, name, copy(learnt[name]))
        self.assumed = [list(facts) for facts in learnt["assumed"]]
        self._changed()
        self._models.put_back()
        self._true = {assumed: set(texts) for assumed, texts in true.items()}
        self._found = self._under[self._assumptions()] = found.copy()

    # ── knowledge ──

    @change
    def learn(self, value: Number) -> None:
        """`value` is at least 0 in this case. Raises `Impossible` where that contradicts what is known."""
        with self._bare():
            value = self.normal(value)
            if self.proves(-1 - value):
                raise Impossible(SIZES, value)
            if isinstance(value, Size) and self.proves(-value):
                self._learn_equal(value, 0)
            elif isinstance(value, Size):
                self.known.append(self._primitive(value))
                self._changed()
                self._settle_fitting()
        self._changed()

    @change
    def learn_equal(self, a: Number, b: Number) -> None:
        """Both are the same in this case."""
        with self._bare():
            self._learn_equal(a, b)

    def _learn_equal(self, a: Number, b: Number) -> None:
        difference = self.normal(a - b)
        if type(difference) is int:
            if difference:
                raise Impossible(SIZES, -1)
            return
        if self.proves(difference - 1) or self.proves(-1 - difference):
            raise Impossible(SIZES, difference, -difference)
        for name in sorted(names_in(difference)):  # x·y = x·z is y = z where x is positive
            while (
                isinstance(difference, Size) and all(name in p for p in difference.terms)
                and self.proves(Size({(name,): 1}, self) - 1)
            ):
                difference = made({without(p, (name,)) or (): c for p, c in difference.terms.items()}, self)
        if not isinstance(difference, Size):
            raise Impossible(SIZES, difference, -difference)
        difference = self._without_factor(difference)
        if not self._all_ones(difference):
            self._solve(difference)
        self._changed()
        for other in self.different:
            if type(self.normal(other)) is int and self.normal(other) == 0:
                raise Impossible(SIZES)
        self._join_again()
        self._multiply_again()
        before = {text_of(f) for f in self.known}
        self.known = [fact for fact in self.normals(self.known) if isinstance(fact, Size) or fact < 0]
        self._changed()
        if any(
            isinstance(fact, int) or fact.text not in before and self.proves(-1 - fact) for fact in self.known
        ):
            raise Impossible(SIZES)
        for fact in self.known:
            if text_of(fact) not in before and self.proves(-fact):  # between 0 and 0
                self._learn_equal(fact, 0)
                return

    def _without_factor(self, difference: Size) -> Size:
        """2x = 2y is x = y. Raises `Impossible` for 2x = 2y + 1."""
        common = gcd(*(c for p, c in difference.terms.items() if p))
        if difference.terms.get((), 0) % common:
            raise Impossible(SIZES, difference, -difference)
        return Size({p: c // common for p, c in difference.terms.items()}, self)

    def _join_again(self) -> None:
        """Apply each fact about a common size to the names that its parts have now."""
        for name, value in list(self.equations.items()):
            if name in self.joins:
                joined: Number = 1
                for part in self.joins[name]:
                    joined = self.join(joined, self.normal(part))
                joined = self.normal(joined)
                if text_of(joined) != text_of(self.normal(value)):
                    self._learn_equal(joined, value)
                    return
                self._fit_into_one(self.normals(self.joins[name]), joined)

    def _fit_into_one(self, parts: Sequence[Number], common: Number) -> None:
        """Sizes whose common size is one of them are 1 or that one."""
        if any(text_of(part) == text_of(common) for part in parts):
            self.fitting += [(part, common) for part in parts if not self.fits(part, common)]

    def _multiply_again(self) -> None:
        """Apply each fact about a product to the names that quantities have now."""
        for names, value in list(self.products.items()):
            before = made({names: 1}, self), value
            after = tuple(self.replaced(part, self.equations) for part in before)
            if list(map(text_of, after)) != list(map(text_of, before)):
                del self.products[names]
                self._changed()
                self._learn_equal(*after)
                return

    def _all_ones(self, difference: Size) -> bool:
        """Where a product of sizes is 1, all of them are."""
        terms = dict(difference.terms)
        number = terms.pop((), 0)
        if len(terms) != 1 or number != -next(iter(terms.values())):
            return False
        names = next(iter(terms))
        if len(names) < 2 or any(
            self.parts_of(name) or not self.proves(Size({(name,): 1}, self) - 1) for name in names
        ):
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
                if (
                    name not in names_in(rest) and not self._inside(name, rest)
                    and name in names_in(difference)
                ):
                    if type(rest) is int or self.proves(rest) and self.proves(b - 1 - rest):
                        quotient = self.size("q", 1 if self.proves(a - rest - 1) else 0)
                        self.floors.pop(name)
                        self.equations[name] = quotient
                        self._changed()
                        self._learn_equal(a, b * quotient + rest)
                        return
        for name in sorted(names_in(difference), key=lambda n: -self.order[n]):
            parts = linear(difference, name, self)
            if (
                parts is not None and type(parts[0]) is int and abs(parts[0]) == 1
                and not self._inside(name, parts[1])
            ):
                self.equations[name] = -parts[0] * parts[1]
                return
        for p, c in sorted(
            difference.terms.items(),
            key=lambda item: [-self.order[n] for n in sorted(item[0], key=lambda n: -self.order[n])],
        ):
            if p and abs(c) == 1 and not any(without(q, p) is not None for q in difference.terms if q != p):
                self.products[p] = -c * (difference - made({p: c}, self))
                return
        self.known += [difference, -difference]

    def _inside(self, name: str, value: Number) -> bool:
        """True if `name` occurs inside a quotient or join of `value`."""
        for other in names_in(value):
            parts = self.parts_of(other)
            if other == name or any(self._inside(name, part) for part in parts):
                return True
        return False

    @change
    def learn_fit(self, small: Number, big: Number) -> None:
        """A dimension of size `small` is broadcast to `big`: it is 1, or the same."""
        small, big = self.normal(small), self.normal(big)
        if self.fits(small, big):
            return
        self.fitting.append((small, big))
        self._changed()
        self._settle_fitting()

    def _settle_fitting(self) -> None:
        """Sizes that are broadcast and not 1 stay as they are."""
        for small, big in list(self.fitting):
            if isinstance(self.normal(small - big), Size) and self.proves(self.normal(small - 2)):
                self._learn_equal(small, big)

    @question
    def broadcast_elsewhere(self, a: Number, b: Number) -> bool:
        """True if two sizes are known to broadcast, since the source broadcasts them, or sizes that they fit:
        one that is 1 or another size broadcasts with whatever that one does.
        """
        pairs = [(self.normal(x), self.normal(y)) for x, y in self.fitting_sizes]
        either = [*pairs, *((y, x) for x, y in pairs)]
        texts = text_of(a), text_of(b)
        return any(
            texts[0] == text_of(x) and texts[1] == text_of(y)
            or texts[1] == text_of(y) and self.fits(a, x) or texts[0] == text_of(x) and self.fits(b, y)
            for x, y in either
        )

    @change
    def learn_broadcast(self, *pairs: tuple[Number, Number]) -> None:
        """Sizes that the source broadcasts."""
        self.fitting_sizes += pairs

    # ── questions ──

    @question
    def at_least(self, a: Number, b: Number) -> bool:
        """a ≥ b: known, or decided for this case."""
        difference = self.normal(a - b)
        known = self.decided(difference)
        if known is not None:
            return known
        if self.mentions_bound(difference):
            raise NotProved("case distinctions inside sums are not supported")
        if self.choices.choose(2) == 0:
            self.learn(difference)
            return True
        self.learn(-1 - difference)
        return False

    @question
    def decided(self, value: Number) -> bool | None:
        """True if value ≥ 0; None if unknown."""
        value = self.normal(value)
        if type(value) is int:
            return value >= 0
        if self.proves(value):
            return True
        return False if self.proves(-1 - value) else None

    def is_not_negative(self, value: Number) -> bool | None:
        """True if value ≥ 0: known, or decided for this case. None if unknown where a sum runs over it."""
        known = self.decided(value)
        if known is None and not self.mentions_bound(self.normal(value)):
            known = self.at_least(value, 0)
        return known

    @question
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
            raise NotProved("case distinctions inside sums are not supported")
        if self.choices.choose(2) == 0:
            self.learn_equal(a, b)
            return True
        self.different.append(difference)
        for sign in (1, -1):
            if self.proves(sign * difference):
                self.learn(sign * difference - 1)
                break
        return False

    @question
    def surely_differ(self, difference: Number) -> bool:
        """True if a difference is known not to be 0."""
        difference = self.normal(difference)
        if type(difference) is int:
            return difference != 0
        texts = {text_of(difference), text_of(-difference)}
        if any(text_of(self.normal(other)) in texts for other in self.different):
            return True
        return self.proves(difference - 1) or self.proves(-1 - difference)
