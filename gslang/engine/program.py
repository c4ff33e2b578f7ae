"""The match program of a rule: what has to hold of graph nodes so that the rule matches, as steps in matching
order.

Lowered once from the checked rule (`lower`). `machine` interprets it, which defines what a match is;
`explain` says which step stood in the way; the generated code must agree with the machine. A new kind of
constraint on matches is a step here, a case in each of these, and a line in `lower`.

Registers hold graph nodes; they are numbered as the rule's pattern nodes are. The registers of a template are
new in each instance. Data types only.
"""

from __future__ import annotations

from dataclasses import field
from typing import Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check.checked import CheckedRule, SameAttributes, Value
from gslang.check.checked import Constraint as AttributeTest
from gslang.engine.spine import Spine

Constraint = Union[AttributeTest, SameAttributes]


class NodeStep:
    """Says which graph nodes a register may hold."""

    __slots__ = ()
    register: int


class Demand:
    """Asks what the graph node in a register is, and finds nothing further."""

    __slots__ = ()
    register: int


class OperandStep:
    """About the operands of what a register holds."""

    __slots__ = ()


class WholeStep:
    """A condition on the whole match."""

    __slots__ = ()


class PlaceStep:
    """About where graph nodes are, what uses them and which are one, rather than about what they compute."""

    __slots__ = ()


# ── steps on one register ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class IsKind(NodeStep, Demand):
    """A leaf: a node of this kind ("any" "var" "input" "param" "const" "fixed"), or, if `optional`, an
    operand that is left out.
    """

    register: int
    kind: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Distinct(NodeStep):
    """A node that no other register with this step holds."""

    register: int


@dataclass(frozen=True, slots=True)
class IsOp(NodeStep, Demand):
    """A node with one of these operators; all registers with the same operator `variable` have the same one.
    """

    register: int
    operators: tuple[str, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Operands(OperandStep):
    """The node's operands are at least `least`, and `count` or, with `more`, any number; missing ones are
    absent, further ones must be.

    A choice: operators in `swappable` have their two operands in either order.
    """

    register: int
    least: int
    count: int
    more: bool
    swappable: frozenset[str]


@dataclass(frozen=True, slots=True)
class Operand(OperandStep):
    """Register `register` is operand `index` of what `of` holds (negative: from the end): the same as it
    holds already, or else from now on, and then its own steps follow.
    """

    register: int
    of: int
    index: int


@dataclass(frozen=True, slots=True)
class Absent(OperandStep):
    """Operand `index` of `register` is left out."""

    register: int
    index: int


@dataclass(frozen=True, slots=True)
class Fields(OperandStep):
    """The operands of `of` from `index` on, all but the last `behind`, are what `register` holds in the
    instances of `block`, in order.

    A block whose instances another sequence has made already is matched in lock-step.
    """

    register: int
    of: int
    index: int
    behind: int
    block: int


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The node in `register` is the end of a maximal run: the instances of `block` are found from the last
    one, whose `root` it is.

    `previous` of an instance holds the `root` of the one before; of the first one `start` holds it. `own` are
    conditions on an instance, `linked` those on an instance and the one before it. `outside`: registers below
    `root` that all instances share. `climb` leads from `previous` up to `root`.
    """

    register: int
    block: int
    root: int
    previous: int
    start: int
    own: tuple[Value, ...]
    linked: tuple[Value, ...]
    outside: tuple[int, ...]
    climb: Climb


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: what `register` holds is what one of `branches` holds, tried in order."""

    register: int
    branches: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attr(Demand):
    """A test of an attribute, of the type or of the value, or (`SameAttributes`) of all attributes; an absent
    operand passes.

    `waits`: it reads what is complete only with the block's first instance, and is left to `Holds` until
    then.
    """

    register: int
    constraint: Constraint
    waits: bool


@dataclass(frozen=True, slots=True)
class Done:
    """The register's steps are done."""

    register: int


# ── steps that find outputs ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Start:
    """The first output holds the node at which a match is looked for."""

    register: int


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """From what `below` hold over users with one of `operators` to what `register` may hold; `either`: from
    one of them, as it is.
    """

    register: int
    operators: frozenset[str]
    below: tuple[Climb, ...]
    either: bool


@dataclass(frozen=True, slots=True)
class Users:
    """A choice: a further output, among the users of what is matched below it; or what it holds already, if
    that is no absent operand.
    """

    register: int
    climb: Climb


@dataclass(frozen=True, slots=True)
class Grow:
    """The first instance of the output block with its `root` at the start; `Extend` takes the others."""

    block: int
    root: int


@dataclass(frozen=True, slots=True)
class Extend:
    """Greedily every candidate that keeps the match valid becomes an instance (semantics.md §10)."""

    block: int
    root: int
    climb: Climb


# ── steps on instances and on the whole ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Bounds:
    """A block may have `count` instances, which are operands of `of`, and as many as another sequence has;
    None: as many as it has.
    """

    block: int
    count: int | None
    of: int | None


@dataclass(frozen=True, slots=True)
class Holds:
    """The conditions of a block hold for the current instance, and the constraints that have waited."""

    block: int


@dataclass(frozen=True, slots=True)
class Valid(PlaceStep):
    """The newest instance of the output block keeps the match valid: nothing outside uses its interior, and
    it makes no cycle.
    """

    block: int


@dataclass(frozen=True, slots=True)
class Late(WholeStep):
    """`Holds` of all instances of the blocks that can be judged only on the whole match."""


@dataclass(frozen=True, slots=True)
class MaybeOutput:
    """A node that stays in the graph, and is an output if one of `paths` was chosen: branches of
    alternations, as (node, branch). Then it is none of `others`.
    """

    node: int
    paths: tuple[tuple[tuple[int, int], ...], ...]
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Apart(WholeStep, PlaceStep):
    """Nodes that are outputs by what was chosen hold graph nodes of their own (condition 3)."""

    nodes: tuple[MaybeOutput, ...]


@dataclass(frozen=True, slots=True)
class Private(WholeStep, PlaceStep):
    """No interior node has a user outside the match or is an output of the graph (condition 4)."""


@dataclass(frozen=True, slots=True)
class Convex(WholeStep, PlaceStep):
    """No input is an output or depends on one (condition 5)."""


@dataclass(frozen=True, slots=True)
class Guard(WholeStep):
    """Condition number `number` of the rule's `where` is known to be true."""

    number: int
    condition: Value
    span: Span = field(compare=False, repr=False)


Step = Union[
    IsKind, Distinct, IsOp, Operands, Operand, Absent, Fields, Choice, Attr, Done, Start, Users, Grow, Extend,
    Run, Bounds, Holds, Valid, Late, Apart, Private, Convex, Guard,
]  # fmt: skip


# ── programs ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Register:
    """The demands of a pattern node on the graph node that it matches. `block`: the template whose instances
    have one each."""

    name: str | None
    block: int | None
    steps: tuple[Step, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class MatchProgram:
    """`steps` find the outputs, from there over `Operand` all registers, and test the whole. The replacement
    is `rule.target`.

    Facts that the steps follow from, for those who read the pattern: `starts`: values of the `op` column that
    the first output can have; `distinct`: registers that need graph nodes of their own, whatever is chosen;
    `deferred`: template node → its constraints that wait for the first instance; `late_blocks`: those whose
    conditions only the whole match can tell; `spine`: the way down a deep pattern.
    """

    rule: CheckedRule
    registers: tuple[Register, ...]
    steps: tuple[Step, ...]
    starts: tuple[str, ...]
    distinct: frozenset[int]
    maybe_outputs: tuple[MaybeOutput, ...]
    deferred: dict[int, tuple[Constraint, ...]]
    late_blocks: frozenset[int]
    spine: Spine
