"""The source of a rule as a graph of symbolic tensors: as much of a graph as the evaluator of rules' values asks for."""

from __future__ import annotations

from typing import Any

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import CONST, INPUT, PROJ, TUPLE
from gslang.verify.prove.domains import Attributes
from gslang.verify.prove.dtypes import Dtype
from gslang.verify.prove.paths import Impossible, NotProved
from gslang.verify.prove.tensors import Tensor, Value, World
from gslang.verify.prove.terms import Term, number, read


class Leaf:
    """An input of the source; its rank is a case that is split when it is first looked at."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.dtype = Dtype(world.facts.choices)
        self.rank: int | None = None  # where the rule fixes it
        self.known: tuple[Any, ...] = ()  # sizes that the rule fixes, None for open ones
        self.given: tuple[Any, ...] | None = None
        self.value: Term | None = None  # of all elements
        self.ones = False  # one element only
        self.tensor: Tensor | None = None
        self.chosen: dict[str, tuple[Any, ...]] = {}  # what its whole numbers say, where an operator asked

    def demand(self, rank: int) -> None:
        """An operator takes tensors of this rank only."""
        if self.rank is not None and self.rank != rank:
            raise Impossible
        self.rank = rank

    def resolved(self) -> Tensor:
        if self.tensor is None:
            world = self.world
            shape = self.given
            if shape is None:
                rank = self.rank if self.rank is not None else world.choose_rank()
                if self.ones:
                    world.literal_ranks.append(rank)
                known = self.known if len(self.known) == rank else (None,) * rank
                sizes = (1 if self.ones else size for size in known)
                shape = tuple(world.facts.size(f"{self.name}{k}_") if size is None else size for k, size in enumerate(sizes))

            def at(index: tuple[Any, ...]) -> Term:
                return self.value if self.value is not None else read(self.name, tuple(world.facts.normal(k) for k in index))

            self.tensor = Tensor(shape, self.dtype, at, None, self.value, None, self)
        return self.tensor


class ConstantValue:
    """`v.value` of a constant of which nothing is known: equal to a number or not."""

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, float)) or isinstance(other, bool):
            raise NotProved("a constant's value is compared with something that is no number")
        if self.leaf.resolved().shape:
            return False
        if self.leaf.world.facts.choices.choose(2):
            return False
        self.leaf.value = number(other)
        self.leaf.tensor = Tensor((), self.leaf.dtype, lambda index: number(other), None, number(other))
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _unreadable(self, *_: object) -> Any:
        raise NotProved("a constant's value is read")

    __hash__ = __bool__ = __len__ = __getitem__ = __iter__ = __float__ = __int__ = __index__ = _unreadable  # type: ignore[assignment]
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unreadable
    __truediv__ = __rtruediv__ = __neg__ = __mod__ = __floordiv__ = __pow__ = _unreadable


class Types:
    """The types column of a symbolic graph, made when asked for."""

    def __init__(self, graph: SymbolicGraph) -> None:
        self.graph = graph

    def __getitem__(self, node: int) -> Any:
        value = self.graph.tensor(node)
        if not isinstance(value, Tensor):
            return None
        facts = self.graph.world.facts
        made = object.__new__(TensorType)  # not interned: symbolic sizes have no hash
        object.__setattr__(made, "shape", tuple(facts.normal(d) for d in value.shape))
        object.__setattr__(made, "dtype", value.dtype)
        return made


class SymbolicGraph:
    """What the evaluator of rules' values asks of a graph."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.op: list[str] = []
        self.operands: list[tuple[int, ...]] = []
        self.attrs: list[Attributes] = []
        self.values: list[Any] = []  # Leaf, Tensor or tuple of them
        self.types = Types(self)
        self.kinds: dict[int, str] = {}

    def add(self, op: str, operands: tuple[int, ...], attrs: Attributes, value: Any) -> int:
        self.op.append(op)
        self.operands.append(operands)
        self.attrs.append(attrs)
        self.values.append(value)
        return len(self.op) - 1

    def tensor(self, node: int) -> Value:
        return self._resolved(self.values[node])

    def _resolved(self, value: Any) -> Value:
        if isinstance(value, Leaf):
            return value.resolved()
        if isinstance(value, tuple):
            return tuple(self._resolved(v) for v in value)
        return value

    def value(self, node: int) -> Any:
        leaf = self.values[node]
        if isinstance(leaf, Leaf) and leaf.value is not None and leaf.value.constant is not None and leaf.ones:
            constant_ = leaf.value.constant
            import numpy

            return numpy.asarray(int(constant_) if constant_.denominator == 1 else float(constant_)).reshape((1,) * len(leaf.resolved().shape))
        return ConstantValue(leaf)

    def label(self, node: int) -> str:
        return self.op[node]

    def is_call(self, node: int) -> bool:
        return not self.op[node].startswith("%")

    def kind(self, node: int) -> str:
        """Any that the pattern allows."""
        if node not in self.kinds:
            allowed: tuple[str, ...] = {CONST: ("const",), PROJ: ("proj",), TUPLE: ("tuple",)}.get(self.op[node], ("call",))
            if self.op[node] == INPUT:
                allowed = ("input", "param", "const", "call")
            self.kinds[node] = allowed[self.world.facts.choices.choose(len(allowed))]
        return self.kinds[node]
