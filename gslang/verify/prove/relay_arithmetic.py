"""Relay operators that compute: element-wise, reductions, matrix products, convolutions, normalisations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.axioms import WHOLE_FUNCTIONS, apply, maximum, square_root
from gslang.verify.prove.dtypes import Dtype, compared
from gslang.verify.prove.paths import NotProved
from gslang.verify.prove.reals import as_term
from gslang.verify.prove.relay_movement import plain_axis, reshaped, transposed
from gslang.verify.prove.sizes import Number, product
from gslang.verify.prove.tensors import Index, Tensor, Value, World
from gslang.verify.prove.terms import ZERO, Term, inverse, of_size, unknown
from gslang.verify.prove.totals import total

Operands = Sequence[Value]


def elementwise(world: World, name: str, operands: Sequence[Tensor], dtype: object) -> Tensor:
    """A function of the operands' elements, broadcast."""
    if name in _REAL:
        world.need_real(dtype)
    function = WHOLE_FUNCTIONS[name] if name in WHOLE_FUNCTIONS and not world.is_real(dtype) else name
    shape = world.broadcast(*[o.shape for o in operands])

    def of(arguments: list[Term]) -> Term:
        for condition, term in partial(name, arguments):
            world.need_defined(condition, term)
        return apply(function, arguments)

    alike = all(o.splat is not None or world.same_shape(o.shape, shape) for o in operands)
    flat = (lambda place: of([world.flat_at(o, place) for o in operands])) if alike else None
    values = [o.splat for o in operands if o.splat is not None]
    splat = of(values) if len(values) == len(operands) and not partial(name, values) else None
    return Tensor(
        shape, dtype, lambda index: of([world.element(o, shape, index) for o in operands]), flat, splat
    )


# Not for whole numbers.
_REAL = frozenset({
    "divide", "sqrt", "rsqrt", "exp", "log", "power", "sigmoid", "reciprocal", "Mish", "HardSigmoid",
    "HardSwish", "com.microsoft.QuickGelu",
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
    if name == "divide":
        return [("!=0", arguments[1])] if arguments[1].constant in (None, 0) else []
    if name == "power":
        exponent = arguments[1].constant
        if exponent is None or exponent.denominator != 1:
            return [(">0", arguments[0])]
        return [("!=0", arguments[0])] if exponent < 0 else []
    if name.lower() in _INVERSES:
        return [("!=0", unknown("defined " + name.lower(), arguments[0]))]
    return []


def _binary(name: str) -> Any:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        world.need_same_dtype(operands[0].dtype, operands[1].dtype)
        return elementwise(world, name, operands, operands[0].dtype)

    return meaning


def _bias_add(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, bias = operands
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    world.need_true(len(bias.shape) == 1, "a bias is a vector")
    world.need_equal(x.shape[axis], bias.shape[0], "a bias of another length")
    world.need_same_dtype(x.dtype, bias.dtype)
    return Tensor(x.shape, x.dtype, lambda index: x.at(index) + bias.at((index[axis],)))


# ── sums ──


def reduced(world: World, x: Tensor, axes: Sequence[int], keep: bool, kind: str = "sum") -> Tensor:
    """A sum (maximum, …) over axes."""
    shape = tuple(1 if k in axes else d for k, d in enumerate(x.shape) if keep or k not in axes)

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
    if axis is None:
        axes = tuple(range(rank))
    elif type(axis) is int:
        axes = (plain_axis(world, axis, rank),)
    else:
        axes = tuple(plain_axis(world, a, rank) for a in axis)
    return tuple(k for k in range(rank) if k not in axes) if attrs.get("exclude") else axes


def _reduction(kind: str) -> Any:
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
    e = elementwise(world, "exp", [x], x.dtype)
    whole = reduced(world, e, (axis,), True)
    return Tensor(
        x.shape, x.dtype,
        lambda index: e.at(index) * inverse(whole.at((*index[:axis], 0, *index[axis + 1 :]))),
    )


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
    world.need_true(len(shape) <= len(x.shape), "a sum to more dimensions")
    extra = len(x.shape) - len(shape)
    kept = []
    for k, size in enumerate(shape):
        if not world.facts.equal(size, x.shape[extra + k]):
            world.need_equal(size, 1, "a sum to a shape that does not fit")
            kept.append(extra + k)
    y = reduced(world, x, kept, True) if kept else x
    return reduced(world, y, tuple(range(extra)), False) if extra else y


# ── matrix products ──


def taken_as(world: World, x: Tensor, dtype: Any) -> Tensor:
    """The operand of a sum that is taken in another element type. A whole number that wrapped in its own type
    stays what it is then: of a sum of int8 numbers the sum in int32 is another one.
    """
    if compared(x.dtype, dtype) is True:
        return x
    name = f"wrapped in {_name_of(x.dtype)} taken as {_name_of(dtype)}"

    def at(index: Index) -> Term:
        value = x.at(index)
        alone = value.alone
        if not value.parts or alone is not None and alone[0].kind == "read" and alone[1] == 1:
            return value
        return value if world.is_real(x.dtype) and world.is_real(dtype) else unknown(name, value)

    return Tensor(x.shape, x.dtype, at)


def _product_type(world: World, a: Tensor, b: Tensor, attrs: Attrs) -> Any:
    """The element type of a product of matrices."""
    if world.reading and not attrs["out_dtype"]:
        world.mostly_alike.append((a.dtype, b.dtype, "the factors of a product have one element type"))
    return attrs["out_dtype"] or a.dtype


def _name_of(dtype: Any) -> Any:
    root = dtype.root() if isinstance(dtype, Dtype) else dtype
    return root if isinstance(root, str) else root.name or id(root)


def contracted(world: World, size: Any, body: Any) -> Term:
    """The sum of `body(k)` for k below `size`."""
    position = world.facts.position(size, bound=True)
    return total("sum", ((position.text[2:], world.facts.normal(size)),), body(position), world.facts)


def _dense(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, w = operands
    world.need_true(len(x.shape) >= 1 and len(w.shape) == 2, "the operands of nn.dense")
    world.need_equal(x.shape[-1], w.shape[1], "the inner sizes of nn.dense")
    if attrs["units"] is not None:
        world.need_equal(attrs["units"], w.shape[0], "`units`")

    dtype = _product_type(world, x, w, attrs)
    x, w = taken_as(world, x, dtype), taken_as(world, w, dtype)

    def at(index: Index) -> Term:
        return contracted(world, x.shape[-1], lambda k: x.at((*index[:-1], k)) * w.at((index[-1], k)))

    return Tensor((*x.shape[:-1], w.shape[0]), dtype, at)


def _matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b = operands
    world.need_true(len(a.shape) >= 2 and len(b.shape) == 2, "the operands of nn.matmul")
    rank = len(a.shape)
    a = transposed(a, [*range(rank - 2), rank - 1, rank - 2]) if attrs["transpose_a"] else a
    b = transposed(b, [1, 0]) if attrs["transpose_b"] else b
    world.need_equal(a.shape[-1], b.shape[0], "the inner sizes of nn.matmul")
    dtype = _product_type(world, a, b, attrs)
    a, b = taken_as(world, a, dtype), taken_as(world, b, dtype)

    def at(index: Index) -> Term:
        return contracted(world, a.shape[-1], lambda k: a.at((*index[:-1], k)) * b.at((k, index[-1])))

    return Tensor((*a.shape[:-1], b.shape[1]), dtype, at)


def _batch_matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b = operands
    world.need_true(len(a.shape) == len(b.shape) == 3, "the operands of nn.batch_matmul")
    a = transposed(a, [0, 2, 1]) if attrs["transpose_a"] else a
    b = transposed(b, [0, 2, 1]) if attrs["transpose_b"] else b
    dtype = _product_type(world, a, b, attrs)
    return multiplied(world, taken_as(world, a, dtype), taken_as(world, b, dtype), dtype)


def multiplied(world: World, a: Tensor, b: Tensor, dtype: object) -> Tensor:
    """A product of matrices with broadcast batches (both of rank 2 or more)."""
    world.need_equal(a.shape[-1], b.shape[-2], "the inner sizes of a matrix product")
    batch = world.broadcast(a.shape[:-2], b.shape[:-2])
    left, right = (*batch, *a.shape[-2:]), (*batch, *b.shape[-2:])

    def at(index: Index) -> Term:
        def body(k: Number) -> Term:
            return world.element(a, left, (*index[:-1], k)) * world.element(
                b, right, (*index[:-2], k, index[-1])
            )

        return contracted(world, a.shape[-1], body)

    return Tensor((*batch, a.shape[-2], b.shape[-1]), dtype, at)


# ── convolutions ──

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def _numbers(value: object, rank: int) -> tuple[Number, ...]:
    items = value if isinstance(value, tuple) else (value,)
    return items * rank if len(items) == 1 else items


def both_sides(padding: Any, rank: int) -> list[tuple[Any, Any]]:
    """(before, after) per axis, whichever way Relay has them written."""
    items = _numbers(padding, rank)
    if len(items) == rank:
        return [(p, p) for p in items]
    return [(items[k], items[rank + k]) for k in range(rank)]


def _convolution(rank: int) -> Any:
    letters = SPATIAL[rank]

    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        data, kernel = attrs["data_layout"], attrs["kernel_layout"]
        result = attrs["out_layout"] or data
        for layout, wanted in ((data, "NC" + letters), (kernel, "OI" + letters), (result, "NC" + letters)):
            if sorted(layout) != sorted(wanted):
                raise NotProved(f"the layout `{layout}`")
        if kernel == "HWOI":
            raise NotProved("depthwise kernels")
        x, w = operands
        world.need_true(len(x.shape) == len(w.shape) == rank + 2, "the ranks of a convolution's operands")
        x = transposed(x, [data.index(a) for a in "NC" + letters])
        w = transposed(w, [kernel.index(a) for a in "OI" + letters])
        strides, dilation = _numbers(attrs["strides"], rank), _numbers(attrs["dilation"], rank)
        pads = both_sides(attrs["padding"], rank)
        dtype = attrs["out_dtype"] or x.dtype
        x, w = taken_as(world, x, dtype), taken_as(world, w, dtype)
        y = convolved(world, x, w, strides, dilation, pads, attrs["groups"])
        if attrs["channels"] is not None:
            world.need_equal(attrs["channels"], w.shape[0], "`channels`")
        if attrs["kernel_size"] is not None:
            for a, b in zip(_numbers(attrs["kernel_size"], rank), w.shape[2:]):
                world.need_equal(a, b, "`kernel_size`")
        y = Tensor(y.shape, dtype, y.at)
        return transposed(y, [("NC" + letters).index(a) for a in result])

    return meaning


def convolved(
    world: World, x: Tensor, w: Tensor, strides: Any, dilation: Any, pads: Any, groups: Number
) -> Tensor:
    """Data N C …, kernel O I …: a sum over the input channels of a group and the window, of what is inside.
    """
    facts = world.facts
    world.need(groups - 1, "groups")
    world.need_equal(x.shape[1], w.shape[1] * groups, "the channels of a convolution")
    per_group: Number = w.shape[0]
    if not (type(groups) is int and groups == 1):
        per_group = facts.normal(w.shape[0]) // facts.normal(groups)
        world.need_equal(per_group * groups, w.shape[0], "groups do not divide the output channels")
    shape: list[Any] = [x.shape[0], w.shape[0]]
    for size, window, stride, spread, (before, after) in zip(
        x.shape[2:], w.shape[2:], strides, dilation, pads
    ):
        room = size + before + after - spread * (window - 1) - 1
        world.need(stride - 1, "a stride")
        world.need(room, "a window does not fit")
        shape.append(facts.normal(facts.normal(room) // facts.normal(stride) + 1))

    def at(index: Index) -> Term:
        channel = facts.position(facts.normal(w.shape[1]), bound=True)
        window = [facts.position(facts.normal(k), bound=True) for k in w.shape[2:]]
        group: Number = 0
        if not (type(groups) is int and groups == 1):
            group = facts.normal(index[1]) // facts.normal(per_group)
        places, conditions = [], []
        for place, k, size, stride, spread, (before, _) in zip(
            index[2:], window, x.shape[2:], strides, dilation, pads
        ):
            inner = facts.normal(place * stride + k * spread - before)
            places.append(inner)
            conditions += [inner, facts.normal(size - 1 - inner)]

        def body() -> Term:
            return x.at((index[0], group * w.shape[1] + channel, *places)) * w.at(
                (index[1], channel, *window)
            )

        inside = world.inside(conditions, body, lambda: ZERO)
        variables = tuple(
            (p.text[2:], facts.normal(d)) for p, d in zip((channel, *window), (w.shape[1], *w.shape[2:]))
        )
        return total("sum", variables, inside, facts)

    return Tensor(tuple(shape), x.dtype, at)


# ── normalisations ──


def _scaled(world: World, y: Tensor, operands: Operands, attrs: Attrs) -> Tensor:
    axis = plain_axis(world, attrs["axis"], len(y.shape))
    for vector in operands[1:3]:
        world.need_true(len(vector.shape) == 1, "scale and shift are vectors")
        world.need_equal(vector.shape[0], y.shape[axis], "scale and shift have another length")
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
        world.need_true(len(vector.shape) == 1, "statistics are vectors")
        world.need_equal(vector.shape[0], x.shape[axis], "statistics of another length")

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
    variance = averaged(world, elementwise(world, "multiply", [d, d], x.dtype), axes, True)

    def at(index: Index) -> Term:
        place = tuple(0 if k in axes else p for k, p in enumerate(index))
        return d.at(index) * over_root(world, variance.at(place) + as_term(epsilon))

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
    world.need_equal(part * groups, x.shape[axis], "groups do not divide the channels")
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


ARITHMETIC: dict[str, Any] = {
    **{
        name: _binary(name)
        for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power")
    },
    "nn.bias_add": _bias_add,
    "nn.dense": _dense,
    "nn.matmul": _matmul,
    "nn.batch_matmul": _batch_matmul, **{f"nn.conv{k}d": _convolution(k) for k in (1, 2, 3)},
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
    raise NotProved("the mask of a dropout")
