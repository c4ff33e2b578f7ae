"""Sizes at which everything known is true: what is negative there does not follow.

Most questions about sizes have the answer "that does not follow", and it takes a search to find that out. A
few assignments of numbers to the quantities, which satisfy each known inequality, answer most of them at
once. They are found by repair: a quantity of an inequality that does not hold is moved until it does. An
assignment only ever says what cannot be proved, so nothing rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from gslang.verify.prove.terms.sizes import Number, Size, names_in

_REPAIRS = 16  # steps from an assignment to one that satisfies all
_MOST = 5  # assignments that are kept
_LARGEST = 10**9

Definition = Callable[[str], tuple[str, tuple[Number, ...]]]
"""The way in which a quantity is made of others: ("floor", (a, b)), ("below", (size,)) for a position,
("", ()) for what is not made of others.
"""


class _Model:
    """An assignment. `holds`: texts of facts that are known to be true there."""

    __slots__ = ("holds", "values")

    def __init__(self, values: dict[str, int], holds: set[str]) -> None:
        self.values, self.holds = values, holds


class Models:
    """`found`: assignments that satisfy `facts`."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.random = Random(14)
        self.facts: dict[str, Size] = {}
        self.about: dict[str, list[Size]] = {}  # quantity → facts that mention it
        self.found: list[_Model] = []
        self.tried = False

    def changed(self) -> None:
        """The facts are others from now on; assignments that satisfy them, too, stay."""
        self.facts, self.about, self.tried = {}, {}, False

    def put_back(self) -> None:
        """The facts are those of an earlier moment: what was seen to hold since then may not be looked at
        again when an assignment is moved."""
        self.changed()
        self.found = [_Model(model.values, set()) for model in self.found]

    def know(self, facts: Sequence[Number]) -> None:
        """More facts."""
        new = [fact for fact in facts if isinstance(fact, Size) and fact.text not in self.facts]
        for fact in new:
            self.facts[fact.text] = fact
            for name in names_in(fact):
                self.about.setdefault(name, []).append(fact)
        self.found = [fixed for model in self.found if (fixed := self._repaired(model, new)) is not None]
        if not self.found and not self.tried:
            self.tried = True
            for _ in range(2):
                if (fixed := self._repaired(_Model({}, set()), self.facts.values())) is not None:
                    self.found.append(fixed)

    def refute(self, value: Size, assumed: Sequence[Number]) -> bool:
        """True if an assignment that satisfies what is known and assumed makes a value negative."""
        for model in self.found:
            if self.at(value, model.values) < 0 and all(self.at(fact, model.values) >= 0 for fact in assumed):
                return True
        return False

    def seek(self, value: Size, assumed: Sequence[Number]) -> None:
        """Look for an assignment that makes a value negative, for the next question of its kind."""
        wanted = [fact for fact in (-1 - value, *assumed) if isinstance(fact, Size)]
        for model in self.found[:2]:
            found = self._repaired(model, wanted)
            if found is not None:
                self.found = [found, *self.found[: _MOST - 1]]
                return

    # ── assignments ──

    def at(self, value: Number, values: dict[str, int]) -> int:
        """A polynomial at an assignment, which is completed where it says nothing of a quantity."""
        if not isinstance(value, Size):
            return value
        total = 0
        for names, c in value.terms.items():
            for name in names:
                known = values.get(name)
                c *= self.complete(name, values) if known is None else known
            total += c
        return total

    def complete(self, name: str, values: dict[str, int]) -> int:
        """A number for a quantity: what it is made of says which, or any."""
        kind, parts = self.definition(name)
        numbers = [self.at(part, values) for part in parts]
        if kind == "floor" and numbers[1] > 0:
            result = numbers[0] // numbers[1]
        elif kind == "within":
            result = max(0, min(numbers[0], numbers[1] - 1))
        elif kind == "join":
            result = max(numbers)
        elif kind == "below":
            result = self.random.randrange(max(numbers[0], 1))
        else:
            result = self.random.randint(1, 6)
        values[name] = result
        return result

    def _repaired(self, start: _Model, new: Iterable[Size]) -> _Model | None:
        """An assignment near another one that satisfies all facts, new ones too; None where none is found.
        """
        suspects = {fact.text: fact for fact in new}  # those that may not hold
        broken = self._broken(start, suspects)
        if broken is None:
            return start
        wanted = list(suspects.values())
        # of others it would not be noticed that they hold no more
        model = _Model(dict(start.values), start.holds & self.facts.keys())
        for _ in range(_REPAIRS):
            moved = self.move(broken, model.values)
            if moved is None:
                return None
            touched = [fact for name in moved for fact in self.about.get(name, ())]
            touched += [fact for fact in wanted if not names_in(fact).isdisjoint(moved)]
            suspects.update((fact.text, fact) for fact in touched)
            model.holds.difference_update([fact.text for fact in touched])
            broken = self._broken(model, suspects)
            if broken is None:
                return model
        return None

    def _broken(self, model: _Model, suspects: dict[str, Size]) -> Size | None:
        """The first of some facts that does not hold; those before it are noted."""
        for text, fact in suspects.items():
            if text in model.holds:
                continue
            if self.at(fact, model.values) < 0:
                return fact
            model.holds.add(text)
        return None

    def move(self, fact: Size, values: dict[str, int]) -> list[str] | None:
        """Move a quantity until a fact holds; which quantities are others now. None where none can be."""
        now = self.at(fact, values)
        ways = []
        for name in sorted(names_in(fact)):
            before = values[name]
            values[name] = before + 1
            slope = self.at(fact, values) - now
            values[name] = before
            if slope > 0:
                ways.append((name, before - now // slope))
            elif slope < 0:
                ways.append((name, before + now // -slope))
        if not ways:
            return None
        name, number = ways[self.random.randrange(len(ways))]
        if number > _LARGEST:
            return None
        values[name] = number
        made = [
            other for other in values  # only the names of these have parentheses
            if other[-1] == ")" and self.definition(other)[0] in ("floor", "within", "join")
        ]
        for other in made:
            del values[other]
        return [name, *made]
