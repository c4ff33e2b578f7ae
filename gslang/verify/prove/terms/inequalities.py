"""Inequalities that are known of sizes, and those that follow.

An inequality is a polynomial that is at least 0. `proves` subtracts multiples of known inequalities until
what is left has no quantity with a negative coefficient; it may fail to see what is true, never the other way
round.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from math import gcd

from gslang.verify.prove.terms.journal import Journaled, change, question
from gslang.verify.prove.terms.models import Models
from gslang.verify.prove.terms.paths import Choices
from gslang.verify.prove.terms.sizes import (
    Knowledge,
    Number,
    Size,
    add,
    linear,
    multiply,
    names_in,
    quotient,
    text_of,
)

_LONGEST = 5  # terms of an inequality that is tried
_SHORT = 3  # terms of what a long one may leave
_STEPS = 16  # of one attempt to prove an inequality
_DEPTH = 6


class _Found:
    """Conclusions from the known facts, valid until these change.

    A new quantity that is defined by others says nothing new about these: its facts are added to the index,
    and every conclusion stays. `indexed`: how many of the known facts are in the index.
    """

    __slots__ = ("about", "indexed", "least", "long", "nonnegative", "normal", "proved", "quotients", "seen")

    def __init__(self) -> None:
        self.indexed = 0
        self.seen: set[str] = set()
        self.normal: dict[str, Number] = {}
        self.quotients: dict[tuple[str, str], Number] = {}
        self.proved: dict[str, bool] = {}
        self.nonnegative: dict[str, bool] = {}
        # quantity → short inequalities that mention it once in a product, and its factor there
        self.about: dict[str, list[tuple[Size, Number]]] = {}
        self.long: list[Size] = []  # the other inequalities
        self.least: dict[str, int] = {}  # text without its number → how small it can be

    def copy(self) -> _Found:
        """The same, to which more may be added."""
        other = _Found()
        other.indexed, other.seen, other.long = self.indexed, set(self.seen), list(self.long)
        other.normal, other.proved = dict(self.normal), dict(self.proved)
        other.quotients = dict(self.quotients)
        other.nonnegative, other.least = dict(self.nonnegative), dict(self.least)
        other.about = {name: list(facts) for name, facts in self.about.items()}
        return other


class Inequalities(Knowledge, Journaled):
    """`known`: polynomials that are at least 0; `equations`: quantity → what it equals.

    `order`: quantity → when it was made.
    """

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.equations: dict[str, Number] = {}
        self.known: list[Number] = []
        self.assumed: list[list[Size]] = []  # the same, while `assuming`
        self.order: dict[str, int] = {}
        # (assumed, at least 0), written down where a certificate asks for it
        self.proved: list[tuple[tuple[Size, ...], Size]] | None = None
        self._found = _Found()
        # what is assumed → conclusions, and what was proved once: more knowledge does not make that untrue
        self._under: dict[tuple[str, ...], _Found] = {(): self._found}
        self._true: dict[tuple[str, ...], set[str]] = {}
        # all that an answer rests on → the answer, for cases that come to know the same
        self._followed: dict[tuple[tuple[str, ...], str], bool] = {}
        self._state: tuple[_Found, int, tuple[str, ...]] = self._found, -1, ()
        self._models = Models(self.definition)
        self._checked = 0  # how many of the known facts the models satisfy
        self._replaced: list[Number] = []  # the known facts, as many as were asked for, without equations
        self._left = 0
        # inequality → its text without the number, the number, and its factors
        self._parts: dict[str, tuple[str, int, list[tuple[str, Number]]]] = {}

    def _named(self, name: str) -> Size:
        self.order.setdefault(name, len(self.order))
        return Size({(name,): 1}, self)

    def _changed(self) -> None:
        """Something is known that was not: what was found before may be found to be more now."""
        self._under = {}
        self._found = self._conclusions()
        self._models.changed()
        self._checked, self._replaced = 0, []

    def _conclusions(self) -> _Found:
        """The conclusions under what is assumed now."""
        return self._under.setdefault(self._assumptions(), _Found())

    def _assumptions(self) -> tuple[str, ...]:
        return tuple([value.text for values in self.assumed for value in values]) if self.assumed else ()

    # ── what is known ──

    @contextmanager
    def _bare(self) -> Iterator[None]:
        """Without what is only assumed for the moment: what is learned holds beyond it."""
        before = self.assumed
        if not before:
            yield
            return
        self.assumed = []
        self._found = self._conclusions()
        try:
            yield
        finally:
            self.assumed = before
            self._found = self._conclusions()

    @contextmanager
    def assuming(self, *values: Number) -> Iterator[None]:
        """Inside, each value is at least 0, too."""
        sizes = [value for value in values if isinstance(value, Size)]
        if not sizes:
            yield
            return
        self._assume(*sizes)
        try:
            yield
        finally:
            self._assume_no_more()

    @change
    def _assume(self, *values: Size) -> None:
        self.assumed.append([self._primitive(value) for value in values])
        self._found = self._conclusions()

    @change
    def _assume_no_more(self) -> None:
        self.assumed.pop()
        self._found = self._conclusions()

    def _primitive(self, value: Size) -> Size:
        """The same inequality without a common factor: 2x + 1 ≥ 0 is x ≥ 0."""
        common = 0
        for p, c in value.terms.items():
            if p:
                common = gcd(common, c)
                if common == 1:
                    return value
        return Size({p: c // common for p, c in value.terms.items()}, self)

    # ── what follows ──

    @question
    def proves(self, value: Number) -> bool:
        """True if value ≥ 0 follows from what is known. False: not found."""
        value = self.without_products(self.replaced_equations(value))
        value = self._primitive(value) if isinstance(value, Size) else value
        if not isinstance(value, Size):
            return value >= 0
        proved = self._found.proved
        if value.text not in proved:
            here = self._assumptions()
            if value.text in self._true.get((), ()) or value.text in self._true.get(here, ()):
                proved[value.text] = True
                return True
            key = self._knowledge(), value.text
            if key not in self._followed:
                self._followed[key] = self._follows(value)
            proved[value.text] = self._followed[key]
            if proved[value.text]:
                self._true.setdefault(here, set()).add(value.text)
                if self.proved is not None:
                    self.proved.append((tuple(fact for facts in self.assumed for fact in facts), value))
        return proved[value.text]

    def _knowledge(self) -> tuple[str, ...]:
        """The texts of all that is known, assumed or replaced."""
        found, count, texts = self._state
        if found is not self._found or count != len(self.known):
            known = [text_of(fact) for fact in self.known]
            equal = [f"{name} {text_of(value)}" for name, value in self.equations.items()]
            texts = (*known, "", *equal, "", *map(text_of, self.of_products()), "", *self._assumptions())
            self._state = self._found, len(self.known), texts
        return texts

    def _follows(self, value: Size) -> bool:
        if all(c >= 0 for c in value.terms.values()) and all(self._at_least_0(n) for n in names_in(value)):
            return True
        models = self._models
        if self._checked < len(self.known):
            new = [self.replaced_equations(fact) for fact in self.known[self._checked :]]
            self._checked = len(self.known)
            models.know([*new, *self.of_products()])
        assumed = [self.replaced_equations(fact) for facts in self.assumed for fact in facts]
        if models.refute(value, assumed):
            return False
        self._left = _STEPS
        if self._proves(value, _DEPTH, set()):
            return True
        models.seek(value, assumed)
        return False

    def definition(self, name: str) -> tuple[str, tuple[Number, ...]]:
        """The way in which a quantity is made of others (`models.Definition`)."""
        return "", ()

    def replaced_equations(self, value: Number) -> Number:
        """`normal` without simplifying quotients (which asks `proves` in turn)."""
        equations = self.equations
        if not isinstance(value, Size) or equations.keys().isdisjoint(chain.from_iterable(value.terms)):
            return value
        result: Number = 0
        for p, c in value.terms.items():
            factor: Number = c
            for name in p:
                factor = factor * (
                    self.equations[name] if name in self.equations else Size({(name,): 1}, self)
                )
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
        self.choices.spend()
        if len(value.terms) >= _LONGEST:
            for fact in self._found.long:
                rest = value - fact
                if isinstance(rest, int) or len(rest.terms) <= _SHORT:
                    if self._proves(rest, 1, seen):
                        return True
        self._left -= 1
        seen.add(value.text)
        negative = min((p for p, c in value.terms.items() if c < 0), key=lambda p: (-len(p), p), default=())
        for name in sorted(negative or names_in(value), key=lambda n: -self.order.get(n, 0)):
            parts = linear(value, name, self)
            if parts is None:
                continue
            # in x·y − y with y known to be small the last summand goes away alone
            alone = value.terms.get((name,), 0) if negative == (name,) and type(parts[0]) is not int else 0
            for fact, own in self._about(name):
                if alone and type(own) is int and own < 0 and alone % own == 0:
                    k: Number | None = alone // own
                else:
                    k = self._multiple(parts[0], own, depth)
                if k is None:
                    continue
                rest = self.without_products(add(value, multiply(k, -fact, self), self))
                if self._proves(rest, depth - 1, seen):
                    return True
        return False

    def of_products(self) -> list[Number]:
        """The equations of products, as inequalities."""
        return []

    def without_products(self, value: Number) -> Number:
        """The value with products replaced by what they are known to equal."""
        return value

    def _multiple(self, coefficient: Number, own: Number, depth: int) -> Number | None:
        """A k that is at least 0 with k · own = coefficient: a quantity goes away if a fact in which it has
        the factor `own` is subtracted k times. None where there is none.
        """
        if type(own) is int:
            if type(coefficient) is int:
                return None if coefficient % own or coefficient // own <= 0 else coefficient // own
            if abs(own) != 1:
                return None
            k = coefficient * own
        elif type(coefficient) is int:
            return None
        else:
            exact = quotient(coefficient, own, self)
            if exact is None:
                return None
            k = exact
        if type(k) is int:
            return k if k > 0 else None
        assert isinstance(k, Size)
        if all(c < 0 for c in k.terms.values()) or not self._proves(k, min(depth - 1, 3), set()):
            return None
        return k

    def _about(self, name: str) -> list[tuple[Size, Number]]:
        """Known inequalities in which a quantity has no power, and its factor there, the shortest first."""
        found = self._found
        if not found.indexed:
            assumed = map(self._without_equations, chain.from_iterable(reversed(self.assumed)))
            self._index(found, [*assumed, *self._known_from(0)])
        elif found.indexed <= len(self.known):
            self._index(found, self._known_from(found.indexed - 1))
        found.indexed = len(self.known) + 1
        return found.about.get(name, [])

    def _index(self, found: _Found, facts: Sequence[Number]) -> None:
        self.choices.budget.put_in_order(len(facts))
        unseen = [fact for fact in facts if isinstance(fact, Size) and fact.text not in found.seen]
        if len(unseen) > 1:
            unseen = list({fact.text: fact for fact in unseen}.values())
        found.seen.update([fact.text for fact in unseen])
        found.long += [fact for fact in unseen if len(fact.terms) > _LONGEST]
        for fact in sorted(unseen, key=_terms):
            if fact.text not in self._parts:
                self._parts[fact.text] = *_apart(fact), self._factors(fact)
            rest, number, factors = self._parts[fact.text]
            found.least[rest] = max(found.least.get(rest, -number), -number)
            for name, factor in factors:
                others = found.about.setdefault(name, [])
                if not others or len(others[-1][0].terms) <= len(fact.terms):
                    others.append((fact, factor))
                else:
                    insort(others, (fact, factor), key=_length)

    def _known_from(self, first: int) -> list[Number]:
        """The known facts from one on, as they are now."""
        self._replaced += map(self._without_equations, self.known[len(self._replaced) :])
        return self._replaced[first:]

    def _without_equations(self, fact: Number) -> Number:
        fact = self.replaced_equations(fact)
        return self._primitive(fact) if isinstance(fact, Size) else fact

    def _factors(self, fact: Size) -> list[tuple[str, Number]]:
        """The quantities of a short inequality that have no power, and the factor of each."""
        if len(fact.terms) > _LONGEST:
            return []
        found = [(name, linear(fact, name, self)) for name in names_in(fact)]
        return [(name, parts[0]) for name, parts in found if parts is not None]

    def _at_least_0(self, name: str) -> bool:
        """True if a quantity is at least 0 by a fact of its own."""
        if name not in self._found.nonnegative:
            self._found.nonnegative[name] = any(
                fact.terms.get((name,)) == 1 and len(fact.terms) - (() in fact.terms) == 1
                and fact.terms.get((), 0) <= 0
                for fact, _ in self._about(name)
            )
        return self._found.nonnegative[name]


def _terms(fact: Size) -> int:
    return len(fact.terms)


def _length(item: tuple[Size, Number]) -> int:
    return len(item[0].terms)


def _apart(value: Size) -> tuple[str, int]:
    """The text without the number, and the number."""
    number = value.terms.get((), 0)
    return "+".join(f"{c}*{'*'.join(p)}" for p, c in sorted(value.terms.items()) if p), number
