"""Values of the source's attributes where the rule leaves them open: sizes stay symbolic, the rest becomes
cases.

What is left out is noted in `World.notes` as an assumption of the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from typing import Any

from gslang.dialect.signature import AttributeSpec
from gslang.verify.prove.operators.relay_movement import AnyShape
from gslang.verify.prove.operators.slices import OpenSlice, nonzero
from gslang.verify.prove.operators.tensors import Tensor, Value, World
from gslang.verify.prove.terms.dtypes import Dtype
from gslang.verify.prove.terms.opaque import Opaque
from gslang.verify.prove.terms.paths import DOMAIN, Choices, Impossible, NotProved
from gslang.verify.prove.terms.reals import Real
from gslang.verify.prove.terms.sizes import Number

SAYS_NOTHING = frozenset({"stash_type", "momentum", "seed"})  # about values over real numbers


class Written:
    """An attribute whose meaning can be written in several ways: `plain` is what operators compute with.

    Which way it is written becomes a case when the rule reads it. `anywhere`: it means the same in each call.
    """

    def __init__(
        self,
        choices: Choices,
        plain: object,
        ways: Sequence[Callable[[], object]],
        optional: bool = False,
        anywhere: bool = False,
    ) -> None:
        self.choices, self._plain, self.ways, self.anywhere = choices, plain, ways, anywhere
        # it may be absent, then it demands nothing; in the target it must fit all the same
        self.optional = optional
        self.chosen: tuple[object, ...] = ()

    @property
    def plain(self) -> object:
        """Its meaning."""
        return self._plain

    def resolved(self) -> object:
        """The value as it is written."""
        if not self.chosen:
            self.chosen = (self.ways[self.choices.choose(len(self.ways))](),)
        return self.chosen[0]


class Unsettled(Written):
    """An attribute that an operator computes with whatever its value is: it has one as soon as the rule
    reads it. The text is its name.
    """

    def __init__(self, choices: Choices, name: str, ways: Sequence[Callable[[], object]]) -> None:
        super().__init__(choices, self, ways, anywhere=True)
        self.name = name

    def __str__(self) -> str:
        return self.name


class Either(Unsettled):
    """A truth value that becomes a case where an operator asks for it: most calls are such that it says
    nothing.
    """

    def __init__(self, choices: Choices, name: str) -> None:
        super().__init__(choices, name, [lambda: 0, lambda: 1])

    def __bool__(self) -> bool:
        return bool(self.resolved())


def settled(value: object) -> object:
    """The value of an attribute, where the rule has read it; else the attribute itself."""
    return value.chosen[0] if isinstance(value, Unsettled) and value.chosen else value


class Attributes(dict[str, Any]):
    """Attributes of a symbolic call: what is looked up is resolved; `items()` gives them as they are.
    `fitting`: those that pass their tests whatever becomes of them.
    """

    fitting: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return value.resolved() if isinstance(value, Written) else value

    def plain_or(self, name: str, default: str) -> Any:
        """The meaning of one attribute, or `default` where it has none yet."""
        value = self.get(name, default)
        return value.plain if isinstance(value, Written) else value

    def plain(self, reading: bool) -> dict[str, object]:
        """The context that operators compute with; `reading`: in the source, where what may be absent is
        taken to demand nothing."""
        return {
            name: value if not isinstance(value, Written)
            else None if value.optional and reading
            else value.plain
            for name, value in self.items()
        }


# The least value of the numbers in an attribute that has a list of them.
LEAST = {
    "strides": 1,
    "dilation": 1,
    "padding": 0,
    "indices_or_sections": 0,
    "kernel_size": 1,
    "pool_size": 1,
    "groups": 1,
    "num_groups": 1,
    "pad_width": 0,
    "pads": 0,
    "dilations": 1,
    "kernel_shape": 1,
    "shape": 1,
    "newshape": 1,
}
_AXIS_LISTS = frozenset(
    {"sum", "mean", "max", "min", "prod", "all", "any", "variance", "argmax", "argmin", "nn.l2_normalize"}
)
_KERNELS = {1: ("OIW", "WIO"), 2: ("OIHW", "HWIO", "OHWI", "IOHW"), 3: ("OIDHW", "DHWIO")}
_DATA = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def fresh(world: World, operator: str, name: str, depth: int = 1) -> object:
    """A number in a list that the rule leaves open; `depth`: in how many lists it stands."""
    if name == "pad_width" and depth == 1:
        return fresh(world, operator, name, 2), fresh(world, operator, name, 2)
    if operator == "strided_slice":
        return nonzero(world) if name == "strides" else world.facts.size(name, None)
    if name not in LEAST:
        raise NotProved(f"the items of `{name}` are unconstrained")
    return world.facts.size(name, LEAST[name])


def fresh_shape(world: World, name: str, said: Tensor | None = None) -> tuple[Number, ...]:
    """A shape that may be any: its rank is a case unless the length of the vector `said` is known or the rule
    says it, its sizes are new.
    """
    length, wanted = None if said is None else world.facts.normal(said.shape[0]), world.wanted_rank
    if type(length) is int:
        rank = length
    else:
        rank = world.choose_rank() if wanted is None else wanted
    return tuple(world.facts.size(name) for _ in range(rank))


def attribute(
    world: World, operator: str, spec: AttributeSpec, operands: Sequence[Value], attrs: Attributes
) -> object:
    """A value of an attribute: one of several cases, with symbolic numbers."""
    # Long on purpose: flat, an attribute after the other.
    name, choices = spec.name, world.facts.choices
    first = operands[0] if operands else None
    rank = (
        len(first.shape) if isinstance(first, Tensor)
        else len(first[0].shape) if isinstance(first, tuple) and first
        else 0
    )
    bases = {t.base for t in spec.types}
    if name == "axis":
        return _axis(operator, rank, choices)
    if name == "axes" and operator == "transpose":
        return any_order(choices, rank, lambda order: signed(choices, order, rank))
    if operator.startswith("nn.conv") and operator[-2:] in ("1d", "2d", "3d"):
        return _of_convolution(world, name, int(operator[-2]), operands, attrs, choices)
    if name == "units":
        return _units(world, operator, operands, attrs)
    if name == "newshape":
        return AnyShape(fresh_shape(world, "new"))
    if name == "shape" and operator == "broadcast_to":
        more = world.choose_rank(rank)
        return tuple(world.facts.size("wide") for _ in range(more))
    if name == "shape":
        return fresh_shape(world, "made")
    if operator == "dyn.strided_slice" and name == "slice_mode":
        return ("end", "size")[choices.choose(2)]
    if operator == "strided_slice":
        return _of_slice(world, name, first.shape if isinstance(first, Tensor) else (), attrs, choices)
    if name == "pad_width":
        return tuple((world.facts.size("before", 0), world.facts.size("after", 0)) for _ in range(rank))
    if name == "indices_or_sections":
        return _sections(world, choices)
    if name in ("src_layout", "dst_layout"):
        return _layout(world, name, rank, attrs, choices)
    if name == "num_newaxis":
        world.notes.add("at most two axes are inserted at once")
        return (1, 2, 0)[choices.choose(3)]
    if name in LEAST and bases == {"int"} and not any(t.depth for t in spec.types):
        return world.facts.size(name, LEAST[name])
    if operator == "reshape_like":
        return _of_range(world, name, operands[0] if name.startswith("lhs") else operands[1], attrs, choices)
    if bases == {"int"} and operator == "fixed_point_multiply":
        return world.facts.size(name, None)
    if bases == {"dtype"}:
        dtype: object = Dtype(choices)
        return dtype if spec.default != "" or choices.choose(2) else ""
    if bases == {"bool"}:
        return (False, True)[choices.choose(2)]
    if bases == {"float"} and not any(t.depth or t.optional for t in spec.types):
        return Real.named(f"{name}#{world.facts.number()}", choices)
    raise NotProved(f"attribute `{name}` of `{operator}` is unconstrained")


def any_order(choices: Choices, rank: int, written: Callable[[tuple[int, ...]], object]) -> Written:
    """Any order of the axes; the one that is the default may be left out."""
    orders = list(permutations(range(rank)))
    order = orders[choices.choose(len(orders))]
    ways: list[Callable[[], object]] = [lambda: written(order)]
    if order == tuple(range(rank))[::-1]:
        ways.append(lambda: None)
    return Written(choices, order, ways)


_PARTS = 4  # more than instances of blocks are looked at one by one (`counted`)


def _sections(world: World, choices: Choices) -> object:
    """A number of equal parts, or the places between parts."""
    world.notes.add(f"splits into up to {_PARTS} parts")
    count = choices.choose(_PARTS) + 1
    if choices.choose(2):
        return count
    return tuple(world.facts.size("cut", LEAST["indices_or_sections"]) for _ in range(count - 1))


def _of_range(world: World, name: str, side: Any, attrs: Attributes, choices: Choices) -> object:
    """An end of the dimensions that a `reshape_like` takes from one of its sides."""
    world.notes.add("`lhs_begin` and similar attributes are non-negative")
    least = attrs.get(name.replace("end", "begin"), 0)
    value = choices.choose(len(side.shape) + 1)
    if value < least:
        raise Impossible(DOMAIN)
    if name.endswith("end") and value == len(side.shape):
        return Written(choices, value, [lambda: value, lambda: None])
    return value


def _units(world: World, operator: str, operands: Sequence[Value], attrs: Attributes) -> Written:
    """The columns of a product of matrices, which may be given: for `nn.matmul` they are the second axis of
    the second matrix unless that is turned."""
    if operator not in ("nn.dense", "nn.matmul"):
        raise NotProved("`units` is not supported")
    if len(operands[1].shape) != 2:
        raise Impossible(DOMAIN)
    turned = operator == "nn.dense" or attrs["transpose_b"]
    columns = operands[1].shape[0 if turned else 1]
    return Written(world.facts.choices, columns, [lambda: None, lambda: world.facts.normal(columns)], True)


def _of_slice(
    world: World, name: str, shape: Sequence[Number], attrs: Attributes, choices: Choices
) -> object:
    """Of a slice of which nothing is said but perhaps the strides or the mode; else none of these are there.
    """
    begin = attrs.get("begin")
    if name == "begin":
        return OpenSlice(world, shape)
    if isinstance(begin, OpenSlice):
        match name:
            case "end":
                return begin
            case "strides":
                world.notes.add("strides are absent, a single number, or one per axis")

                def all_ones() -> None:
                    for step in begin.steps():
                        world.facts.learn_equal(step, 1)

                def all_alike() -> tuple[object, ...]:
                    first, *others = begin.steps()
                    for other in others:
                        world.facts.learn_equal(first, other)
                    return (world.facts.normal(first),)

                return Written(
                    choices, begin, [begin.steps, all_ones, all_alike][: 3 if shape else 2], anywhere=True
                )
            case "slice_mode":
                return Written(choices, begin, [lambda: "end", lambda: "size"], anywhere=True)
            case "axes":
                return Unread("axes")
    if name == "strides" and type(attrs.get("begin")) is tuple:
        world.notes.add("strides are absent, a single number, or one per axis")
        count = (0, 1, len(attrs["begin"]))[choices.choose(3 if len(attrs["begin"]) > 1 else 2)]
        return tuple(nonzero(world) for _ in range(count)) or None
    if name == "slice_mode":
        return ("end", "size")[choices.choose(2)]
    raise NotProved(f"attribute `{name}` of `strided_slice` is unconstrained")


class Unread(Opaque):
    """An attribute that may be any and has no meaning of its own, as long as no rule reads it."""

    def __init__(self, name: str) -> None:
        self.name = name


def signed(choices: Choices, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes, each written from the front or from the end."""
    return tuple(a - rank * choices.choose(2) for a in axes)


def _axis(operator: str, rank: int, choices: Choices) -> object:
    def written(axis: int, rank: int) -> Written:
        return Written(choices, axis, [lambda: axis, lambda: axis - rank])

    if operator in ("expand_dims", "stack"):
        return written(choices.choose(rank + 1), rank + 1)
    if operator == "squeeze" or operator in _AXIS_LISTS:
        subsets = [s for k in range(rank + 1) for s in combinations(range(rank), k)]
        if operator == "squeeze" and choices.choose(2):
            return None
        axes = subsets[choices.choose(len(subsets))]

        def listed() -> tuple[int, ...]:
            orders = list(permutations(axes))
            return signed(choices, orders[choices.choose(len(orders))], rank)

        ways: list[Callable[[], object]] = [listed]
        if len(axes) == 1:
            ways += [lambda: axes[0], lambda: axes[0] - rank]
        if len(axes) == rank and operator != "squeeze":
            ways.append(lambda: None)
        return Written(choices, axes, ways)
    return written(choices.choose(rank), rank)


def _of_convolution(
    world: World, name: str, rank: int, operands: Sequence[Value], attrs: Attributes, choices: Choices
) -> object:
    facts = world.facts

    def all_equal(numbers: tuple[Number, ...]) -> Number:
        for other in numbers[1:]:
            facts.learn_equal(numbers[0], other)
        return numbers[0]

    match name:
        case "strides" | "dilation":
            each = tuple(facts.size(name) for _ in range(rank))
            return Written(
                choices, each,
                [lambda: facts.normals(each), lambda: (facts.normal(all_equal(each)),)][
                    : 2 if rank > 1 else 1
                ],
            )
        case "padding":
            pads = tuple(facts.size(name, 0) for _ in range(2 * rank))

            def by_axis() -> object:
                for k in range(rank):
                    facts.learn_equal(pads[k], pads[rank + k])
                return facts.normals(pads[:rank])

            ways: list[Callable[[], object]] = [lambda: tuple(map(facts.normal, pads)), by_axis]
            if rank > 1:
                ways.append(lambda: (facts.normal(all_equal(pads)),))
            return Written(choices, pads, ways)
        case "groups":
            return facts.size(name)
        case "channels":
            at = attrs.plain_or("kernel_layout", _KERNELS[rank][0]).index("O")
            return Written(
                choices, operands[1].shape[at], [lambda: None, lambda: facts.normal(operands[1].shape[at])],
                True,
            )
        case "kernel_size":
            layout = attrs.plain_or("kernel_layout", _KERNELS[rank][0])
            places = [k for k, letter in enumerate(layout) if letter not in "OI"]
            window = tuple(operands[1].shape[k] for k in places)
            return Written(choices, window, [lambda: None, lambda: tuple(map(facts.normal, window))], True)
        case "data_layout" | "kernel_layout" | "out_layout":
            return _layout_of_convolution(world, name, rank, attrs, choices)
        case "out_dtype":
            own = operands[0].dtype
            if choices.choose(2) == 0:
                return Written(choices, "", [lambda: "", lambda: own])
            return Dtype(choices, own)
    raise NotProved(f"attribute `{name}` of a convolution is unconstrained")


def _layout_of_convolution(
    world: World, name: str, rank: int, attrs: Attributes, choices: Choices
) -> object:
    if name == "data_layout":
        world.notes.add(f"data layout {' or '.join(_DATA[rank])}")
        return _DATA[rank][choices.choose(2)]
    if name == "kernel_layout":
        world.notes.add(f"kernel layout {' or '.join(_KERNELS[rank])}")
        return _KERNELS[rank][choices.choose(len(_KERNELS[rank]))]
    data = attrs.plain_or("data_layout", _DATA[rank][0])
    if choices.choose(2) == 0:
        return Written(choices, "", [lambda: "", lambda: data])
    return next(layout for layout in _DATA[rank] if layout != data)


def _layout(world: World, name: str, rank: int, attrs: Attributes, choices: Choices) -> str:
    world.notes.add("layouts list each axis once, unblocked")
    letters = "NCHWDE"[:rank]
    if name == "src_layout" or "src_layout" not in attrs:
        return letters
    orders = list(permutations(attrs["src_layout"]))
    return "".join(orders[choices.choose(len(orders))])
