"""The target of a checked rule.

Part of `checked`, through which the other stages see it. Each class says which targets it is made of and what
it reads, for walks over all of them. Building them: `engine.build`, and as code `engine.generate_target`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check.checked_kinds import Branching, Loop, NodeReference, Place, Selection
from gslang.check.checked_pattern import PatternNode
from gslang.check.checked_tests import SameAttributes
from gslang.check.checked_values import Const, Value
from gslang.graph.graph import PROJ, TUPLE


class TargetPart:
    """A part of the target. `made_of`: its fields that hold targets that it is made of, one or a tuple."""

    __slots__ = ()
    made_of: ClassVar[tuple[str, ...]] = ()

    @property
    def parts(self) -> tuple[int, ...]:
        """The targets that it is made of; of a choice all that may be chosen."""
        found: list[int] = []
        for name in self.made_of:
            part = getattr(self, name)
            found += [part] if isinstance(part, int) else [each for each in part if each is not None]
        return tuple(found)

    @property
    def outputs_within(self) -> tuple[int, ...]:
        """The targets that are outputs of the rule where it is one itself: fields, elements, choices."""
        return ()

    @property
    def optional(self) -> bool:
        """True if it may stand for an absent operand, as far as it says itself."""
        return False

    def is_given(self, nodes: Sequence[PatternNode]) -> bool:
        """True if it is there as an operand, as far as it and the nodes of the source say."""
        return True

    @property
    def reads(self) -> object:
        """Itself, if it reads the match, or the values in it that do."""
        return self


class NewNode(TargetPart):
    """A new node with operands: a call, a tuple or a projection."""

    __slots__ = ()
    operator: Any
    attributes: Any
    spreads: Any = ()


class Unpacking(TargetPart):
    """Fields of the tuple `base`."""

    __slots__ = ()
    made_of: ClassVar[tuple[str, ...]] = ("base",)
    base: int


class SeveralNodes(TargetPart):
    """Stands for any number of nodes, among operands, fields or outputs."""

    __slots__ = ()


class MatchedNodes(TargetPart):
    """Nodes of the graph that stay as they are: those that pattern node `node` matched."""

    __slots__ = ()
    node: int

    def is_given(self, nodes: Sequence[PatternNode]) -> bool:
        return not nodes[self.node].optional


class ChosenTarget(TargetPart):
    """One of its parts, by what was matched."""

    __slots__ = ()

    @property
    def outputs_within(self) -> tuple[int, ...]:
        return self.parts

    @property
    def optional(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class SourceNode(NodeReference, MatchedNodes):
    """A matched node (or an input) stands here as itself; an absent optional input passes on its absence."""

    place: Place
    node: int


@dataclass(frozen=True, slots=True)
class Absent(TargetPart):
    """`none` as an operand."""

    def is_given(self, nodes: Sequence[PatternNode]) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class MakeConst(TargetPart):
    """A new constant. dtype None: no operand's declaration demands one (`outputs.settle_constants`), so that
    of the first tensor operand of the call it is an operand of, also by a choice, else float32, int64, bool.

    `as_tuple`: a tuple of constants, one per item (the operand is declared `tuple`). `optional`: `none` means
    absent.
    """

    value: Value
    dtype: Value | None
    as_tuple: bool = False
    splat_shape: Value | None = None  # `const(value = v, shape = s)`: filled with v
    optional: bool = False

    def is_given(self, nodes: Sequence[PatternNode]) -> bool:
        return self.value != Const(None)


@dataclass(frozen=True, slots=True)
class Attached:
    """A name with a value that `@attach` states. `span`: of the value."""

    name: str
    value: Value
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MakeCall(NewNode):
    """A new call. `operator` is a name, or ("variable", NAME) for the operator that a variable matched.

    `operands` may hold `Splat`/`Repeat` targets, which stand for several. `spreads` copy all attributes of a
    matched node (explicit `attributes` win; `without` names ones not to copy). `attached`: annotations, not
    part of what is computed.
    """

    made_of: ClassVar[tuple[str, ...]] = ("operands",)
    operator: str | tuple[str, str]
    operands: tuple[int, ...]
    attributes: tuple[tuple[str, Value], ...]
    spreads: tuple[SameAttributes, ...] = ()
    attached: tuple[Attached, ...] = ()

    @property
    def reads(self) -> object:
        return (self.attributes, self.spreads)


@dataclass(frozen=True, slots=True)
class MakeTuple(NewNode):
    """A tuple of the target."""

    made_of: ClassVar[tuple[str, ...]] = ("fields",)
    operator: ClassVar[str] = TUPLE  # type: ignore[misc]
    attributes: ClassVar[tuple[()]] = ()  # type: ignore[misc]
    fields: tuple[int, ...]

    @property
    def outputs_within(self) -> tuple[int, ...]:
        return self.fields

    @property
    def reads(self) -> object:
        return ()


@dataclass(frozen=True, slots=True)
class MakeProj(NewNode, Unpacking):
    """One field of a tuple of the target."""

    operator: ClassVar[str] = PROJ  # type: ignore[misc]
    base: int
    index: Value

    @property
    def attributes(self) -> tuple[tuple[str, Value], ...]:
        """Its index."""
        return (("index", self.index),)

    @property
    def reads(self) -> object:
        return (self.index,)


@dataclass(frozen=True, slots=True)
class Repeat(Loop, SeveralNodes):
    """Several targets: one of `element` per item of `source`; the targets in `inner` are new in each round.
    """

    made_of: ClassVar[tuple[str, ...]] = ("element",)
    element: int
    locals: tuple[int, ...]
    source: Value
    condition: Value | None
    inner: frozenset[int]

    @property
    def outputs_within(self) -> tuple[int, ...]:
        return (self.element,)

    @property
    def reads(self) -> object:
        return (self.source, self.condition)


@dataclass(frozen=True, slots=True)
class SpliceInstances(SeveralNodes, MatchedNodes):
    """`*f.item` in a target: the nodes that instances of a block matched, in order."""

    block: int
    node: int


@dataclass(frozen=True, slots=True)
class Projections(SeveralNodes, Unpacking):
    """`*t` of a tuple-typed target: all its projections."""

    base: int

    @property
    def reads(self) -> object:
        return ()


@dataclass(frozen=True, slots=True)
class ChooseTarget(Branching, ChosenTarget):
    """`a if condition else b`."""

    made_of: ClassVar[tuple[str, ...]] = ("then", "otherwise",)
    condition: Value
    then: int
    otherwise: int

    @property
    def reads(self) -> object:
        return (self.condition,)


@dataclass(frozen=True, slots=True)
class SelectTarget(Selection, ChosenTarget):
    """`match p { … }` in a target; an arm that is None makes the match fail."""

    made_of: ClassVar[tuple[str, ...]] = ("arms",)
    place: Place
    node: int
    arms: tuple[int | None, ...]


Target = Union[
    SourceNode, Absent, MakeConst, MakeCall, MakeTuple, MakeProj, Repeat, SpliceInstances, Projections,
    ChooseTarget, SelectTarget,
]


def renumbered(target: Target, instead: Mapping[int, int]) -> Target:
    """A target made of other targets."""
    new: Any = {}
    for name in target.made_of:
        part = getattr(target, name)
        new[name] = (
            instead[part] if isinstance(part, int)
            else tuple([None if each is None else instead[each] for each in part])
        )
    return replace(target, **new) if new else target


@dataclass(frozen=True, slots=True)
class TargetGraph:
    """`outputs` may hold `Projections`, `SpliceInstances` or `Repeat` (several outputs).

    Only what an output needs is built.
    """

    targets: tuple[Target, ...]
    names: tuple[str | None, ...]  # the user's name of each target
    spans: tuple[Span, ...] = field(compare=False, repr=False)
    outputs: tuple[int, ...]

    def may_wait(self, number: int) -> bool:
        """True if a target is a new constant whose element type follows from the operands beside it, or may
        be one by a choice.
        """
        target = self.targets[number]
        if isinstance(target, MakeConst):
            return target.dtype is None
        return isinstance(target, ChosenTarget) and any(map(self.may_wait, target.parts))

    @property
    def calls(self) -> tuple[MakeCall, ...]:
        """The calls among the targets."""
        return tuple([target for target in self.targets if isinstance(target, MakeCall)])
