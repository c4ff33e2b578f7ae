"""Values of which the prover knows too little to answer every question that a rule may ask.

A question without an answer raises `NotProved`: the error that Python would raise would look like one that
the engine meets too, by which a condition does not hold, and the case would be lost.
"""

from __future__ import annotations

from gslang.verify.prove.terms.paths import Choices, NotProved


class Opaque:
    """A value that answers no question; subclasses answer some."""

    __slots__ = ()

    def __repr__(self) -> str:
        return type(self).__name__.lower()  # the same in each run

    def __eq__(self, other: object) -> bool:
        return self is other or bool(unanswered(self))

    def __ne__(self, other: object) -> bool:
        return not self == other


def unanswered(self: object, *_: object) -> object:
    """No answer."""
    raise NotProved(f"an unknown property of a value ({type(self).__name__.lower()}) is read")


_QUESTIONS = "hash bool len iter getitem contains index int float abs neg lt le gt ge".split()
_ARITHMETIC = "add sub mul truediv floordiv mod pow".split()
for _name in (*_QUESTIONS, *_ARITHMETIC, *(f"r{operation}" for operation in _ARITHMETIC)):
    setattr(Opaque, f"__{_name}__", unanswered)


class AnyCount(Opaque):
    """A number, or a truth value, of which every comparison may come out either way: a case for each, of
    which nothing is remembered.
    """

    __slots__ = ("choices",)

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def _either(self, *_: object) -> bool:
        return bool(self.choices.choose(2))

    def _some_number(self, *_: object) -> AnyCount:
        return self

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _either  # type: ignore[assignment]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __floordiv__ = _some_number
    __hash__ = unanswered  # type: ignore[assignment]


class NotGrown(Opaque):
    """The instances of a block before these are made: how many there are must not be read."""

    __slots__ = ()
