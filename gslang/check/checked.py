"""A rule that is known to be right: pattern nodes, constraints and target, all names resolved, all `fn`s
expanded.

This is what `check` produces and the engine consumes. Everything is immutable; pattern nodes, lets, captures,
blocks and targets are numbered, and tables are tuples indexed by those numbers. What a match binds lives in
the match.

Reading conventions: "slot" is the graph node that a pattern node matched; an *instance* is one match of an
`each` template, with slots of its own. What attribute expressions and constraints are made of stands in
`checked_values`, and is found here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Union

from gslang.base.diagnostics import Diagnostic
from gslang.base.late import Late
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check.checked_values import *
from gslang.check.checked_values import (
    Constraint,
    Extern,
    NodeReference,
    Place,
    SameAttributes,
    Selection,
    Test,
    Value,
)
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import PROJ, TUPLE

# ── pattern nodes ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternNode:
    """`name` is what the user called it (None without a name).

    `block`: the template it belongs to. `keep`: see language.md.
    """

    name: str | None
    span: Span = field(compare=False, repr=False)
    block: int | None = None
    keep: bool = False
    constraints: tuple[Constraint | SameAttributes, ...] = ()

    @property
    def parts(self) -> tuple[int | None | Splice, ...]:
        """The operands of its graph node, as they stand in the pattern; none where it says nothing of them.
        """
        return ()

    @property
    def operators(self) -> tuple[str, ...]:
        """The values of the `op` column that it can match itself; none where its parts or its kind say so."""
        return ()

    @property
    def swappable(self) -> frozenset[str]:
        """Those operators whose two operands may match in either order."""
        return frozenset()

    @property
    def variable(self) -> str | None:
        """The operator variable that it is a call of."""
        return None

    @property
    def optional(self) -> bool:
        """True if its slot may be absent."""
        return False

    @property
    def below(self) -> tuple[int, ...]:
        """The pattern nodes right below it, in matching order."""
        return tuple([p.node if isinstance(p, Splice) else p for p in self.parts if p is not None])

    @property
    def tests(self) -> tuple[Constraint, ...]:
        """Those of the constraints that are about one field."""
        return tuple([c for c in self.constraints if isinstance(c, Constraint)])

    @property
    def copies(self) -> tuple[SameAttributes, ...]:
        """Those of the constraints that are about all attributes."""
        return tuple([c for c in self.constraints if isinstance(c, SameAttributes)])

    def asked(self, name: str) -> tuple[Test, ...]:
        """The tests of a field."""
        return tuple([c.test for c in self.tests if c.field == name])


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafNode(PatternNode):
    """A wildcard or a leaf. `kind`: "any" "var" "input" "param" "const" "fixed". `optional`: the slot may be
    absent.

    `is_input`: an input vertex of the rule (header, or an `any`/`var`/… expression inside the source). Leaves
    of kind const written in the source (`0`, `const(…)`, `splat(…)`) have `is_input` False; no leaf is ever
    interior or an output.
    """

    kind: str
    optional: bool = False
    is_input: bool = True


@dataclass(frozen=True, slots=True)
class Splice:
    """`*f.item` among operands or fields: the instances of `block`, each matching template node `node`,
    exactly covering.
    """

    block: int
    node: int


class OpNode(PatternNode):
    """A node whose graph node has an operator and operands: a call, a tuple or a projection."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNode(OpNode):
    """A call of one of `operators` (sorted unless the user listed them); `variable` names the operator
    variable: all nodes with the same one match the same operator. `operands`: pattern nodes, None for an
    operand that must be absent (also for trailing optional ones left out), or a `Splice`. `swappable`: those
    operators whose two operands may match in either order (empty under `ordered`).
    """

    operators: tuple[str, ...]
    operands: tuple[int | None | Splice, ...]
    variable: str | None = None
    swappable: frozenset[str] = frozenset()

    @property
    def parts(self) -> tuple[int | None | Splice, ...]:
        return self.operands


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleNode(OpNode):
    """A tuple in the source; a field may be all instances of a block."""

    fields: tuple[int | Splice, ...]

    @property
    def parts(self) -> tuple[int | None | Splice, ...]:
        return self.fields

    @property
    def operators(self) -> tuple[str, ...]:
        return (TUPLE,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjNode(OpNode):
    """A projection; what its index must be stands in `constraints` (field "index")."""

    base: int

    @property
    def parts(self) -> tuple[int | None | Splice, ...]:
        return (self.base,)

    @property
    def operators(self) -> tuple[str, ...]:
        return (PROJ,)


@dataclass(frozen=True, slots=True, kw_only=True)
class AltNode(PatternNode):
    """Alternatives, tried in order; the slot is the branch's.

    An optional operator `f?(p)` is `AltNode((call, p))`.
    """

    branches: tuple[int, ...]

    @property
    def below(self) -> tuple[int, ...]:
        return self.branches


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousNode(PatternNode):
    """Inside a chain, the value that an instance goes on from: the root of the one before, or what the chain
    starts from.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainNode(PatternNode):
    """The end of chain `chain`: the slot is that of template node `root` in the last instance.

    `start`: what the first goes on from.
    """

    chain: int
    root: int
    start: int

    @property
    def below(self) -> tuple[int, ...]:
        return (self.root, self.start)  # matched from the end


Pattern = Union[LeafNode, CallNode, TupleNode, ProjNode, AltNode, PreviousNode, ChainNode]


@dataclass(frozen=True, slots=True)
class Block:
    """An `each` template. Its instances are consumed as tuple fields / variadic operands (`Splice`) or as
    outputs (`root`).

    `minimum`/`maximum` are values (they may read what was matched before). `nodes` in reverse post-order.
    `previous`: of a chain, the template node that is the previous instance's root; its instances are consumed
    by a `ChainNode`.
    """

    name: str
    nodes: tuple[int, ...]
    minimum: Value
    maximum: Value | None
    where: tuple[Value, ...]
    root: int
    as_outputs: bool
    previous: int | None = field(default=None, kw_only=True)
    span: Span = field(compare=False, repr=False)
    bounds_span: Span = field(compare=False, repr=False)
    where_spans: tuple[Span, ...] = field(compare=False, repr=False)


# ── targets ─────────────────────────────────────────────────────────────────────────────────────────────────


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
    def reads(self) -> object:
        """Itself, if it reads the match, or the values in it that do."""
        return self


class NewNode(TargetPart):
    """A new node with operands: a call, a tuple or a projection."""

    __slots__ = ()


class SeveralNodes(TargetPart):
    """Stands for any number of nodes, among operands, fields or outputs."""

    __slots__ = ()


class MatchedNodes(TargetPart):
    """Nodes of the graph that stay as they are: those that pattern node `node` matched."""

    __slots__ = ()
    node: int


class ChosenTarget(TargetPart):
    """One of its parts, by what was matched."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SourceNode(NodeReference, MatchedNodes):
    """A matched node (or an input) stands here as itself; an absent optional input passes on its absence."""

    place: Place
    node: int


@dataclass(frozen=True, slots=True)
class Absent(TargetPart):
    """`none` as an operand."""


@dataclass(frozen=True, slots=True)
class MakeConst(TargetPart):
    """A new constant. dtype None: no operand's declaration demands one (`outputs.settle_constants`), so that
    of the first tensor operand of the call it is an operand of, else float32, int64, bool.

    `as_tuple`: a tuple of constants, one per item (the operand is declared `tuple`). `optional`: `none` means
    absent.
    """

    value: Value
    dtype: Value | None
    as_tuple: bool = False
    splat_shape: Value | None = None  # `const(value = v, shape = s)`: filled with v
    optional: bool = False


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
    attached: tuple[tuple[str, Value], ...] = ()

    @property
    def reads(self) -> object:
        return (self.attributes, self.spreads)


@dataclass(frozen=True, slots=True)
class MakeTuple(NewNode):
    """A tuple of the target."""

    made_of: ClassVar[tuple[str, ...]] = ("fields",)
    fields: tuple[int, ...]

    @property
    def reads(self) -> object:
        return ()


@dataclass(frozen=True, slots=True)
class MakeProj(NewNode):
    """One field of a tuple of the target."""

    made_of: ClassVar[tuple[str, ...]] = ("base",)
    base: int
    index: Value

    @property
    def reads(self) -> object:
        return (self.index,)


@dataclass(frozen=True, slots=True)
class Repeat(SeveralNodes):
    """Several targets: one of `element` per item of `source`; the targets in `inner` are new in each round.
    """

    made_of: ClassVar[tuple[str, ...]] = ("element",)
    element: int
    locals: tuple[int, ...]
    source: Value
    condition: Value | None
    inner: frozenset[int]

    @property
    def reads(self) -> object:
        return (self.source, self.condition)


@dataclass(frozen=True, slots=True)
class SpliceInstances(SeveralNodes, MatchedNodes):
    """`*f.item` in a target: the nodes that instances of a block matched, in order."""

    block: int
    node: int


@dataclass(frozen=True, slots=True)
class Projections(SeveralNodes):
    """`*t` of a tuple-typed target: all its projections."""

    made_of: ClassVar[tuple[str, ...]] = ("base",)
    base: int

    @property
    def reads(self) -> object:
        return ()


@dataclass(frozen=True, slots=True)
class ChooseTarget(ChosenTarget):
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

    @property
    def calls(self) -> tuple[MakeCall, ...]:
        """The calls among the targets."""
        return tuple([target for target in self.targets if isinstance(target, MakeCall)])


# ── rules and programs ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class OpVariable:
    """An operator variable `f: op(…)`."""

    name: str
    operators: tuple[str, ...]  # those that it may stand for


class _WithFootprint(Late):
    """A place for what `footprint` finds."""

    __slots__ = ("_footprint",)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedRule(_WithFootprint):
    """`inputs`: the header's input vertices as pattern nodes. `outputs`: pattern nodes.

    `interior`: nodes that go away (templates' included): neither input nor output, not used by the target as
    a node, not `keep`; no leaves, no alternations. `where`: tested once the whole source is matched.
    """

    name: str
    doc: str | None
    nodes: tuple[Pattern, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]  # empty if `output_block` is given
    output_block: int | None  # the block whose instances' roots are the outputs
    blocks: tuple[Block, ...]
    variables: tuple[OpVariable, ...]
    lets: tuple[Value, ...]
    captures: tuple[str, ...]  # names
    where: tuple[Value, ...]
    where_spans: tuple[Span, ...] = field(compare=False, repr=False)
    interior: frozenset[int]
    target: TargetGraph
    dialect: Dialect = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)
    once: bool = False
    disconnected: bool = False
    approximate: float | None = None  # relative tolerance
    changes: str | None = None  # why the two sides are not meant to be equal
    tags: tuple[str, ...] = ()
    family: str | None = None  # of which it is one
    opset: tuple[int | None, int | None] = (None, None)
    module: str = ""
    externs: tuple[Extern, ...] = ()  # the Python functions that it rests on, each once

    @property
    def calls(self) -> dict[int, CallNode]:
        """The calls of the source by their number."""
        return {k: node for k, node in enumerate(self.nodes) if isinstance(node, CallNode)}

    @property
    def leaves(self) -> dict[int, LeafNode]:
        """The leaves of the source by their number."""
        return {k: node for k, node in enumerate(self.nodes) if isinstance(node, LeafNode)}

    @property
    def has_alternatives(self) -> bool:
        """True if something in the source may be one or the other."""
        return any(isinstance(node, AltNode) for node in self.nodes)


def attaches(rule: CheckedRule) -> bool:
    """True if a rule attaches something to operators that it creates."""
    return any(target.attached for target in rule.target.calls)


def called(rules: Mapping[str, CheckedRule], name: str) -> tuple[str, ...]:
    """The rules that a name stands for: the one that has it, or those of a family, in order."""
    if name in rules:
        return (name,)
    return tuple(key for key, rule in rules.items() if rule.family == name)


def families(rules: Mapping[str, CheckedRule]) -> list[str]:
    """The names of families, each once."""
    return list(dict.fromkeys(rule.family for rule in rules.values() if rule.family is not None))


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a declared operator: its value and its type. `rule`: its source is one call of the
    operator (the last pattern node; operand k is pattern node k, a variadic one a tuple of all that is left),
    its target is the value, without outputs if none is declared.
    """

    rule: CheckedRule
    variadic: bool  # the last operand is
    shape: Value | None
    dtype: Value | None


@dataclass(frozen=True, slots=True)
class CheckedTest(Late):
    """A `test` item. `source` and `expected` build graphs from inputs: in them `SourceNode(OWN, k)` is input
    number k.

    `inputs`: (name, "input" | "param" | "const", type). `expected` None means the rule must change nothing.
    """

    title: str
    rule: str
    inputs: tuple[tuple[str, str, TensorType], ...]
    source: TargetGraph
    expected: TargetGraph | None
    lets: tuple[Value, ...]
    span: Span = field(compare=False, repr=False)
    opset: int | None = None  # that the graphs state (ONNX)


@dataclass(frozen=True, slots=True)
class Step:
    """One item of a pass: rule names run together to a fixed point (one name: alone), "fold" or "cse"."""

    rules: tuple[str, ...]
    builtin: str | None = None
    nested: tuple[Step, ...] = ()  # of a `repeat` that mixes passes and built-ins


@dataclass(frozen=True, slots=True)
class CheckedPass:
    """A `pass` item."""

    name: str
    steps: tuple[Step, ...]
    doc: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """`rules` and `passes`: all that are visible, imported ones included, by name; `own_rules`: this file's,
    in order.

    `parameters`: the values of the `param` items, imported ones included.
    """

    name: str
    dialect: Dialect = field(repr=False)
    doc: str | None
    rules: dict[str, CheckedRule]
    own_rules: tuple[str, ...]
    passes: dict[str, CheckedPass]
    own_passes: tuple[str, ...]
    tests: tuple[CheckedTest, ...]
    diagnostics: tuple[Diagnostic, ...]
    parameters: dict[str, object] = field(default_factory=dict)

    def named(self, name: str) -> tuple[CheckedRule, ...]:
        """The rule of this name, or those of the family; none if there is none."""
        return tuple(self.rules[k] for k in called(self.rules, name))

    @property
    def ok(self) -> bool:
        """True if no finding is an error."""
        return not any(d.severity.value == "error" for d in self.diagnostics)
