"""Relay operators that compute: element-wise, reductions, normalisations (products: `relay_products`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.partial import SHIFTS
from gslang.verify.prove.operators.everywhere import need_valid
from gslang.verify.prove.operators.lows import weight
from gslang.verify.prove.operators.relay_movement import plain_axis, reshaped
from gslang.verify.prove.operators.relay_products import PRODUCTS
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.operators.truths import by_elements, of_bits
from gslang.verify.prove.operators.whole import is_partial, may_be_partial
from gslang.verify.prove.terms.axioms import WHOLE_FUNCTIONS, apply, maximum, square_root
from gslang.verify.prove.terms.dtypes import TRUTH, Dtype, name_of, settled
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.sizes import Number, is_number, product
from gslang.verify.prove.terms.terms import Term, inverse, of_size, unknown
from gslang.verify.prove.terms.totals import total


def elementwise(world: World, name: str, operands: Sequence[Tensor], dtype: str | Dtype) -> Tensor:
    """A function of the operands' elements, broadcast."""
    whole = name in _REAL | WHOLE_FUNCTIONS.keys() and not world.is_real(dtype)
    if whole and name in _REAL and not (name == "divide" and type(name_of(dtype)) is str):
        world.need_real(dtype)
    function = WHOLE_FUNCTIONS[name] if whole else name

    def of(arguments: list[Term]) -> Term:
        for condition, term in () if whole or is_partial(name, dtype) else partial(name, arguments):
            world.need_defined(condition, term)
        if (logic := of_bits(name)) is not None and settled(dtype) == TRUTH:
            return logic(*arguments)
        return apply(function, arguments)

    result = by_elements(
        world, of, operands, dtype, lambda values: not partial(name, values) and not is_partial(name, dtype)
    )
    if may_be_partial(name):
        need_valid(world, name, operands, result)
    return result


# Not for whole numbers.
_REAL = frozenset({
    "divide", "sqrt", "rsqrt", "exp", "log", "power", "sigmoid", "reciprocal", "Mish", "HardSigmoid",
    "HardSwish", "com.microsoft.QuickGelu", "leaky_relu", "ThresholdedRelu", "Elu", "Celu", "Softsign",
})
_PARTIAL = {
    **dict.fromkeys(("sqrt",), ">=0"), **dict.fromkeys(("log", "rsqrt", "log2", "log10"), ">0"),
    "reciprocal": "!=0",
}
_INVERSES = frozenset({"asin", "acos", "acosh", "atanh", "tan"})  # defined where nobody asks in another way


def partial(name: str, arguments: Sequence[Term]) -> list[tuple[str, Term]]:
    """The demand of a function on its arguments: `need_defined`."""
    if name in _PARTIAL:
        return [(_PARTIAL[name], arguments[0])]
    if may_be_partial(name) and name not in SHIFTS or name == "Celu":  # the latter divides by its parameter
        return [("!=0", arguments[1])] if arguments[1].constant in (None, 0) else []
    if name == "power":
        exponent = arguments[1].constant
        if exponent is None or exponent.denominator != 1:
            return [(">0", arguments[0])]
        return [("!=0", arguments[0])] if exponent < 0 else []
    if name.lower() in _INVERSES:
        return [("!=0", unknown("defined " + name.lower(), arguments[0]))]
    return []


def binary(name: str) -> Meaning:
    """An operator on two tensors of one element type, element by element."""
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        world.need_same_dtype(operands[0].dtype, operands[1].dtype)
        return elementwise(world, name, operands, operands[0].dtype)

    return meaning


def _bias_add(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, bias = operands
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    world.need_true(len(bias.shape) == 1, "a bias that is not a vector")
    world.need_equal(x.shape[axis], bias.shape[0], "bias length")
    world.need_same_dtype(x.dtype, bias.dtype)
    return Tensor(x.shape, x.dtype, lambda index: x.at(index) + bias.at((index[axis],)))


# ── sums ──

_OF_SIZES: dict[str, Callable[[Sequence[Number]], Number]] = {"sum": sum, "prod": product}


def reduced(world: World, x: Tensor, axes: Sequence[int], keep: bool, kind: str = "sum") -> Tensor:
    """A sum (maximum, …) over axes."""
    shape = tuple(1 if k in axes else d for k, d in enumerate(x.shape) if keep or k not in axes)
    if x.items is not None and tuple(axes) == (0,) and kind in _OF_SIZES and all(map(is_number, x.items)):
        whole = _OF_SIZES[kind](x.items)
        return Tensor(shape, x.dtype, lambda index: as_term(whole), None, None, (whole,) if keep else None)

    def at(index: Index) -> Term:
        places: list[Number] = []
        variables = []
        rest = iter(index)
        for k, size in enumerate(x.shape):
            if k in axes:
                if keep:
                    next(rest)
                position = world.facts.position(size, bound=True)
                variables.append((position.text[2:], world.facts.normal(size)))
                places.append(position)
            else:
                places.append(next(rest))
        body = x.at(tuple(places))
        return total(kind, tuple(variables), body, world.facts) if variables else body

    return Tensor(shape, x.dtype, at)


def _axes_of(world: World, attrs: Attrs, rank: int) -> tuple[int, ...]:
    axis = attrs["axis"]
    if axis is None or axis == () and "exclude" in attrs:  # all, whatever is excluded
        return tuple(range(rank))
    axes = tuple([plain_axis(world, a, rank) for a in ((axis,) if type(axis) is int else axis)])
    return tuple(k for k in range(rank) if k not in axes) if attrs.get("exclude") else axes


def _reduction(kind: str) -> Meaning:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        return reduced(
            world, operands[0], _axes_of(world, attrs, len(operands[0].shape)), attrs["keepdims"], kind
        )

    return meaning


def averaged(world: World, x: Tensor, axes: Sequence[int], keep: bool) -> Tensor:
    """The mean over axes: the sum times one over the product of their sizes."""
    world.need_real(x.dtype)
    total_ = reduced(world, x, axes, keep)
    count = product(x.shape[a] for a in axes)

    def at(index: Index) -> Term:
        return total_.at(index) * inverse(of_size(world.facts.normal(count)))

    return Tensor(total_.shape, x.dtype, at)


def _mean(world: World, operands: Operands, attrs: Attrs) -> Value:
    return averaged(world, operands[0], _axes_of(world, attrs, len(operands[0].shape)), attrs["keepdims"])


def softmax(world: World, x: Tensor, written: Any) -> Tensor:
    """exp over its sum along an axis."""
    axis = plain_axis(world, written, len(x.shape))
    world.need_real(x.dtype)

    def at(index: Index) -> Term:
        return weight(world, x.at(index), (index[axis], x.shape[axis]))

    e = Tensor(x.shape, x.dtype, at)
    whole = reduced(world, e, (axis,), True)

    def share(index: Index) -> Term:
        total = whole.at((*index[:axis], 0, *index[axis + 1 :]))
        if world.comparing == "source":
            world.need_defined("!=0", total)
        return e.at(index) * inverse(total)

    return Tensor(x.shape, x.dtype, share)


def _log_softmax(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    whole = reduced(world, elementwise(world, "exp", [x], x.dtype), (axis,), True)
    return Tensor(
        x.shape, x.dtype,
        lambda index: x.at(index) - apply("log", [whole.at((*index[:axis], 0, *index[axis + 1 :]))]),
    )


def collapse(world: World, x: Tensor, shape: Sequence[Number]) -> Tensor:
    """Summed down to a shape that broadcasts to that of x."""
    world.need_true(len(shape) <= len(x.shape), "a reduction to a higher rank")
    extra = len(x.shape) - len(shape)
    kept = []
    for k, size in enumerate(shape):
        if not world.facts.equal(size, x.shape[extra + k]):
            world.need_equal(size, 1, "shape of a reduction")
            kept.append(extra + k)
    y = reduced(world, x, kept, True) if kept else x
    return reduced(world, y, tuple(range(extra)), False) if extra else y


# ── normalisations ──


def _scaled(world: World, y: Tensor, operands: Operands, attrs: Attrs) -> Tensor:
    axis = plain_axis(world, attrs["axis"], len(y.shape))
    for vector in operands[1:3]:
        world.need_true(len(vector.shape) == 1, "a scale or shift that is not a vector")
        world.need_equal(vector.shape[0], y.shape[axis], "length of scale and shift")
    gamma, beta = operands[1:3]

    def at(index: Index) -> Term:
        value = y.at(index)
        if attrs["scale"]:
            value = value * gamma.at((index[axis],))
        return value + beta.at((index[axis],)) if attrs["center"] else value

    return Tensor(y.shape, y.dtype, at)


def _batch_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor
    mean_: Tensor
    variance: Tensor
    x, _, _, mean_, variance = operands
    world.need_real(x.dtype)
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    for vector in (mean_, variance):
        world.need_true(len(vector.shape) == 1, "statistics that are not vectors")
        world.need_equal(vector.shape[0], x.shape[axis], "length of the statistics")

    def at(index: Index) -> Term:
        c = (index[axis],)
        return (x.at(index) - mean_.at(c)) * over_root(world, variance.at(c) + as_term(attrs["epsilon"]))

    y = _scaled(world, Tensor(x.shape, x.dtype, at), operands, attrs)
    return (y, mean_, variance)


def over_root(world: World, x: Term) -> Term:
    """1 / √x."""
    world.need_defined(">0", x)
    return inverse(square_root(x))


def standardised(world: World, x: Tensor, axes: Sequence[int], epsilon: Any) -> Tensor:
    """(x − mean) / √(variance + ε) over axes."""
    centre = averaged(world, x, axes, True)
    d = elementwise(world, "subtract", [x, centre], x.dtype)
    return by_root(world, d, axes, epsilon)


def by_root(world: World, x: Tensor, axes: Sequence[int], epsilon: Any) -> Tensor:
    """x over the root of its mean square over axes, plus ε."""
    square = averaged(world, elementwise(world, "multiply", [x, x], x.dtype), axes, True)

    def at(index: Index) -> Term:
        place = tuple(0 if k in axes else p for k, p in enumerate(index))
        return x.at(index) * over_root(world, square.at(place) + as_term(epsilon))

    return Tensor(x.shape, x.dtype, at)


def _layer_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    return _scaled(world, standardised(world, x, (axis,), attrs["epsilon"]), operands, attrs)


def _instance_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    axes = tuple(k for k in range(1, len(x.shape)) if k != axis)
    return _scaled(world, standardised(world, x, axes, attrs["epsilon"]), operands, attrs)


def _group_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, groups = operands[0], attrs["num_groups"]
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    world.need(groups - 1, "groups")
    part = x.shape[axis] // groups
    world.need_equal(part * groups, x.shape[axis], "division of the channels into groups")
    facts = world.facts
    y = reshaped(world, x, tuple(map(facts.normal, (*x.shape[:axis], groups, part, *x.shape[axis + 1 :]))))
    axes = tuple(k for k in range(1, len(y.shape)) if k != axis)
    z = reshaped(world, standardised(world, y, axes, attrs["epsilon"]), x.shape)
    return _scaled(world, z, operands, attrs)


def _l2_normalize(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    axes = _axes_of(world, {**attrs, "exclude": False}, len(x.shape))
    world.need_real(x.dtype)
    square = reduced(world, elementwise(world, "multiply", [x, x], x.dtype), axes, True)

    def at(index: Index) -> Term:
        place = tuple(0 if k in axes else p for k, p in enumerate(index))
        return x.at(index) * over_root(world, maximum(square.at(place), as_term(attrs["eps"])))

    return Tensor(x.shape, x.dtype, at)


ARITHMETIC: dict[str, Meaning] = {
    **{
        name: binary(name)
        for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power")
    },
    "nn.bias_add": _bias_add,
    **PRODUCTS,
    **{kind: _reduction(kind) for kind in ("sum", "max", "min", "prod")},
    "mean": _mean,
    "nn.softmax": lambda w, o, a: softmax(w, o[0], a["axis"]),
    "nn.log_softmax": _log_softmax,
    "nn.batch_norm": _batch_norm,
    "nn.layer_norm": _layer_norm,
    "nn.instance_norm": _instance_norm,
    "nn.group_norm": _group_norm,
    "nn.l2_normalize": _l2_normalize,
    "nn.dropout": lambda w, o, a: (o[0], Tensor(o[0].shape, o[0].dtype, _no_mask)),
    "collapse_sum_like": lambda w, o, a: collapse(w, o[0], o[1].shape),
    "nn.relu": lambda w, o, a: elementwise(w, "relu", o, o[0].dtype),
}


def _no_mask(index: Index) -> Term:
    raise NotProved("the mask of a dropout is not supported")
