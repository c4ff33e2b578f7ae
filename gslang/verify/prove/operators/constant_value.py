"""The value of a constant of the source, as conditions and targets read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.operators.tensors import Tensor
from gslang.verify.prove.terms.axioms import apply
from gslang.verify.prove.terms.opaque import Opaque, unanswered
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import Near, Real
from gslang.verify.prove.terms.sizes import Number
from gslang.verify.prove.terms.terms import Term, is_infinite


class ConstantValue(Opaque):
    """`v.value` of a constant of which nothing is known, or its part at position 0 of the first `taken` axes.

    One number can be compared and computed with, like any `Real`; a place that a call chose for this case is
    that number.
    """

    def __init__(self, leaf: Leaf, taken: int = 0) -> None:
        self.leaf, self.taken = leaf, taken

    def __repr__(self) -> str:
        return f"{self.leaf.name}.value"

    @property
    def term(self) -> Term:
        """The number. Raises `NotProved` where there may be several."""
        tensor = self.leaf.resolved()
        if self.taken != len(tensor.shape):
            raise NotProved("reading the value of a constant is not supported here")
        return tensor.at((0,) * self.taken)

    def tensor(self) -> Tensor:
        """The constant, or its part, as a tensor."""
        whole, first = self.leaf.resolved(), (0,) * self.taken
        if not first:
            return whole
        return Tensor(whole.shape[self.taken :], whole.dtype, lambda index: whole.at((*first, *index)))

    def place(self) -> int | None:
        """The number, where a call chose a place in a vector for this case."""
        if len(self.leaf.chosen) == 1 and not self.leaf.resolved().shape:
            ((key, numbers),) = self.leaf.chosen.items()
            if key.startswith("places in "):
                return int(numbers[0])
        return None

    def real(self) -> Any:
        """The number, to compute with."""
        if (place := self.place()) is not None:
            return place
        if self.leaf.number is not None:
            return self.leaf.world.facts.normal(self.leaf.number)
        exact = self.term if self.leaf.world.is_real(self.leaf.dtype) else apply("order", [self.term])
        return Real(self.term, self.leaf.world.facts.choices, exact)

    def _is_like(self, other: ConstantValue) -> bool:
        """True if two constants hold the same numbers: a case; then one stands for the other."""
        if self.leaf is other.leaf and self.taken == other.taken:
            return True
        shapes = [value.leaf.resolved().shape[value.taken :] for value in (self, other)]
        if any(shapes) and (self.taken or other.taken):
            raise NotProved("comparing parts of constants is not supported")
        if not any(shapes):
            return bool(self.real() == other.real())
        if len(shapes[0]) != len(shapes[1]) or not all(map(self.leaf.world.facts.equal, *shapes)):
            raise NotProved("comparing constants of different shapes is not supported")
        if self.leaf.world.facts.choices.choose(2):
            return False
        other.leaf.like = self.leaf
        return True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ConstantValue):
            return self._is_like(other)
        if isinstance(other, (tuple, list)) and (found := self.vector()) is not None:
            return len(found) == len(other) and all(map(self.leaf.world.facts.equal, found, other))
        if isinstance(other, Real) and self.taken == len(self.leaf.resolved().shape):
            return bool(self.real() == other)
        if not isinstance(other, (int, float, Near)) or isinstance(other, bool):
            raise NotProved("a constant is compared with a non-number")
        if self.place() is not None or self.leaf.number is not None:
            return bool(self.real() == other)
        if self.taken < len(self.leaf.resolved().shape):
            return False  # an array
        known = self.leaf.value
        if known is not None and self.leaf.world.has_infinities and not isinstance(other, Near):
            wanted = self.leaf.world.element_of(other)
            if is_infinite(known) or is_infinite(wanted):
                return known.key == wanted.key
        if self.taken or known is not None:
            return bool(self.real() == other)
        if not self.leaf.world.facts.choices.decide():
            return False
        value = self.leaf.value = self.leaf.world.element_of(other)
        self.leaf.tensor = Tensor((), self.leaf.dtype, lambda index: value, None, value)
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __index__(self) -> int:
        if self.leaf.resolved().shape or len(self.leaf.chosen) != 1:
            raise NotProved("reading the value of a constant is not supported here")
        ((place,),) = self.leaf.chosen.values()
        return int(place)

    def vector(self) -> tuple[Number, ...] | None:
        """The numbers of a vector of whole numbers; None where they are not known one by one."""
        leaf = self.leaf if self.leaf.like is None else self.leaf.like
        if leaf.numbers is None and leaf.spelled is not None and not self.taken:
            leaf.numbers = leaf.spelled()
        found = leaf.items if leaf.items is not None else leaf.numbers
        if found is None and len(leaf.chosen) == 1 and not self.taken:
            ((key, numbers),) = leaf.chosen.items()
            if key.startswith("axes of "):
                return tuple(self.chosen(k) for k in range(len(numbers)))
            if not key.startswith("shape for ") and len(leaf.resolved().shape) == 1:
                found = numbers
        return None if found is None or self.taken else tuple(map(leaf.world.facts.normal, found))

    def __getitem__(self, place: Any) -> Any:
        if (found := self.vector()) is not None:
            return found[place]
        shape = self.leaf.resolved().shape
        if self.leaf.chosen and len(shape) == 1 and type(place) is int:
            return self.chosen(place)
        if type(place) is not int or place != 0 or self.taken >= len(self.leaf.resolved().shape):
            raise NotProved("reading the value of a constant is not supported here")
        return ConstantValue(self.leaf, self.taken + 1)

    def chosen(self, place: int) -> int:
        """An axis that a call chose for this case, written from the front or from the end."""
        if len(self.leaf.chosen) != 1:
            raise NotProved("reading axes used for tensors of several ranks is not supported")
        ((key, axes),) = self.leaf.chosen.items()
        rank = int(key.removeprefix("axes of ")) if key.startswith("axes of ") else None
        if (
            rank is None or not 0 <= place < len(axes)
            or not self.leaf.world.facts.equal(self.leaf.resolved().shape[0], len(axes))
        ):
            raise NotProved("reading the value of a constant is not supported here")
        if place not in self.leaf.written:
            self.leaf.written[place] = axes[place] - rank * self.leaf.world.facts.choices.choose(2)
        return int(self.leaf.written[place])

    def __len__(self) -> int:
        found = self.vector()
        if found is not None:
            return len(found)
        shape, facts = self.leaf.resolved().shape, self.leaf.world.facts
        if self.taken >= len(shape):
            raise NotProved("the length of a scalar is read")
        size = facts.normal(shape[self.taken])
        if type(size) is not int and not facts.equal(size, 1):
            raise NotProved("reading the length of a constant is not supported here")
        return size if type(size) is int else 1

    def __iter__(self) -> Iterator[Any]:
        if (found := self.vector()) is not None:
            return iter(found)
        shape = self.leaf.resolved().shape
        if self.taken >= len(shape) or not self.leaf.world.facts.equal(shape[self.taken], 1):
            raise NotProved("reading the value of a constant is not supported here")
        return iter((self[0],))

    def reshape(self, _: int) -> Any:
        """The elements in a row, as those of an array."""
        shape, facts = self.leaf.resolved().shape, self.leaf.world.facts
        if self.taken + 1 >= len(shape):
            return self
        if not all(facts.equal(size, 1) for size in shape[self.taken :]):
            raise NotProved("reading the value of a constant is not supported here")
        return (ConstantValue(self.leaf, len(shape)),)

    def __add__(self, other: object) -> Any:
        if type(other) is int and other == 0 and self.taken < len(self.leaf.resolved().shape):
            return self  # an array
        return self.real() + other

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return self.real() - other

    def __rsub__(self, other: object) -> Any:
        return other - self.real()

    def __mul__(self, other: object) -> Any:
        return self.real() * other

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return self.real() / other

    def __rtruediv__(self, other: object) -> Any:
        return other / self.real()

    def __neg__(self) -> Any:
        return -self.real()

    def __lt__(self, other: Any) -> bool:
        return bool(self.real() < other)

    def __le__(self, other: Any) -> bool:
        return bool(self.real() <= other)

    def __gt__(self, other: Any) -> bool:
        return bool(self.real() > other)

    def __ge__(self, other: Any) -> bool:
        return bool(self.real() >= other)

    __hash__ = unanswered  # type: ignore[assignment]
