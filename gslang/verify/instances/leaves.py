"""Leaves of instances: inputs and constants with the shapes, types and values that a rule's constraints ask
for.

Also the state of an attempt, in which constraints are computed. Not here: calls and what is above them
(`make`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import within_captures
from gslang.dialect.dtypes import numpy_dtype
from gslang.dialect.tensor_type import TensorType, TupleType, Type, is_static
from gslang.engine.lower import mentions_another
from gslang.engine.proposals import UNSAID, Proposals, fits
from gslang.engine.scope import UNBOUND, Scope
from gslang.graph.graph import ABSENT, INPUT, PARAM, Graph
from gslang.graph.inference import infer_node
from gslang.verify.instances.open_numbers import not_computed_with, open_numbers
from gslang.verify.instances.operand_types import rare_types, stated_types
from gslang.verify.reads import may_have, parts_of_shapes, ranks_stated
from gslang.verify.samplers.onnx import ONNX_SAMPLERS
from gslang.verify.samplers.relay import RELAY_SAMPLERS
from gslang.verify.samplers.sample import Only, Shape, some_shape

# (pattern node, field) → the value that a `where` condition asked for, found in an earlier attempt; of one
# instance of a block if the field says so (`of_instance`)
Wishes = Mapping[tuple[int, str], Any]


MOST_DIMENSIONS = 10  # of an input
LARGEST = 80_000  # size of an axis of one
_SMALL = 0.3  # share of constants with one element: conditions often ask for one number
_SMALL_ANYWAY = 0.03  # where the operator needs another shape
_ABSENT_ATTRIBUTE = 0.3  # share of operands that are left out where the rule reads them as attributes
_BROADCAST = 0.75  # share of shapes of a stated rank that broadcast with what stands beside them
_NOTHING = 0.08  # share of attempts with an input of no elements, in rules that may tell these apart
_RARE = 0.08  # share of attempts with a type of whole numbers that few models have
_AS_STATED = 0.5  # share of attempts in which inputs of open types have one that the rule states of another
_WIDE = (7, 2, 7, 4)  # dimensions of literal numbers, in turn: mostly more than any input has
_SIZES = (1, 2, 3, 4, 6, -1)  # that a reshape asks for


def of_instance(field: str, index: int) -> str:
    """The field of a wish for one instance of a block."""
    return f"{field}@{index}"


def under(wishes: Wishes, index: int) -> Wishes:
    """The wishes as they are for an instance of a block."""
    mark = of_instance("", index)
    own = {(n, f.removesuffix(mark)): value for (n, f), value in wishes.items() if f.endswith(mark)}
    return {**wishes, **own} if own else wishes


class Misfit(Exception):
    """This attempt leads nowhere. The message names what did not fit."""


class Leaves:
    """The state of one attempt, and how its leaves are made."""

    def __init__(
        self,
        rule: ir.CheckedRule,
        seed: int,
        wishes: Wishes,
        wide_literals: bool = False,
        stressed: tuple[str, str] | None = None,
        dtype: str | None = None,
    ) -> None:
        self.wide_literals = wide_literals
        self.wide: set[int] = set()  # nodes that are literals with more dimensions than need be
        self.has_literals = False  # one was made whose number of dimensions is open
        # an operator and its attribute that shall have an uncommon value, as most others shall
        self.stressed = stressed
        self.rule, self.seed, self.wishes, self.wished = rule, seed, wishes, wishes
        self.rng = Random(f"{rule.name} {seed}")
        self.graph = Graph(rule.dialect.name, rule.name)
        self.scope = Scope(rule, self.graph, [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks])
        # ONNX declares for which types an operator is; its inference does not look, so integers would slip
        # through.
        self.dtype = self.rng.choice(
            ("float32",) * 9 + ("float64", "float16", "int32", "int32", "int64", "int8", "uint8")
        )
        of_type = Random(f"{rule.name} {seed} type")
        if of_type.random() < _RARE and (rare := rare_types(rule)):
            self.dtype = of_type.choice(rare)
        if (stated := stated_types(rule)) and of_type.random() < _AS_STATED:
            self.dtype = of_type.choice(stated)
        if dtype is not None:
            self.dtype = dtype
        for (number, name), value in wishes.items():
            if name == "dtype" and number in rule.leaves and isinstance(value, str):
                self.dtype = value  # the others follow
        self.drawn_type = self.dtype  # of the attempt; `dtype` is that of the node that is made next
        self.branches: dict[str, int] = {}
        self.counts: list[int] = []
        self.join_axis: int | None = None  # of the concatenation whose fields are being made
        self.field_shape: Shape | None = None  # of the field whose instances are being made
        self.lengthened: int | None = None  # the axis along which these differ in length
        self.beside: Shape | None = None  # what the element-wise call that is made next stands beside
        self.rank: int | None = None  # that the call above needs of the one that is made next
        self.hint: Any = None  # a value for the operand that is made next
        self.settled = False  # whether the rule fixes that value; None then stands for an absent operand
        self.shaped = False  # whether the operand that is made next needs the shape that is proposed
        self.needed = False  # whether its operator demands that it is there
        self.as_attribute = False  # whether it is read as an attribute: then it is constant, or absent
        # the first input has no elements: only then does `allowzero` make a difference
        self.empty = stressed == ("Reshape", "allowzero") or (
            may_have(rule, "allowzero") and Random(f"{rule.name} {seed} empty").random() < _NOTHING
        )
        self.proposals = _AtRandom(self.scope, self.seed, self.rng)
        self.sizes = parts_of_shapes(rule)
        self.said_ranks = ranks_stated(rule.where, rule.lets)
        self.samplers = ONNX_SAMPLERS if rule.dialect.name == "onnx" else RELAY_SAMPLERS

    def bound(self, number: int) -> int:
        """The graph node of a pattern node, in the current instance of its block; `UNBOUND` if there is none.
        """
        block = self.rule.nodes[number].block
        if block is not None and self.scope.current is None:
            return UNBOUND
        slots = self.scope.slots_of(block)
        return slots[number] if isinstance(slots, list) else slots.get(number, UNBOUND)

    def bind(self, number: int, slot: int) -> int:
        """Remember the graph node of a pattern node; it is returned."""
        self.scope.slots_of(self.rule.nodes[number].block)[number] = slot
        name = self.wishes.get((number, "name"))
        if name is not None and slot >= 0 and name not in self.graph.names:
            self.graph.names[slot] = name
        return slot

    def dice(self, number: int, about: str = "") -> Random:
        """Choices of one node: the same in every attempt with this seed, whatever was wished for elsewhere.
        `about`: which of its choices.
        """
        current = self.scope.current
        place = None if current is None else current.index
        return Random(f"{self.rule.name} {self.seed} {number} {place}{about}")

    def typed(self, slot: int) -> int:
        """Infer the type of a new node, which is returned. Raises `TypeInferenceError`."""
        self.graph.types[slot] = infer_node(self.graph, self.rule.dialect, slot)
        return slot

    def shape_of(self, slot: int) -> Shape | None:
        """The shape of a node (of the first field of a tuple), None where it is not known."""
        return shape_of_type(self.graph.types[slot]) if slot >= 0 else None

    def leaf(self, number: int, leaf: ir.LeafNode, proposed: Shape | None) -> int:
        rng = self.dice(number)
        hint, settled, needed, as_attribute = self.hint, self.settled, self.needed, self.as_attribute
        self.hint, self.settled, self.needed, self.as_attribute = None, False, False, False
        share = _ABSENT_ATTRIBUTE if as_attribute else 0.1 if isinstance(hint, tuple) else 0.35
        absent = hint is None if settled else rng.random() < share
        if leaf.optional and not needed and self.wishes.get((number, "%absent"), absent):
            return ABSENT
        if leaf.kind == "op":
            raise Misfit("an operator variable is not a tensor")
        shape: Any = self.wanted(
            number, "shape", proposed if proposed is not None else self.field_shape or some_shape(rng)
        )
        dtype: Any = self.wanted(number, "dtype", self.dtype)
        if self.empty and shape and hint is None and isinstance(shape, tuple):
            self.empty, at = False, rng.randrange(len(shape))
            shape = shape if 0 in shape else (*shape[:at], 0, *shape[at + 1 :])
        stated = None if (number, "shape") in self.wishes else self.said_ranks.get(number)
        rank = self.wanted(number, "ndim", stated)
        if isinstance(rank, int) and rank != len(shape) and 0 <= rank <= MOST_DIMENSIONS:
            shape = some_shape(rng, rank) if rng.random() < 0.3 else _of_rank(shape, rank, rng)
        if not isinstance(shape, tuple) or not all(isinstance(d, int) and 0 <= d <= LARGEST for d in shape):
            raise Misfit(f"no tensor has the shape {shape}")
        if (number, "shape") in self.wishes and isinstance(hint, tuple) and shape != (len(hint),):
            hint, settled = None, False  # it would take another shape
        wished = self.wishes.get((number, "kind"))
        kind = self.kind_of(number, leaf, rng, hint, settled, as_attribute)
        if leaf.kind == "any" and (wished in ("call", "proj") or (number, "op") in self.wishes):
            if wished == "call" and self.rule.dialect.name == "onnx" and isinstance(hint, tuple):
                return self.shape_operand(hint)
            return self.computed(shape, dtype, self.wishes.get((number, "op")), wished == "proj")
        if kind == "const":
            if dtype == "bfloat16":
                raise Misfit("no constants of type bfloat16")
            value = hint.value if isinstance(hint, Only) else hint
            return self.constant(number, leaf, shape, dtype, rng, value, as_attribute)
        if leaf.is_input and proposed is not None and leaf.kind in ("any", "var") and rng.random() < 0.08:
            for other in self.graph.nodes():  # inputs may coincide
                if self.graph.op[other] in (INPUT, PARAM) and self.graph.types[other] == TensorType(
                    shape, dtype
                ):
                    return other
        name = f"{leaf.name or 'x'}_{len(self.graph.op)}"
        return self.graph.add({"input": INPUT, "param": PARAM}[kind], (), {}, TensorType(shape, dtype), name)

    def forget_operand(self) -> None:
        """Forget what was said of the operand that is made next."""
        self.hint, self.settled, self.shaped = None, False, False
        self.needed, self.as_attribute = False, False

    def kind_of(
        self, number: int, leaf: ir.LeafNode, rng: Random, hint: object, settled: bool, as_attribute: bool
    ) -> str:
        """The kind of node that a leaf becomes. `hint`: a value for it; `settled`: the rule fixes that."""
        kind = (
            leaf.kind if leaf.kind not in ("any", "var", "fixed")
            else rng.choice(("const", "param") if leaf.kind == "fixed" else ("input", "input", "param"))
        )
        if (
            leaf.kind in ("any", "fixed") and hint is not None
            and (settled or isinstance(hint, (tuple, Only)) or rng.random() < 0.6)
        ):
            kind = "const"  # an axis or a shape that is not known says too little
        if leaf.kind in ("any", "fixed") and (as_attribute or (number, "value") in self.wishes):
            kind = "const"
        wished = self.wishes.get((number, "kind"))
        if (
            wished in ("const", "input", "param") and leaf.kind in ("any", "var", "fixed", wished)
            and not (leaf.kind == "fixed" and wished == "input")
        ):
            kind = str(wished)
        return kind

    def computed(self, shape: Shape, dtype: str, operator: str | None, field: bool) -> int:
        """An operand that a call computes, of this operator where one is wished for, or that is a result of
        one.
        """
        onnx = self.rule.dialect.name == "onnx"
        if not field and not dtype.startswith("float"):
            raise Misfit("a call of an element-wise function is for floats")
        below = self.graph.add(INPUT, (), {}, TensorType(shape, dtype), f"below_{len(self.graph.op)}")
        if field:
            if not shape:
                raise Misfit("a scalar cannot be split")
            attrs: dict[str, object] = (
                {"axis": 0, "num_outputs": 1} if onnx else {"axis": 0, "indices_or_sections": 1}
            )
            whole = self.typed(self.graph.add("Split" if onnx else "split", (below,), attrs))
            return self.typed(self.graph.add_proj(whole, 0))
        operator = operator or ("Tanh" if onnx else "tanh")
        signature = self.rule.dialect.get(operator)
        if signature is None or len([o for o in signature.operands if not o.optional]) != 1:
            raise Misfit(f"no call of `{operator}` is made for an input")
        return self.typed(self.graph.add(operator, (below,), {}))

    def shape_operand(self, hint: object) -> int:
        """An operand that is computed, and known all the same: the shape of another tensor."""
        if not isinstance(hint, tuple) or not all(isinstance(d, int) and d > 0 for d in hint):
            raise Misfit("no call is known that computes such an operand")
        other = self.graph.add(INPUT, (), {}, TensorType(hint, "float32"), f"shaped_{len(self.graph.op)}")
        return self.typed(self.graph.add("Shape", (other,), {}))

    def constant(
        self, number: int, leaf: ir.LeafNode, shape: Shape, dtype: str, rng: Random, hint: object,
        as_attribute: bool,
    ) -> int:  # fmt: skip
        import numpy as np

        value: Any = None
        wide = False
        stated = (
            bool(leaf.asked("shape")) or (number, "shape") in self.wishes
        )
        splat = False
        for test in leaf.asked("value"):
            splat = isinstance(test, ir.SplatEquals)
            value = self.concrete(test, None)
        if (number, "value") in self.wishes:
            value = self.wishes[number, "value"]
        if value is None and hint is not None:
            value = hint
        if value is None and not stated and rng.random() < (_SMALL_ANYWAY if self.shaped else _SMALL):
            shape = rng.choice(((), (), (1,)))
        if value is None:
            count = int(np.prod(shape))
            if number in self.sizes and dtype.startswith(("int", "uint")):
                value = [abs(d) if dtype[0] == "u" else d for d in rng.choices(_SIZES, k=count)]
            else:
                value = open_numbers(rng, dtype, count, number not in not_computed_with(self.rule))
            array = np.asarray(value).reshape(shape)
        elif isinstance(value, tuple):
            array = np.asarray(value)
        elif splat or as_attribute and shape == (1,):  # the operator takes a list of one there
            array = np.full(shape, value)
        else:  # one element, which may have more dimensions than any other operand
            self.has_literals |= not stated
            wide = not stated and self.wide_literals
            if wide:
                shape = (1,) * _WIDE[self.seed % len(_WIDE)]
            elif not stated:
                shape = (1,) if isinstance(hint, tuple) else ()  # the operator takes a list there
            array = np.full(shape, value)
        with np.errstate(over="ignore", invalid="ignore"):  # any value of this type will do
            array = array.astype(numpy_dtype(dtype))
        slot = self.graph.add_const(array, TensorType(tuple(array.shape), dtype))
        if wide:
            self.wide.add(slot)
        return slot

    def wanted(self, number: int, field: str, default: object) -> Any:
        """The value that the constraints on `field` of a node demand; `default` where they leave it open."""
        if (number, field) in self.wishes:
            default = self.wishes[number, field]
        for constraint in self.rule.nodes[number].tests:
            if constraint.field == field:
                if field == "shape" and self.dice(-1 - number).random() < _BROADCAST:
                    default = _with_axes(default, within_captures(constraint.test))
                if not reads_itself(self.rule, constraint, self.scope):
                    default = self.concrete(constraint.test, default)
                elif isinstance(constraint.test, ir.TupleTest) and isinstance(default, tuple):
                    if constraint.test.back is None and not constraint.test.fits(len(default)):
                        default = some_shape(self.dice(number), len(constraint.test.items))
        return default

    def concrete(self, test: ir.Test, default: object) -> Any:
        """A value that passes `test`, close to `default`; None: there is none.

        Captures are bound. Raises what evaluations may fail with.
        """
        found = self.proposals(test, UNSAID if default is None else default)
        return None if found is UNSAID else found


def _with_axes(shape: object, test: ir.Test) -> object:
    """The last axes of a shape, or it with axes of 1 in front, where a test states another number of axes."""
    if not isinstance(test, ir.TupleTest) or test.back is not None or not isinstance(shape, tuple):
        return shape
    return _of_rank(shape, len(test.items), None)


def _of_rank(shape: Shape, rank: int, rng: Random | None) -> Shape:
    """The last axes of a shape, or it with other axes in front, of any size with `rng`, else of 1."""
    more = range(rank - len(shape))
    return (*[1 if rng is None else rng.choice((1, 2, 3)) for _ in more], *shape[max(0, len(shape) - rank) :])


@lru_cache(maxsize=4096)
def shape_of_type(type_: Type | None) -> Shape | None:
    """The shape of a type (of the first field of a tuple), None where it is not known."""
    if isinstance(type_, TupleType):
        type_ = type_.fields[0] if type_.fields else None
    if isinstance(type_, TensorType) and is_static(type_.shape):
        return tuple([d for d in type_.shape or () if isinstance(d, int)])
    return None


class _AtRandom(Proposals):
    """Proposals of one attempt: what tests leave open is drawn."""

    def __init__(self, scope: Scope, seed: int, rng: Random) -> None:
        super().__init__(scope)
        self.seed, self.rng = seed, rng

    def picked(self, tests: tuple[ir.Test, ...]) -> ir.Test:
        """One at random, the same each time it is asked in this attempt."""
        rule, current = self.scope.rule, self.scope.current
        place = f"{rule.name} {self.seed} {tests!r} {None if current is None else current.index}"
        return Random(place).choice(tests)

    def items(self, default: object, count: int, more: bool) -> tuple[Any, ...]:
        return default if fits(default, count, more) else some_shape(self.rng, count)


def reads_itself(rule: ir.CheckedRule, constraint: ir.Constraint, scope: Scope) -> bool:
    """On the first instance, a constraint that reads `first` is one between an instance and itself."""
    return scope.current is not None and scope.current.index == 0 and mentions_another(constraint, rule.lets)
