"""The source of a rule as a graph of symbolic tensors: as much of a graph as the evaluator of rules' values
asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import ABSENT, CONST, PROJ, TUPLE
from gslang.verify.prove.axioms import apply
from gslang.verify.prove.domains import Attributes
from gslang.verify.prove.dtypes import REAL, Dtype, restrict, takes
from gslang.verify.prove.opaque import Opaque, unanswered
from gslang.verify.prove.paths import OPERATOR, Impossible, NotProved
from gslang.verify.prove.reals import Near, Real, Token, as_term
from gslang.verify.prove.sizes import Number, text_of
from gslang.verify.prove.tensors import Tensor, Value, World
from gslang.verify.prove.terms import ONE, Term, of_size, read

# What conditions say of each row of a constant, along its last axis (`Leaf.rows`).
ONE_IS_TRUE, ONE_IS_A_NUMBER, NONE_IS_INFINITE = "one is true", "one is a number", "none is +∞"


class Leaf:
    """An input of the source; its rank is a case that is split when it is first looked at."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.dtype: str | Dtype = Dtype(world.facts.choices)
        self.rank: int | None = None  # where the rule fixes it
        self.fewest = 0  # the least rank that operators take
        self.most: int | None = None  # the largest one
        self.ranked: Leaf | None = None  # another one of the same rank
        self.known: tuple[Number | None, ...] = ()  # sizes that the rule fixes, None for open ones
        self.given: tuple[Number, ...] | None = None
        self.value: Term | None = None  # of all elements
        self.ones = False  # a literal number
        self.single = False  # one element only
        self.least = 1  # the least size of an axis
        self.is_vector = False  # its numbers say what a call does
        self.tensor: Tensor | None = None
        self.items: tuple[Any, ...] | None = None  # where the rule says which numbers it holds
        self.is_constant = False
        self.is_read = False  # a constant whose value the rule asks for
        self.numbers: tuple[Number, ...] | None = None  # of a vector of whole numbers
        self.number: Number | None = None  # of a single whole number that says a place
        self.spelled: Callable[[], tuple[Number, ...]] | None = None  # what makes them when a rule reads them
        self.chosen: dict[str, tuple[Any, ...]] = {}  # what its whole numbers say, where an operator asked
        # name in `chosen` → the shape that it is chosen for, and whether 0 is kept
        self.shapes: dict[str, tuple[tuple[Number, ...], object]] = {}
        self.written: dict[int, int] = {}  # the same, as the rule sees them
        self.says: list[Any] = []  # what conditions say of all of its elements (`for_all.Says`)
        self.above_0 = False  # each of them, by a condition
        self.rows: set[str] = set()  # what conditions say of each row
        self.like: Leaf | None = None  # another one with the same elements

    def demand(self, rank: int) -> None:
        """An operator takes tensors of this rank only."""
        if self.rank is not None and self.rank != rank:
            raise Impossible(OPERATOR)
        self.rank = rank

    def resolved(self) -> Tensor:
        """The tensor that it stands for; its rank and sizes are settled with the first question."""
        if self.tensor is None:
            world = self.world
            shape = self.given
            if shape is None:
                rank = self.rank
                if rank is None and self.ranked is not None:
                    rank = len(self.ranked.resolved().shape)
                if rank is None:
                    rank = world.choose_rank(self.fewest, self.most)
                known = self.known if len(self.known) == rank else (None,) * rank
                sizes = (1 if self.ones or self.single else size for size in known)
                shape = tuple(
                    world.facts.size(f"{self.name}{k}_", self.least) if size is None else size
                    for k, size in enumerate(sizes)
                )

            world.types[self.name] = self.dtype
            fraction = None if self.value is None else self.value.constant
            if fraction is not None and fraction.denominator != 1:
                restrict(self.dtype, frozenset({REAL}))  # no whole number is one half

            def at(index: tuple[Number, ...]) -> Term:
                if ONE_IS_TRUE in self.rows and text_of(world.facts.normal(shape[-1])) == "1":
                    return ONE
                if self.like is not None:
                    return self.like.resolved().at(index)  # type: ignore[no-any-return]
                if self.value is not None:
                    return self.value
                if self.number is not None:
                    return of_size(world.facts.normal(self.number))
                for said in self.says:
                    found = said.applied(world.facts, index, shape)
                    if isinstance(found, tuple):
                        index = found
                    elif found is not None:
                        return found if isinstance(found, Term) else of_size(found)
                element = read(self.name, world.facts.normals(index))
                if world.facts.choices.fixed:
                    key = next(iter(element.atoms())).key
                    element = world.facts.choices.fixed.get(key, element)
                return apply("truth", [element]) if takes(self.dtype, ("bool",)) else element

            self.tensor = Tensor(shape, self.dtype, at, None, self.value, self.items, self)
        return self.tensor


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


class ConstantValue(Opaque):
    """`v.value` of a constant of which nothing is known, or its part at position 0 of the first `taken` axes.

    One number can be compared and computed with, like any `Real`; a place that a call chose for this case is
    that number.
    """

    def __init__(self, leaf: Leaf, taken: int = 0) -> None:
        self.leaf, self.taken = leaf, taken

    @property
    def term(self) -> Term:
        """The number. Raises `NotProved` where there may be several."""
        tensor = self.leaf.resolved()
        if self.taken != len(tensor.shape):
            raise NotProved("reading the value of a constant is not supported here")
        return tensor.at((0,) * self.taken)

    def tensor(self) -> Tensor:
        """The constant, or its part, as a tensor."""
        whole, first = self.leaf.resolved(), (0,) * self.taken
        if not first:
            return whole
        return Tensor(whole.shape[self.taken :], whole.dtype, lambda index: whole.at((*first, *index)))

    def place(self) -> int | None:
        """The number, where a call chose a place in a vector for this case."""
        if len(self.leaf.chosen) == 1 and not self.leaf.resolved().shape:
            ((key, numbers),) = self.leaf.chosen.items()
            if key.startswith("places in "):
                return int(numbers[0])
        return None

    def real(self) -> Any:
        """The number, to compute with."""
        if (place := self.place()) is not None:
            return place
        if self.leaf.number is not None:
            return self.leaf.world.facts.normal(self.leaf.number)
        exact = self.term if self.leaf.world.is_real(self.leaf.dtype) else apply("order", [self.term])
        return Real(self.term, self.leaf.world.facts.choices, exact)

    def _is_like(self, other: ConstantValue) -> bool:
        """True if two constants hold the same numbers: a case; then one stands for the other."""
        if self.leaf is other.leaf and self.taken == other.taken:
            return True
        shapes = [value.leaf.resolved().shape[value.taken :] for value in (self, other)]
        if any(shapes) and (self.taken or other.taken):
            raise NotProved("comparing parts of constants is not supported")
        if not any(shapes):
            return bool(self.real() == other.real())
        if len(shapes[0]) != len(shapes[1]) or not all(map(self.leaf.world.facts.equal, *shapes)):
            raise NotProved("comparing constants of different shapes is not supported")
        if self.leaf.world.facts.choices.choose(2):
            return False
        other.leaf.like = self.leaf
        return True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ConstantValue):
            return self._is_like(other)
        if isinstance(other, (tuple, list)) and (found := self.vector()) is not None:
            return len(found) == len(other) and all(map(self.leaf.world.facts.equal, found, other))
        if isinstance(other, Real) and self.taken == len(self.leaf.resolved().shape):
            return bool(self.real() == other)
        if not isinstance(other, (int, float, Near)) or isinstance(other, bool):
            raise NotProved("a constant is compared with a non-number")
        if self.place() is not None or self.leaf.number is not None:
            return bool(self.real() == other)
        if self.taken < len(self.leaf.resolved().shape):
            return False  # an array
        if self.taken or self.leaf.value is not None:
            return bool(self.real() == other)
        if not self.leaf.world.facts.choices.decide():
            return False
        value = self.leaf.value = as_term(other)
        self.leaf.tensor = Tensor((), self.leaf.dtype, lambda index: value, None, value)
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __index__(self) -> int:
        if self.leaf.resolved().shape or len(self.leaf.chosen) != 1:
            raise NotProved("reading the value of a constant is not supported here")
        ((place,),) = self.leaf.chosen.values()
        return int(place)

    def vector(self) -> tuple[Number, ...] | None:
        """The numbers of a vector of whole numbers; None where they are not known one by one."""
        leaf = self.leaf if self.leaf.like is None else self.leaf.like
        if leaf.numbers is None and leaf.spelled is not None and not self.taken:
            leaf.numbers = leaf.spelled()
        found = leaf.items if leaf.items is not None else leaf.numbers
        if found is None and len(leaf.chosen) == 1 and not self.taken:
            ((key, numbers),) = leaf.chosen.items()
            if key.startswith("axes of "):
                return tuple(self.chosen(k) for k in range(len(numbers)))
            if not key.startswith("shape for ") and len(leaf.resolved().shape) == 1:
                found = numbers
        return None if found is None or self.taken else tuple(map(leaf.world.facts.normal, found))

    def __getitem__(self, place: Any) -> Any:
        if (found := self.vector()) is not None:
            return found[place]
        shape = self.leaf.resolved().shape
        if self.leaf.chosen and len(shape) == 1 and type(place) is int:
            return self.chosen(place)
        if type(place) is not int or place != 0 or self.taken >= len(self.leaf.resolved().shape):
            raise NotProved("reading the value of a constant is not supported here")
        return ConstantValue(self.leaf, self.taken + 1)

    def chosen(self, place: int) -> int:
        """An axis that a call chose for this case, written from the front or from the end."""
        if len(self.leaf.chosen) != 1:
            raise NotProved("reading axes used for tensors of several ranks is not supported")
        ((key, axes),) = self.leaf.chosen.items()
        rank = int(key.removeprefix("axes of ")) if key.startswith("axes of ") else None
        if (
            rank is None or not 0 <= place < len(axes)
            or not self.leaf.world.facts.equal(self.leaf.resolved().shape[0], len(axes))
        ):
            raise NotProved("reading the value of a constant is not supported here")
        if place not in self.leaf.written:
            self.leaf.written[place] = axes[place] - rank * self.leaf.world.facts.choices.choose(2)
        return int(self.leaf.written[place])

    def __len__(self) -> int:
        found = self.vector()
        if found is not None:
            return len(found)
        shape, facts = self.leaf.resolved().shape, self.leaf.world.facts
        if self.taken >= len(shape):
            raise NotProved("the length of a scalar is read")
        size = facts.normal(shape[self.taken])
        if type(size) is not int and not facts.equal(size, 1):
            raise NotProved("reading the length of a constant is not supported here")
        return size if type(size) is int else 1

    def __iter__(self) -> Iterator[Any]:
        if (found := self.vector()) is not None:
            return iter(found)
        shape = self.leaf.resolved().shape
        if self.taken >= len(shape) or not self.leaf.world.facts.equal(shape[self.taken], 1):
            raise NotProved("reading the value of a constant is not supported here")
        return iter((self[0],))

    def reshape(self, _: int) -> Any:
        """The elements in a row, as those of an array."""
        shape, facts = self.leaf.resolved().shape, self.leaf.world.facts
        if self.taken + 1 >= len(shape):
            return self
        if not all(facts.equal(size, 1) for size in shape[self.taken :]):
            raise NotProved("reading the value of a constant is not supported here")
        return (ConstantValue(self.leaf, len(shape)),)

    def __add__(self, other: object) -> Any:
        if type(other) is int and other == 0 and self.taken < len(self.leaf.resolved().shape):
            return self  # an array
        return self.real() + other

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return self.real() - other

    def __rsub__(self, other: object) -> Any:
        return other - self.real()

    def __mul__(self, other: object) -> Any:
        return self.real() * other

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return self.real() / other

    def __rtruediv__(self, other: object) -> Any:
        return other / self.real()

    def __neg__(self) -> Any:
        return -self.real()

    def __lt__(self, other: Any) -> bool:
        return bool(self.real() < other)

    def __le__(self, other: Any) -> bool:
        return bool(self.real() <= other)

    def __gt__(self, other: Any) -> bool:
        return bool(self.real() > other)

    def __ge__(self, other: Any) -> bool:
        return bool(self.real() >= other)

    __hash__ = unanswered  # type: ignore[assignment]


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
