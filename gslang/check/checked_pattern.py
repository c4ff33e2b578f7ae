"""The nodes of a checked rule's source, and its templates.

Part of `checked`, through which the other stages see them. Each class says what its parts are, for walks over
all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check.checked_tests import Constraint, Equals, SameAttributes, Test
from gslang.check.checked_values import Const, Value, written_number
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE

OF_KIND: Final = {
    "var": frozenset((INPUT, PARAM)),
    "input": frozenset((INPUT,)),
    "param": frozenset((PARAM,)),
    "const": frozenset((CONST,)),
    "fixed": frozenset((CONST, PARAM)),
}
"""The kinds of leaves but `any`, and the values of the `op` column that each can match."""


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
    def called_as(self) -> str | None:
        """The operator or operator variable that it is a call of, as the rule writes it; None for no call."""
        return None

    @property
    def optional(self) -> bool:
        """True if its slot may be absent."""
        return False

    @property
    def branches(self) -> tuple[int, ...]:
        """The alternatives, where it is one of several."""
        return ()

    @property
    def stands_for(self) -> tuple[int, ...]:
        """The pattern nodes of which one has the same slot: branches, the root of a chain's last instance."""
        return ()

    @property
    def admits(self) -> frozenset[str] | None:
        """The values of the `op` column that it can match itself; None if it says nothing of them."""
        return frozenset(self.operators) or None

    @property
    def count(self) -> int | None:
        """The number of its parts; None if the instances of a template are among them."""
        return None if any(isinstance(part, Splice) for part in self.parts) else len(self.parts)

    @property
    def is_tensor(self) -> bool:
        """True if its kind alone says that it is one tensor."""
        return False

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes that it has without an operator's declaration, and their types."""
        return {}

    @property
    def below(self) -> tuple[int, ...]:
        """The pattern nodes right below it, in matching order."""
        return tuple([p.node if isinstance(p, Splice) else p for p in self.parts if p is not None])

    @property
    def tests(self) -> tuple[Constraint, ...]:
        """Those of the constraints that are about one field."""
        if not self.constraints:
            return ()
        return tuple([c for c in self.constraints if isinstance(c, Constraint)])

    @property
    def copies(self) -> tuple[SameAttributes, ...]:
        """Those of the constraints that are about all attributes."""
        return tuple([c for c in self.constraints if isinstance(c, SameAttributes)])

    def asked(self, name: str) -> tuple[Test, ...]:
        """The tests of a field."""
        return tuple([c.test for c in self.tests if c.field == name])

    def stated(self, name: str) -> object:
        """The constant that a field has whatever the node is bound to; None where there is none."""
        for test in self.asked(name):
            if isinstance(test, Equals) and isinstance(test.value, Const):
                return test.value.value
        return None


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

    @property
    def admits(self) -> frozenset[str] | None:
        return None if self.optional else OF_KIND.get(self.kind)

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("param", "const", "fixed")

    @property
    def attributes(self) -> Mapping[str, str]:
        values = {"value": "array"} if self.kind in ("const", "any", "fixed") else {}
        return {**values, "index": "int"} if self.kind == "any" else values


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
    def called_as(self) -> str | None:
        return self.variable or self.operators[0]

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
    def attributes(self) -> Mapping[str, str]:
        return {"index": "int"}

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
    def stands_for(self) -> tuple[int, ...]:
        return self.branches

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
    def stands_for(self) -> tuple[int, ...]:
        return (self.root,)

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

    @property
    def fewest(self) -> int | None:
        """The minimum, if it is written out."""
        return written_number(self.minimum)

    @property
    def most(self) -> int | None:
        """The maximum, if there is one and it is written out."""
        return written_number(self.maximum)
