"""The graph: a flat table of nodes with ordered operands, users kept incrementally, and a maintained order.

A node is a small integer; each property is a column (a list indexed by node). No object per node or per edge.
Columns are read directly by the engine; they are changed only through the methods here, which keep three
facts true: `users` (`users.py`) is the inverse of `operands`, `order` is topological, and a removed node has
operator `DEAD`.

Not here: what operators mean (`dialect`), files (`formats`), matching (`engine`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from sys import intern
from typing import Any, ClassVar, Final

from gslang.base.open_types import Attrs
from gslang.dialect.tensor_type import Type
from gslang.graph.order import OUTSIDE, Order, visit
from gslang.graph.users import Users, users_of

# Kinds of nodes that are not operator calls, as values of the `op` column. `%` begins no operator's name.
INPUT: Final = intern("%input")  # given at run time
PARAM: Final = intern("%param")  # a parameter: part of the workload, value known or not
CONST: Final = intern("%const")  # a compile-time constant
TUPLE: Final = intern("%tuple")
PROJ: Final = intern("%proj")  # attribute `index`
DEAD: Final = intern("%dead")
# calls that depend on constants only, as one node, between a step of rules and `fold` (`outline`)
OUTLINE: Final = intern("%outline")

VARIABLES: Final = frozenset((INPUT, PARAM))
LEAVES: Final = frozenset((INPUT, PARAM, CONST))
KIND_NAMES: Final = {INPUT: "input", PARAM: "param", CONST: "const", TUPLE: "tuple", PROJ: "proj"}

ABSENT: Final = -1  # an omitted optional operand

NO_ATTRS: Final[Attrs] = {}
INDEX_ATTRS: Final[list[Attrs]] = [{"index": i} for i in range(64)]


class Graph(Users):
    """A computation graph. `outputs` lists result nodes in order and may name a node more than once.

    Columns: `op` (an interned operator name or one of the kinds above), `operands` (tuple of nodes, `ABSENT`
    for an omitted optional one), `attrs` (as given, without defaults; values are normalised: tuples for
    lists; shared, never mutated), `types` (None where unknown), `names` (the file's id, None for a new node),
    `users` (distinct users).

    `values`: node → array (NumPy or a lazy handle with `shape`, `dtype` and `load()`), for constants and
    parameters. `extras`: node → what a format wants to keep with it, in a mapping that copies share: what
    changes it puts another one in its place. `meta`: the same for the whole graph.
    `opaque_meta` data is never interpreted by the engine.
    """

    __slots__ = (
        "attrs", "blocked", "dead", "dialect", "extras", "meta", "name", "names", "op", "operands", "order",
        "output_uses", "outputs", "types", "values",
    )

    picture: ClassVar[Callable[[Graph], str] | None] = None  # draws a graph as SVG; set by `gslang.api`

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        draw = type(self).picture
        return None if draw is None else draw(self)

    def __repr__(self) -> str:
        inputs = sum(op is INPUT for op in self.op)
        shown = [
            f"{len(self)} node{'s' * (len(self) != 1)}", f"{inputs} input{'s' * (inputs != 1)}",
            f"{len(self.outputs)} output{'s' * (len(self.outputs) != 1)}",
        ]
        return f"<Graph {self.name}, dialect {self.dialect}: {', '.join(shown)}>"

    def __init__(self, dialect: str = "relay", name: str = "main") -> None:
        super().__init__()
        self.dialect = dialect
        self.name = name
        self.op: list[str] = []
        self.operands: list[tuple[int, ...]] = []
        self.attrs: list[Attrs] = []
        self.types: list[Type | None] = []
        self.names: list[str | None] = []
        self.outputs: list[int] = []
        self.output_uses: dict[int, list[int]] = {}  # output → its positions among the outputs
        self.values: dict[int, Any] = {}
        self.extras: dict[int, dict[str, Any]] = {}
        self.meta: dict[str, Any] = {}
        self.order: Order | None = None
        self.dead = 0  # how many numbers belong to removed nodes
        self.blocked: dict[int, None] = {}  # outputs of matches that only a path through other nodes forbids

    # ── building ────────────────────────────────────────────────────────────────────────────────────────────

    def add(
        self,
        op: str,
        operands: Sequence[int] = (),
        attrs: Attrs = NO_ATTRS,
        type: Type | None = None,
        name: str | None = None,
    ) -> int:
        """Append a node whose operands exist; returns its number.

        It is not placed in the order (see `place`).
        """
        node = len(self.op)
        operands = tuple(operands)
        self.op.append(intern(op))
        self.operands.append(operands)
        self.attrs.append(attrs)
        self.types.append(type)
        self.names.append(name)
        self.users.append(())
        for operand in operands:
            if operand >= 0:
                self.add_user(operand, node)
        return node

    def add_input(self, name: str, type: Type | None) -> int:
        """A new input, which is returned."""
        return self.add(INPUT, (), NO_ATTRS, type, name)

    def add_param(self, name: str, type: Type | None, value: object = None) -> int:
        """A new parameter, which is returned."""
        node = self.add(PARAM, (), NO_ATTRS, type, name)
        if value is not None:
            self.values[node] = value
        return node

    def add_const(self, value: object, type: Type, name: str | None = None) -> int:
        """`value` may be None where only the type of the constant is known."""
        node = self.add(CONST, (), NO_ATTRS, type, name)
        if value is not None:
            self.values[node] = value
        return node

    def add_tuple(self, fields: Sequence[int], name: str | None = None, type: Type | None = None) -> int:
        """A new tuple, which is returned."""
        return self.add(TUPLE, fields, NO_ATTRS, type, name)

    def add_proj(self, base: int, index: int, name: str | None = None, type: Type | None = None) -> int:
        """A new projection, which is returned."""
        attrs = INDEX_ATTRS[index] if 0 <= index < 64 else {"index": index}
        return self.add(PROJ, (base,), attrs, type, name)

    def set_outputs(self, outputs: Iterable[int]) -> None:
        """The result nodes, in order."""
        self.outputs = list(outputs)
        self.output_uses = {}
        for position, node in enumerate(self.outputs):
            self.output_uses.setdefault(node, []).append(position)

    def replace_outputs(self, replacement: Mapping[int, int]) -> None:
        """Let the values stand for the keys among the graph's outputs, all at once; others are not looked at.
        """
        uses = self.output_uses
        moved = [(now, uses.pop(old)) for old, now in replacement.items() if old in uses]
        for now, positions in moved:
            for position in positions:
                self.outputs[position] = now
            uses.setdefault(now, []).extend(positions)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        """The number of nodes that are not removed."""
        return len(self.op) - self.dead

    def nodes(self) -> Iterator[int]:
        """Nodes that are not removed, by number (not an order of dependence; see `reverse_post_order`)."""
        op = self.op
        return (n for n in range(len(op)) if op[n] is not DEAD)

    def is_call(self, node: int) -> bool:
        """True if a node is a call of an operator."""
        return self.op[node][0] != "%"

    def kind(self, node: int) -> str:
        """"input", "param", "const", "call", "tuple" or "proj"."""
        return KIND_NAMES.get(self.op[node], "call")

    def value(self, node: int) -> Any:
        """The array of a constant or parameter (loaded if it is a lazy handle), or None."""
        value = self.values.get(node)
        load = getattr(value, "load", None)
        return value if load is None else load()

    def label(self, node: int) -> str:
        """A name to show: the file's id, else `%number`."""
        return self.names[node] or f"%{node}"

    def reverse_post_order(self) -> list[int]:
        """Nodes reachable from the outputs, operands first, left to right, output by output (thesis,
        algorithm 2.1).
        """
        seen = bytearray(len(self.op))
        result: list[int] = []
        for output in self.outputs:
            visit(self.operands, output, seen, result)
        return result

    def ordered(self) -> Order:
        """The maintained order; at first use it is the reverse post-order, unreachable nodes last."""
        if self.order is None:
            self.order = Order(self._all_in_order(), len(self.op))
        return self.order

    def in_order(self) -> list[int]:
        """All nodes in the maintained order."""
        return list(self.ordered())

    def in_order_of(self, operators: Collection[str]) -> list[int]:
        """The nodes with these operators in the maintained order."""
        if not operators:
            return []
        label = self.ordered().label
        found = compress(count(), map(operators.__contains__, self.op))
        return sorted([node for node in found if label[node] != OUTSIDE], key=label.__getitem__)

    def _all_in_order(self) -> list[int]:
        nodes = self.reverse_post_order()
        if len(nodes) < len(self):
            seen = bytearray(len(self.op))
            for node in nodes:
                seen[node] = 1
            for node in self.nodes():
                visit(self.operands, node, seen, nodes)
        return nodes

    def copy(self) -> Graph:
        """An independent graph that shares attribute mappings, types and arrays."""
        other = Graph(self.dialect, self.name)
        other.op, other.operands, other.attrs = self.op[:], self.operands[:], self.attrs[:]
        other.types, other.names = self.types[:], self.names[:]
        other.users = self.copied_users()
        other.outputs, other.output_uses = (
            self.outputs[:], {node: uses[:] for node, uses in self.output_uses.items()},
        )
        other.values, other.meta, other.dead = dict(self.values), dict(self.meta), self.dead
        other.extras = dict(self.extras)
        other.order = None if self.order is None else self.order.copy()
        return other

    # ── changing ────────────────────────────────────────────────────────────────────────────────────────────

    def discard_from(self, first: int) -> None:
        """Undo all `add`s from node `first` on. None of them may be placed or used by an older node."""
        for node in range(len(self.op) - 1, first - 1, -1):
            for operand in self.operands[node]:
                if 0 <= operand < first:
                    self.drop_user(operand, node)
            self.values.pop(node, None)
            self.extras.pop(node, None)
        for column in (self.op, self.operands, self.attrs, self.types, self.names, self.users):
            del column[first:]

    def replace_uses(
        self, replacement: Mapping[int, int], staying: frozenset[int] | set[int] = frozenset()
    ) -> list[int]:
        """Let every user of a key read its value instead, in one go; users in `staying` keep what they read.

        Returns the users that changed, in the order of their first change. Graph outputs change too.
        """
        users, operands = self.users, self.operands
        changed: dict[int, None] = {}
        for old in replacement:
            for user in users[old]:
                if user not in staying:
                    changed[user] = None
        get = replacement.get
        for user in changed:
            before = operands[user]
            for operand in before:
                if operand in replacement:
                    self.drop_user(operand, user)
            after = tuple([get(operand, operand) for operand in before])
            operands[user] = after
            for operand in before:
                if operand in replacement:
                    self.add_user(replacement[operand], user)
        self.replace_outputs(replacement)
        return list(changed)

    def remove_dead(self, candidates: Iterable[int]) -> list[int]:
        """Remove those candidates that nobody uses, then what only they used.

        Inputs stay: they are the interface.
        """
        removed = []
        stack = list(candidates)
        op, users, operands, output_uses = self.op, self.users, self.operands, self.output_uses
        while stack:
            node = stack.pop()
            if users[node] or node in output_uses or op[node] is DEAD or op[node] is INPUT:
                continue
            op[node] = DEAD
            removed.append(node)
            self.values.pop(node, None)
            for operand in operands[node]:
                if operand >= 0:
                    self.drop_user(operand, node)
                    if not users[operand]:
                        stack.append(operand)
            operands[node] = ()
            self.attrs[node] = NO_ATTRS
            if self.order is not None:
                self.order.remove(node)
        self.dead += len(removed)
        return removed

    def set_values(self, leaves: Mapping[int, tuple[str, object, Type | None]], gone: Iterable[int]) -> None:
        """Turn nodes in place into constants or parameters (kind, value, type), and remove the nodes `gone`,
        which only these and one another read, with what only they read.
        """
        op, operands, attrs, types, users = self.op, self.operands, self.attrs, self.types, self.users
        values, away = self.values, set(gone)
        changed = away.union(leaves)
        below = dict.fromkeys([operand for node in (*leaves, *away) for operand in operands[node]])
        for node, (kind, value, type_) in leaves.items():
            op[node], operands[node], attrs[node], types[node], values[node] = (
                kind, (), NO_ATTRS, type_, value,
            )
        self._bury(away)
        for node in away:
            users[node] = ()
        below.pop(ABSENT, None)
        unused = []
        for node in below:
            if changed.issuperset(users[node]):
                users[node] = ()
                if node not in away and node not in self.output_uses:
                    unused.append(node)
            else:
                users[node] = users_of([user for user in users[node] if user not in changed])
        self._bury([node for node in unused if not operands[node] and op[node] is not INPUT])
        self.remove_dead([node for node in unused if operands[node]])

    def _bury(self, nodes: Collection[int]) -> None:
        """Mark nodes as removed that nobody reads and that no other node has as a user."""
        op, operands, attrs, values = self.op, self.operands, self.attrs, self.values
        label = self.order.label if self.order is not None else []
        for node in nodes:
            op[node], operands[node], attrs[node] = DEAD, (), NO_ATTRS
            if node in values:
                del values[node]
            if node < len(label):
                label[node] = OUTSIDE
        self.dead += len(nodes)

    def set_value(self, node: int, op: str, value: object, type: Type | None) -> None:
        """Turn a node in place into a constant or parameter with this value (constant folding)."""
        for operand in self.operands[node]:
            if operand >= 0:
                self.drop_user(operand, node)
        self.op[node], self.operands[node], self.attrs[node] = op, (), NO_ATTRS
        self.types[node] = type
        self.values[node] = value
