"""Attribute expressions of checked rules: what they read and what they compute.

Part of `checked`, through which the other stages see it. Evaluating them: `engine.values`, and as code
`engine.value_code`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field as dataclass_field
from typing import Any, ClassVar, Final, Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check.arithmetic import BINARY, negative
from gslang.check.builtins import BUILTINS
from gslang.check.checked_kinds import (
    OWN,
    AllInstances,
    Branching,
    Connective,
    Count,
    Decision,
    Expression,
    Given,
    InPlace,
    Loop,
    NodeReference,
    Place,
    Reading,
    Selection,
    Source,
    TruthValue,
)
from gslang.check.limits import listed

_MOST_TAKEN: Final = 32  # first items of a tuple: a slice up to a larger number takes all of them


@dataclass(frozen=True, slots=True)
class Const(Expression):
    """A literal; sequences are tuples. `name`: of the rule file's parameter whose value it is."""

    needs_name: ClassVar[bool] = False
    value: Any
    name: str | None = dataclass_field(default=None, compare=False)

    @property
    def is_single(self) -> bool:
        return not isinstance(self.value, tuple)


@dataclass(frozen=True, slots=True)
class NodeAttr(NodeReference, InPlace):
    """`p.name`: shape dtype ndim op kind value index, or an attribute of the matched operator (with its
    default).

    `node` may be an alternation or have several operators: what is read depends on what matched. An attribute
    name that is a declared `tensor | T` operand reads the attribute, else the operand's constant value, else
    the default.
    """

    needs_name: ClassVar[bool] = False
    place: Place
    node: int
    name: str


@dataclass(frozen=True, slots=True)
class TypeOf(Reading):
    """`y.name` of a new node `y`: shape, dtype or ndim of the type that is inferred for the target."""

    needs_name: ClassVar[bool] = False
    target: int
    name: str


@dataclass(frozen=True, slots=True)
class IsAbsent(NodeReference, Reading, TruthValue):
    """`b == none` for an input that may be absent."""

    place: Place
    node: int


@dataclass(frozen=True, slots=True)
class Uses(NodeReference, Count):
    """`users(n)`, `users(n, Transpose, perm = p)`: a fact (`what`) about who uses a node in the graph before
    the rewrite, or about the bodies of a call (`calls(y, Relu)`; `calls(y.then_branch)`: about one, the
    attribute `body`).

    `operators`: a name or a tuple of names, None for whatever users there are; `attributes`: what those calls
    are to have.
    """

    what: str
    place: Place
    node: int
    operators: Value | None
    attributes: tuple[tuple[str, Value], ...]
    body: str | None = None


@dataclass(frozen=True, slots=True)
class SameNode(Reading, TruthValue):
    """True if the two slots are the same graph node (`distinct` is `not` of these)."""

    left: tuple[Place, int]
    right: tuple[Place, int]


@dataclass(frozen=True, slots=True)
class Captured(InPlace):
    """The value bound by `(n := _)`."""

    needs_name: ClassVar[bool] = False
    place: Place
    capture: int

    @property
    def told_by(self) -> tuple[Source, ...] | None:
        return (("capture", self.place, self.capture),)


@dataclass(frozen=True, slots=True)
class Let(InPlace):
    """A named value: `lets[let]` of the rule (or of the target graph it stands in), evaluated once, when
    first used.
    """

    needs_name: ClassVar[bool] = False
    place: Place
    let: int

    def meant(self, lets: Sequence[Value]) -> Value:
        return lets[self.let].meant(lets) if lets and self.place == OWN else self

    def decided_by(self, wanted: bool, lets: Sequence[Value]) -> Decision | None:
        return Decision((lets[self.let],), wanted) if lets and self.place == OWN else None

    @property
    def told_by(self) -> tuple[Source, ...] | None:
        return () if self.place == OWN else None


@dataclass(frozen=True, slots=True)
class Local(Reading):
    """A comprehension variable, or a parameter of an expanded expression."""

    needs_name: ClassVar[bool] = False
    local: int

    @property
    def told_by(self) -> tuple[Source, ...] | None:
        return ()


@dataclass(frozen=True, slots=True)
class InstanceIndex(Count):
    """`index` inside a template: the number of this instance, from 0."""

    block: int


@dataclass(frozen=True, slots=True)
class Opset(Given):
    """`opset`: the version of ONNX's own operators that the graph's model imports."""

    @property
    def told_by(self) -> tuple[Source, ...] | None:
        return (("opset", OWN, 0),)


@dataclass(frozen=True, slots=True)
class Length(AllInstances, Count):
    """`len(NAME)` of a block: how many instances there are."""

    block: int


@dataclass(frozen=True, slots=True)
class Instances(AllInstances):
    """A sequence of instance numbers of a block: `for b in NAME` runs over it; `b.w` is then
    `NodeAttr(At(block, Local), w)`.
    """

    block: int

    @property
    def all_of(self) -> int | None:
        return self.block


@dataclass(frozen=True, slots=True)
class UnaryValue(Expression):
    """`-a`, `not a`."""

    operator: str  # "-" "not"
    operand: Value

    @property
    def is_single(self) -> bool:
        return True

    @property
    def applied(self) -> tuple[Callable[..., object], tuple[Value, ...]] | None:
        return (negative, (self.operand,)) if self.operator == "-" else None

    def decided_by(self, wanted: bool, lets: Sequence[Value]) -> Decision | None:
        return Decision((self.operand,), not wanted) if self.operator == "not" else None


@dataclass(frozen=True, slots=True)
class BinaryValue(Expression):
    """Arithmetic on numbers; `+` and `*` on sequences too."""

    operator: str  # "+ - * / // % **"
    left: Value
    right: Value

    @property
    def is_single(self) -> bool:
        return self.operator in ("-", "/", "//", "%")

    @property
    def applied(self) -> tuple[Callable[..., object], tuple[Value, ...]] | None:
        return BINARY[self.operator], (self.left, self.right)

    @property
    def limits(self) -> tuple[tuple[str, Value, Value], ...]:
        number = self.right.value if isinstance(self.right, Const) else None
        known = self.operator == "%" and type(number) is int and number > 1
        return ((">=", self.left, self.right),) if known else ()


@dataclass(frozen=True, slots=True)
class CompareValue(TruthValue):
    """One comparison; chains are `AllOf` of them.

    Equality rounds floats to float32, and is unknown on unknown dimensions.
    """

    operator: str  # "== != < <= > >= in", "not in"
    left: Value
    right: Value

    @property
    def compares(self) -> tuple[str, Value, Value] | None:
        return self.operator, self.left, self.right


@dataclass(frozen=True, slots=True)
class AllOf(Connective):
    """`and`, three-valued."""

    deciding: ClassVar[bool] = False
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Connective):
    """`or`, three-valued."""

    deciding: ClassVar[bool] = True
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class IfValue(Branching, Expression):
    """`a if condition else b`; an unknown condition makes it unknown."""

    condition: Value
    then: Value
    otherwise: Value


@dataclass(frozen=True, slots=True)
class SelectValue(Selection, Reading):
    """`match p { … }`: the arm of the branch of alternation `node` that matched; None: unknown."""

    place: Place
    node: int
    arms: tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class SpreadValue(Expression):
    """`*s` as an item of a tuple."""

    value: Value


@dataclass(frozen=True, slots=True)
class TupleValue(Expression):
    """`(a, *b, …)` and `[a, …]`."""

    items: tuple[Value | SpreadValue, ...]

    @property
    def applied(self) -> tuple[Callable[..., object], tuple[Value, ...]] | None:
        single = tuple([item for item in self.items if not isinstance(item, SpreadValue)])
        return (listed, single) if len(single) == len(self.items) else None


@dataclass(frozen=True, slots=True)
class ItemValue(Expression):
    """`base[index]`."""

    base: Value
    index: Value

    @property
    def is_single(self) -> bool:
        return isinstance(self.base, NodeAttr) and self.base.name == "shape"

    @property
    def taken_apart(self) -> tuple[Value, ...]:
        return (self.base,)


@dataclass(frozen=True, slots=True)
class SliceValue(Expression):
    """`base[lower:upper:step]`."""

    base: Value
    lower: Value | None
    upper: Value | None
    step: Value | None

    @property
    def limits(self) -> tuple[tuple[str, Value, Value], ...]:
        if self.lower is not None or self.step is not None or not isinstance(self.upper, Const):
            return ()
        count = self.upper.value
        if type(count) is not int or not 0 < count <= _MOST_TAKEN:
            return ()
        of_shape = isinstance(self.base, NodeAttr) and self.base.name == "shape"  # ranks vary anyway
        return () if of_shape else ((">", Builtin("len", (self.base,)), self.upper),)

    @property
    def taken_apart(self) -> tuple[Value, ...]:
        return (self.base,)


@dataclass(frozen=True, slots=True)
class RangeValue(Expression):
    """`lower..upper` as the source of a comprehension, both ends included; `upper` is known there."""

    lower: Value
    upper: Value


@dataclass(frozen=True, slots=True)
class Comprehension(Loop, Expression):
    """A tuple of the elements."""

    element: Value
    locals: tuple[int, ...]
    source: Value
    condition: Value | None

    @property
    def taken_apart(self) -> tuple[Value, ...]:
        return (self.source,)


@dataclass(frozen=True, slots=True)
class Builtin(Expression):
    """A call of a built-in function (language.md §3, attribute expressions)."""

    name: str
    arguments: tuple[Value, ...]

    @property
    def is_single(self) -> bool:
        return self.name in ("len", "numel", "normalize_axis", "abs")

    @property
    def applied(self) -> tuple[Callable[..., object], tuple[Value, ...]] | None:
        return BUILTINS[self.name], self.arguments

    @property
    def limits(self) -> tuple[tuple[str, Value, Value], ...]:
        first = self.arguments[0] if self.arguments else None
        given = first.applied if isinstance(first, TupleValue) else ("", self.arguments)
        if self.name not in ("min", "max") or given is None or len(given[1]) != 2:
            return ()
        return ("<", *given[1]), (">", *given[1])

    @property
    def taken_apart(self) -> tuple[Value, ...]:
        return self.arguments if self.name in ("sum", "prod", "max", "min") else ()

    @property
    def compares(self) -> tuple[str, Value, Value] | None:
        return ("close", self.arguments[0], self.arguments[1]) if self.name == "close" else None

    @property
    def length_of(self) -> Value | None:
        return self.arguments[0] if self.name == "len" else None

    @property
    def numel_of(self) -> Value | None:
        return self.arguments[0] if self.name == "numel" else None

    @property
    def counted_to(self) -> Value | None:
        return self.arguments[0] if self.name == "range" and len(self.arguments) == 1 else None

    @property
    def each(self) -> Comprehension | None:
        loop = self.arguments[0] if self.name == "all" else None
        return loop if isinstance(loop, Comprehension) else None


@dataclass(frozen=True, slots=True)
class Extern(Given):
    """A call of the Python function `reference` ("module:function"), which takes values of the types
    `parameters` and gives one of type `result`. `folder`: of the file that declares it. `function`: what
    calls it, once it was imported (`engine.externs`); None: nobody has asked for that.
    """

    name: str
    reference: str
    result: str
    parameters: tuple[str, ...]
    arguments: tuple[Value, ...]
    folder: str
    span: Span = dataclass_field(compare=False, repr=False)
    function: Callable[..., Any] | None = dataclass_field(default=None, compare=False, repr=False)


Value = Union[
    Const, NodeAttr, TypeOf, IsAbsent, Uses, SameNode, Captured, Let, Local, InstanceIndex, Opset, Length,
    Instances, UnaryValue, BinaryValue, CompareValue, AllOf, AnyOf, IfValue, SelectValue, TupleValue,
    ItemValue, SliceValue, RangeValue, Comprehension, Builtin, Extern,
]


def written_number(value: object) -> int | None:
    """The whole number that is written out there."""
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def is_true_or_false(value: object) -> bool:
    """True for values that are true or false by their form."""
    return isinstance(value, TruthValue) or isinstance(value, UnaryValue) and value.operator == "not"
