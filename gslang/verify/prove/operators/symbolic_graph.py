"""The source of a rule as a graph of symbolic tensors: as much of a graph as the evaluator of rules' values
asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import ABSENT, CONST, PROJ, TUPLE
from gslang.verify.prove.operators.constant_value import ConstantValue
from gslang.verify.prove.operators.domains import Attributes
from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.operators.tensors import Tensor, Value, World
from gslang.verify.prove.terms.dtypes import may_be_real
from gslang.verify.prove.terms.reals import Token


class Pending:
    """The value of a call that is computed when it is asked for, or when the conditions that do not ask for
    it hold.
    """

    def __init__(self, compute: Callable[[], Value]) -> None:
        self.compute = compute
        self.found: tuple[Value, ...] = ()

    def resolved(self) -> Value:
        """The value."""
        if not self.found:
            self.found = (self.compute(),)
        return self.found[0]


def _is_over() -> Value:
    raise AssertionError("the case is over: this is a bug in gslang")


class Operands(Sequence[Value]):
    """The operands of a call, each computed when it is looked at."""

    def __init__(self, graph: SymbolicGraph, slots: Sequence[int]) -> None:
        self.graph, self.slots = graph, slots

    def __len__(self) -> int:
        return len(self.slots)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        slot = self.slots[place]
        return None if slot == ABSENT else self.graph.tensor(slot)


class LeafType(TensorType):
    """The type of an input; its rank is not settled by a question for its element type."""

    __slots__ = ("leaf",)
    leaf: Leaf

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """The element type."""
        return self.leaf.dtype

    @property
    def shape(self) -> Any:  # type: ignore[override]
        """The sizes."""
        return self.leaf.world.facts.normals(self.leaf.resolved().shape)


class Types:
    """The types column of a symbolic graph, made when asked for."""

    def __init__(self, graph: SymbolicGraph) -> None:
        self.graph = graph

    def __getitem__(self, node: int) -> Any:
        if isinstance(leaf := self.graph.values[node], Leaf):
            of_leaf = object.__new__(LeafType)
            object.__setattr__(of_leaf, "leaf", leaf)
            return of_leaf
        value = self.graph.tensor(node)
        if not isinstance(value, Tensor):
            return None
        facts = self.graph.world.facts
        made = object.__new__(TensorType)  # not interned: symbolic sizes have no hash
        object.__setattr__(made, "shape", facts.normals(value.shape))
        object.__setattr__(made, "dtype", value.dtype)
        return made


class SymbolicGraph:
    """The interface of a graph to the evaluator of rules' values."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.op: list[Any] = []  # texts; a `Token` for a call of any operator
        self.operands: list[tuple[int, ...]] = []
        self.attrs: list[Attributes] = []
        self.values: list[Any] = []  # Leaf, Tensor or tuple of them
        self.types = Types(self)
        self.kinds: dict[int, tuple[str, ...]] = {}  # of inputs: what they may be in this case

    def add(self, op: str, operands: tuple[int, ...], attrs: Attributes, value: object) -> int:
        """A new node, which is returned."""
        self.op.append(op)
        self.operands.append(operands)
        self.attrs.append(attrs)
        self.values.append(value)
        return len(self.op) - 1

    def may_hold_reals(self) -> bool:
        """True if an element of a tensor that was computed may be a real number."""
        waiting = list(self.values)
        while waiting:
            value = waiting.pop()
            if isinstance(value, (Leaf, Tensor)) and may_be_real(value.dtype):
                return True
            if isinstance(value, (Pending, tuple)):
                waiting += value.found if isinstance(value, Pending) else value
        return False

    def tensor(self, node: int) -> Value:
        """The value of a node."""
        return self._resolved(self.values[node])

    def _resolved(self, value: object) -> Value:
        if isinstance(value, (Leaf, Pending)):
            return value.resolved()
        if isinstance(value, tuple):
            return tuple(self._resolved(v) for v in value)
        return value

    def value(self, node: int) -> Any:
        """The value of a constant: known, or a `ConstantValue`."""
        leaf = self.values[node]
        if (
            isinstance(leaf, Leaf) and leaf.value is not None and leaf.value.constant is not None
            and leaf.ones
        ):
            constant_ = leaf.value.constant
            import numpy

            return numpy.asarray(int(constant_) if constant_.denominator == 1 else float(constant_)).reshape(
                (1,) * len(leaf.resolved().shape)
            )
        return ConstantValue(leaf)

    def end(self) -> None:
        """Take apart what refers to itself, so that it goes with its case and no collector has to find it."""
        for value in self.values:
            if isinstance(value, Leaf):
                value.tensor = value.ranked = value.like = value.spelled = None
                value.says.clear()
            elif isinstance(value, Pending):
                value.compute, value.found = _is_over, ()
        self.values.clear()

    def label(self, node: int) -> str:
        """The name of a node in messages."""
        return str(self.op[node])

    def is_call(self, node: int) -> bool:
        """True if a node is neither a leaf nor a tuple nor a projection."""
        return isinstance(self.op[node], Token) or not self.op[node].startswith("%")

    def kind(self, node: int) -> str:
        """Any that the pattern allows: a case, the first time that it is asked for."""
        op = self.op[node]
        if node not in self.kinds:
            return "const" if op is CONST else "proj" if op is PROJ else "tuple" if op is TUPLE else "call"
        allowed = self.kinds[node]
        self.kinds[node] = (allowed[self.world.facts.choices.choose(len(allowed))],)
        return self.kinds[node][0]
