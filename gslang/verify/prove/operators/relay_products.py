"""Matrix products and convolutions of Relay: sums of products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.relay_movement import transposed
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.dtypes import Dtype, compared, name_of
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number
from gslang.verify.prove.terms.terms import ZERO, Term, unknown
from gslang.verify.prove.terms.totals import total


def taken_as(world: World, x: Tensor, dtype: str | Dtype) -> Tensor:
    """The operand of a sum that is taken in another element type. A whole number that wrapped in its own type
    stays what it is then: of a sum of int8 numbers the sum in int32 is another one.
    """
    if compared(x.dtype, dtype) is True:
        return x

    def at(index: Index) -> Term:
        value = x.at(index)
        alone = value.alone
        if (
            not value.parts or alone is not None and alone[0].kind == "read" and alone[1] == 1
            or compared(x.dtype, dtype) is True  # it may be known by now
            or world.is_real(x.dtype) and world.is_real(dtype)
        ):
            return value
        return unknown(f"wrapped in {name_of(x.dtype)} taken as {name_of(dtype)}", value)

    return Tensor(x.shape, x.dtype, at)


def _product_type(world: World, a: Tensor, b: Tensor, attrs: Attrs) -> Any:
    """The element type of a product of matrices, or of a convolution."""
    if world.reading and not attrs["out_dtype"]:
        world.mostly_alike.append((a.dtype, b.dtype, "the factors of a product have the same element type"))
    return attrs["out_dtype"] or a.dtype


def contracted(world: World, size: Number, body: Callable[[Number], Term]) -> Term:
    """The sum of `body(k)` for k below `size`."""
    position = world.facts.position(size, bound=True)
    return total("sum", ((position.text[2:], world.facts.normal(size)),), body(position), world.facts)


def _dense(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, w = operands
    world.need_true(len(x.shape) >= 1 and len(w.shape) == 2, "the ranks of the operands of `nn.dense`")
    return _by_matrix(world, x, transposed(w, [1, 0]), attrs, "nn.dense")


def _matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b = operands
    world.need_true(len(a.shape) >= 2 and len(b.shape) == 2, "the ranks of the operands of `nn.matmul`")
    rank = len(a.shape)
    a = transposed(a, [*range(rank - 2), rank - 1, rank - 2]) if attrs["transpose_a"] else a
    return _by_matrix(world, a, transposed(b, [1, 0]) if attrs["transpose_b"] else b, attrs, "nn.matmul")


def _by_matrix(world: World, a: Tensor, b: Tensor, attrs: Attrs, operator: str) -> Tensor:
    world.need_equal(a.shape[-1], b.shape[0], f"inner sizes of `{operator}`")
    if attrs["units"] is not None:
        world.need_equal(attrs["units"], b.shape[1], "`units`")
    dtype = _product_type(world, a, b, attrs)
    a, b = taken_as(world, a, dtype), taken_as(world, b, dtype)

    def at(index: Index) -> Term:
        return contracted(world, a.shape[-1], lambda k: a.at((*index[:-1], k)) * b.at((k, index[-1])))

    return Tensor((*a.shape[:-1], b.shape[1]), dtype, at)


def _batch_matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b = operands
    world.need_true(len(a.shape) == len(b.shape) == 3, "the ranks of the operands of `nn.batch_matmul`")
    a = transposed(a, [0, 2, 1]) if attrs["transpose_a"] else a
    b = transposed(b, [0, 2, 1]) if attrs["transpose_b"] else b
    dtype = _product_type(world, a, b, attrs)
    return multiplied(world, taken_as(world, a, dtype), taken_as(world, b, dtype), dtype)


def multiplied(world: World, a: Tensor, b: Tensor, dtype: str | Dtype) -> Tensor:
    """A product of matrices with broadcast batches (both of rank 2 or more)."""
    world.need_equal(a.shape[-1], b.shape[-2], "inner sizes of a matrix product")
    batch = world.broadcast(a.shape[:-2], b.shape[:-2])
    left, right = (*batch, *a.shape[-2:]), (*batch, *b.shape[-2:])

    def at(index: Index) -> Term:
        def body(k: Number) -> Term:
            return world.element(a, left, (*index[:-1], k)) * world.element(
                b, right, (*index[:-2], k, index[-1])
            )

        return contracted(world, a.shape[-1], body)

    return Tensor((*batch, a.shape[-2], b.shape[-1]), dtype, at)



SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def _numbers(value: object, rank: int) -> tuple[Number, ...]:
    items = value if isinstance(value, tuple) else (value,)
    return items * rank if len(items) == 1 else items


def both_sides(padding: object, rank: int) -> list[tuple[Number, Number]]:
    """(before, after) per axis, whichever way Relay has them written."""
    items = _numbers(padding, rank)
    if len(items) == rank:
        return [(p, p) for p in items]
    return [(items[k], items[rank + k]) for k in range(rank)]


def _convolution(rank: int) -> Meaning:
    letters = SPATIAL[rank]

    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        data, kernel = attrs["data_layout"], attrs["kernel_layout"]
        result = attrs["out_layout"] or data
        for layout, wanted in ((data, "NC" + letters), (kernel, "OI" + letters), (result, "NC" + letters)):
            if sorted(layout) != sorted(wanted):
                raise NotProved(f"the layout `{layout}` is not supported")
        if kernel == "HWOI":
            raise NotProved("depthwise kernels are not supported")
        x, w = operands
        world.need_true(len(x.shape) == len(w.shape) == rank + 2, "the ranks of a convolution's operands")
        x = transposed(x, [data.index(a) for a in "NC" + letters])
        w = transposed(w, [kernel.index(a) for a in "OI" + letters])
        strides, dilation = _numbers(attrs["strides"], rank), _numbers(attrs["dilation"], rank)
        pads = both_sides(attrs["padding"], rank)
        dtype = _product_type(world, x, w, attrs)
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
    world: World, x: Tensor, w: Tensor, strides: Sequence[Number], dilation: Sequence[Number],
    pads: Sequence[tuple[Number, Number]], groups: Number,
) -> Tensor:
    """Data N C …, kernel O I …: a sum over the input channels of a group and the window, of what is inside.
    """
    facts = world.facts
    world.need(groups - 1, "groups")
    world.need_equal(x.shape[1], w.shape[1] * groups, "channels of a convolution")
    per_group: Number = w.shape[0]
    if not (type(groups) is int and groups == 1):
        per_group = facts.normal(w.shape[0]) // facts.normal(groups)
        world.need_equal(per_group * groups, w.shape[0], "division of the output channels into groups")
    shape: list[Number] = [x.shape[0], w.shape[0]]
    for size, window, stride, spread, (before, after) in zip(
        x.shape[2:], w.shape[2:], strides, dilation, pads
    ):
        room = size + before + after - spread * (window - 1) - 1
        world.need(stride - 1, "stride")
        world.need(room, "input beyond the window")
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


PRODUCTS: dict[str, Meaning] = {
    "nn.dense": _dense,
    "nn.matmul": _matmul,
    "nn.batch_matmul": _batch_matmul,
    **{f"nn.conv{k}d": _convolution(k) for k in (1, 2, 3)},
}
