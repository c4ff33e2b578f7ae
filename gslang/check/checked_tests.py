"""Constraints of a checked rule's source: what it demands of one value, and of all attributes of a node.

Part of `checked`, through which the other stages see them. Testing them: `engine.constraints`, and as code
`engine.constraint_code`.
"""

from __future__ import annotations

from dataclasses import field as dataclass_field
from typing import Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check.checked_kinds import Branching, NodeReference, Place, Selection
from gslang.check.checked_values import Const, NodeAttr, Value


class AnyTest:
    """A demand on one value."""

    __slots__ = ()

    @property
    def either(self) -> tuple[Test, ...]:
        """The tests of the same value of which one is to pass; none where it says itself what it demands."""
        return ()

    @property
    def is_open(self) -> bool:
        """True if it says nothing of a value, or of the items of a tuple."""
        return False

    @property
    def equal_to(self) -> Value | None:
        """The value that passes, where it is a single one; None where it is asked for something else."""
        return None


class AgainstValue(AnyTest):
    """A comparison with `value`."""

    __slots__ = ()
    value: Value


class ElementsTest(AgainstValue):
    """On field `value`: of the elements of a constant, which are rounded to its dtype."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Anything(AnyTest):
    """`_`"""

    @property
    def is_open(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Equals(AgainstValue):
    """Equal to a value, floats as float32."""

    value: Value

    @property
    def equal_to(self) -> Value | None:
        return self.value


@dataclass(frozen=True, slots=True)
class ConstantEquals(ElementsTest):
    """On field `value`: a one-element constant equal to `value` rounded to the constant's dtype."""

    value: Value


@dataclass(frozen=True, slots=True)
class SplatEquals(ElementsTest):
    """On field `value`: a constant of any shape whose elements all equal `value` rounded to its dtype."""

    value: Value


@dataclass(frozen=True, slots=True)
class Capture(AnyTest):
    """`(name := test)`: the value found goes into capture number `capture`."""

    capture: int
    test: Test

    @property
    def either(self) -> tuple[Test, ...]:
        return (self.test,)

    @property
    def is_open(self) -> bool:
        return self.test.is_open


@dataclass(frozen=True, slots=True)
class TupleTest(AnyTest):
    """A tuple whose items pass: the first ones `front`, the last ones `back`, with any number of items
    between them (`*_`); `back` None: `front` are all.
    """

    front: tuple[Test, ...]
    back: tuple[Test, ...] | None

    @property
    def items(self) -> tuple[Test, ...]:
        """The tests of single items, in order."""
        return self.front + (self.back or ())

    @property
    def is_open(self) -> bool:
        return all(item.is_open for item in self.items)

    @property
    def places(self) -> tuple[int, ...]:
        """Where the items stand: from the front, or (negative) from the end."""
        return (*range(len(self.front)), *range(-len(self.back or ()), 0))

    def fits(self, count: int) -> bool:
        """True if a tuple may have so many items."""
        return count == len(self.items) or self.back is not None and count > len(self.items)


@dataclass(frozen=True, slots=True)
class EachItem(AnyTest):
    """`[e for i in ..]`: a tuple of any length, item i passing `test` with `local` = i; `minimum`/`maximum`
    bound the length.
    """

    test: Test
    local: int
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class OneOf(AnyTest):
    """`a | b`"""

    tests: tuple[Test, ...]

    @property
    def either(self) -> tuple[Test, ...]:
        return self.tests


@dataclass(frozen=True, slots=True)
class IfTest(Branching, AnyTest):
    """One of two tests, by a condition."""

    condition: Value
    then: Test
    otherwise: Test

    @property
    def either(self) -> tuple[Test, ...]:
        return (self.then, self.otherwise)


@dataclass(frozen=True, slots=True)
class SelectTest(Selection, AnyTest):
    """The test of the branch of alternation `node` that matched; None: none can pass."""

    place: Place
    node: int
    arms: tuple[Test | None, ...]


# ── bodies ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class OuterValue(NodeReference):
    """The value of a matched node, which a body reads from outside."""

    place: Place
    node: int
    span: Span = dataclass_field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BodyInput:
    """Input number `index` of the body itself."""

    index: int


@dataclass(frozen=True, slots=True)
class BodyConstant:
    """A constant in a body whose elements pass."""

    test: Test


@dataclass(frozen=True, slots=True)
class BodyCall:
    """A call in a body; None for an operand that is absent. `swappable`: its two operands match in either
    order.
    """

    operator: str
    operands: tuple[BodyPart | None, ...]
    constraints: tuple[Constraint, ...]
    swappable: bool


@dataclass(frozen=True, slots=True)
class BodyResult:
    """Result number `index` of a call in a body that has several."""

    call: BodyPart
    index: int


@dataclass(frozen=True, slots=True)
class BodyChoice:
    """A value in a body that is described by one of `parts`."""

    parts: tuple[BodyPart, ...]


BodyPart = Union[Anything, OuterValue, BodyInput, BodyConstant, BodyCall, BodyResult, BodyChoice]


@dataclass(frozen=True, slots=True)
class Computes(AnyTest):
    """A body whose outputs are computed like this, one after the other."""

    outputs: tuple[BodyPart, ...]


Test = Union[
    Anything, Equals, ConstantEquals, SplatEquals, Capture, TupleTest, EachItem, OneOf, IfTest, SelectTest,
    Computes,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constraint:
    """A test of `field` of a node: an attribute, or shape, dtype, ndim, value, index."""

    field: str
    test: Test
    span: Span = dataclass_field(compare=False, repr=False)

    @property
    def equal_to(self) -> Value | None:
        """The value that the field must have; None where it is asked for something else."""
        return self.test.equal_to

    @property
    def elements(self) -> Value | None:
        """The value that the elements of the constant are compared with."""
        return self.test.value if self.field == "value" and isinstance(self.test, ElementsTest) else None

    @property
    def copied(self) -> NodeAttr | None:
        """The same, if it is that field of another node."""
        value = copied_of(self.test)
        return value if value is not None and value.name == self.field else None

    @property
    def literal(self) -> Const | None:
        """The same, if it is written out."""
        return literal_of(self.test)


def literal_of(test: object) -> Const | None:
    """The value that a test compares with, if that is written out."""
    return test.value if isinstance(test, Equals) and isinstance(test.value, Const) else None


def copied_of(test: object) -> NodeAttr | None:
    """The field of a node that a test compares with, if it does."""
    return test.value if isinstance(test, Equals) and isinstance(test.value, NodeAttr) else None


@dataclass(frozen=True, slots=True)
class SameAttributes(NodeReference):
    """`f(x, a.*)` with an operator variable: all attributes equal those of `node`, but those in `without`."""

    place: Place
    node: int
    without: tuple[str, ...]
    span: Span = dataclass_field(compare=False, repr=False)
