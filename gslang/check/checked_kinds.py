"""The instance that a reference means, and what values of checked rules, tests and targets have in common.

Part of `checked`, through which the other stages see them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Union

from gslang.base.quick_dataclass import dataclass

if TYPE_CHECKING:
    from gslang.check.checked_values import Comprehension, Value

# ── which instance a reference means ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Own:
    """The node itself; inside a template, that of the instance being matched or tested."""


class AnotherInstance:
    """Inside a template: of another instance than the one being matched or tested."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class First(AnotherInstance):
    """Inside a template: the first instance's (`first.NAME`; on the first instance, that instance itself)."""

    block: int


@dataclass(frozen=True, slots=True)
class At:
    """Outside a template: that of instance `index` (negative counts from the end)."""

    block: int
    index: Value


@dataclass(frozen=True, slots=True)
class Prev(AnotherInstance):
    """Inside a chain: that of the instance before. What reads it is not asked of the first instance."""

    block: int


Place = Union[Own, First, At, Prev]
OWN = Own()
Source = tuple[str, Place, int]
"""A shared object that decides a value: the type, the attributes or the operator of what a pattern node
matched, a capture, the instances of a block, the graph's operator set."""


class NodeReference:
    """Reads one matched node: pattern node `node`, in the instance that `place` means."""

    __slots__ = ()
    place: Place
    node: int


class Partly:
    """Something of which only `surely` is evaluated whatever the match is."""

    __slots__ = ()

    @property
    def surely(self) -> tuple[object, ...]:
        """The parts that are evaluated whenever it is."""
        return ()


class Selection(NodeReference, Partly):
    """One of `arms`, by the branch of alternation `node` that matched."""

    __slots__ = ()
    arms: tuple[object, ...]


class Conditioned(Partly):
    """Stands under `condition`; None: under none."""

    __slots__ = ()
    condition: Value | None


class Branching(Conditioned):
    """One of two, by `condition`: values, tests, or numbers of targets."""

    __slots__ = ()
    condition: Value
    then: Any
    otherwise: object

    @property
    def surely(self) -> tuple[object, ...]:
        return (self.condition,)


class Loop(Conditioned):
    """One `element` (a value, or the number of a target) for each item of `source` (bound to `locals`,
    unpacked if several) for which `condition` holds.
    """

    __slots__ = ()
    element: Any
    locals: tuple[int, ...]
    source: Value
    condition: Value | None

    @property
    def surely(self) -> tuple[object, ...]:
        return (self.source,)

    @property
    def over(self) -> int | None:
        """The template over all of whose instances it runs."""
        return self.source.all_of if len(self.locals) == 1 else None

    @property
    def rounds(self) -> Value | None:
        """The `n` of a loop over `range(n)`."""
        return self.source.counted_to if len(self.locals) == 1 else None


# ── kinds of values ─────────────────────────────────────────────────────────────────────────────────────────


class Expression:
    """An attribute expression. `needs_name`: a named value of this form is kept; others are as short as a
    name for them.
    """

    __slots__ = ()
    needs_name: ClassVar[bool] = True

    @property
    def is_single(self) -> bool:
        """True if it is surely no sequence, or one that is there already."""
        return False

    def meant(self, lets: Sequence[Value]) -> Value:
        """The value that it is a name for, one of `lets` of the rule; itself where it is no name."""
        return self  # type: ignore[return-value]

    def decided_by(self, wanted: bool, lets: Sequence[Value]) -> Decision | None:
        """The conditions that settle if it comes out as `wanted`; None where it is not made of conditions.
        `lets`: of the rule; without them a let is not made of any."""
        return None

    @property
    def applied(self) -> tuple[Callable[..., object], tuple[Value, ...]] | None:
        """The function that it is the result of, and the values that this gets, if these alone decide it."""
        return None

    @property
    def compares(self) -> tuple[str, Value, Value] | None:
        """The sign between the two values that it compares, and these; `close` is the sign of those that are
        to be nearly equal.
        """
        return None

    @property
    def limits(self) -> tuple[tuple[str, Value, Value], ...]:
        """Comparisons of which each holds somewhere if it is ever another value beyond a limit: one number of
        two is the smaller one, a remainder is another number, a tuple has more items than are taken.
        """
        return ()

    @property
    def taken_apart(self) -> tuple[Value, ...]:
        """The values of which it takes elements, or says something of all together."""
        return ()

    @property
    def local(self) -> int | None:
        """The variable of a loop that it is."""
        return None

    @property
    def all_of(self) -> int | None:
        """The template that it is the sequence of all instances of."""
        return None

    @property
    def length_of(self) -> Value | None:
        """The value whose length it is."""
        return None

    @property
    def numel_of(self) -> Value | None:
        """The shape whose number of elements it is."""
        return None

    @property
    def counted_to(self) -> Value | None:
        """The value whose `range` it is."""
        return None

    @property
    def each(self) -> Comprehension | None:
        """The loop whose elements all are to be true, where it asks that."""
        return None


class Given(Expression):
    """A value that is told from outside: by the match, the graph or Python, whatever its parts are."""

    __slots__ = ()

    @property
    def told_by(self) -> tuple[Source, ...] | None:
        """All that decides what it is, its parts aside; None where its form does not say that."""
        return None


class Reading(Given):
    """A value that the match tells, whatever its parts are."""

    __slots__ = ()

    @property
    def across(self) -> bool:
        """True if it looks, from outside, at the instances of a template or at how many there are."""
        return False


class InPlace(Reading):
    """A value that each instance of a template has for itself: that of `place` is meant."""

    __slots__ = ()
    place: Place

    @property
    def across(self) -> bool:
        return self.place != OWN


class AllInstances(Reading):
    """About the instances of `block` as a whole."""

    __slots__ = ()
    block: int

    @property
    def across(self) -> bool:
        return True

    @property
    def told_by(self) -> tuple[Source, ...] | None:
        return (("instances", OWN, self.block),)


class Count(Reading):
    """A number of things: whole and not negative."""

    __slots__ = ()


class TruthValue(Expression):
    """A value that is true or false."""

    __slots__ = ()

    @property
    def is_single(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition comes out as asked if `items` come out as `wanted`: all of them, or (`every` False) one."""

    items: tuple[Value, ...]
    wanted: bool
    every: bool = True


class Connective(TruthValue, Partly):
    """`and` and `or` of `items`: one that is `deciding` settles it."""

    __slots__ = ()
    items: tuple[Value, ...]
    deciding: ClassVar[bool]

    @property
    def surely(self) -> tuple[object, ...]:
        return self.items[:1]

    def decided_by(self, wanted: bool, lets: Sequence[Value]) -> Decision | None:
        return Decision(self.items, wanted, self.deciding is not wanted)
