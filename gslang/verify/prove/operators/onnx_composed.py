"""ONNX operators that are others in short: each is the composition of simpler ones that its specification
gives, so that a proof unfolds it.

Fused activations, products and convolutions, norms of sums. Attention is in `onnx_attention`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, sqrt
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_arithmetic import ARITHMETIC, folded, need_shape, scaled_by_channel
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.relay_arithmetic import by_root, elementwise, standardised
from gslang.verify.prove.operators.relay_movement import plain_axis, reshaped, transposed
from gslang.verify.prove.operators.relay_products import multiplied
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World, constant
from gslang.verify.prove.terms.axioms import apply, square_root
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.sizes import product
from gslang.verify.prove.terms.terms import ONE, Term, inverse, number

_HALF = number(0.5)
_CUBIC = number(0.044715)
_STEEP = number(sqrt(2 / pi))


def added(world: World, operands: Sequence[Tensor | None]) -> Tensor:
    """The sum of those operands that are there, broadcast."""
    return folded(world, "add", [o for o in operands if o is not None])


def _gelu_of(world: World, x: Tensor, by_tanh: bool) -> Tensor:
    """x · (1 + erf(x / √2)) / 2, or with tanh(√(2/π) · (x + 0.044715 x³)) for erf."""
    world.need_real(x.dtype)

    def at(index: Index) -> Term:
        value = x.at(index)
        if by_tanh:
            inner = apply("Tanh", [_STEEP * (value + _CUBIC * value * value * value)])
        else:
            inner = apply("Erf", [value * inverse(square_root(number(2)))])
        return _HALF * value * (ONE + inner)

    return Tensor(x.shape, x.dtype, at)


def _gelu(world: World, operands: Operands, attrs: Attrs) -> Value:
    return _gelu_of(world, operands[0], attrs.get("approximate", "none") == "tanh")


def _of_sum(by_tanh: bool) -> Meaning:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        x, bias = operands[0], operand(operands, 1)
        need_along_last(world, x, bias)
        y = added(world, [x, bias])
        return _gelu_of(world, y, by_tanh)

    return meaning


def _rows_last(x: Tensor) -> Tensor:
    """[rows, batch …, columns] as [batch …, rows, columns]."""
    rank = len(x.shape)
    return transposed(x, [*range(1, rank - 1), 0, rank - 1])


def _turned(x: Tensor) -> Tensor:
    rank = len(x.shape)
    return transposed(x, [*range(rank - 2), rank - 1, rank - 2])


def _fused_matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b = operands
    world.need_same_dtype(a.dtype, b.dtype)
    world.need_real(a.dtype)
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise NotProved("vectors as operands of `FusedMatMul` are not supported")
    if attrs["transBatchA"] or attrs["transBatchB"]:
        world.need_true(2 < len(a.shape) == len(b.shape), "ranks of transposed batches")
    a = _rows_last(a) if attrs["transBatchA"] else a
    b = _rows_last(b) if attrs["transBatchB"] else b
    y = multiplied(world, _turned(a) if attrs["transA"] else a, _turned(b) if attrs["transB"] else b, a.dtype)
    factor = as_term(attrs["alpha"])
    return Tensor(y.shape, y.dtype, lambda index: factor * y.at(index))


def _activated(world: World, x: Tensor, name: str, given: Sequence[Any]) -> Tensor:
    """The activation of a fused operator, with the parameters that are `given`."""
    numbers = [constant(as_term(value), (), None) for value in given]
    match name, len(numbers):
        case "", 0:
            return x
        case "Relu", 0:
            return elementwise(world, "relu", [x], x.dtype)
        case "Tanh", 0:
            return elementwise(world, "Tanh", [x], x.dtype)
        case "Sigmoid", 0:
            return elementwise(world, "sigmoid", [x], x.dtype)
        case "LeakyRelu", 1:
            return ARITHMETIC["LeakyRelu"](world, [x], {"alpha": given[0]})  # type: ignore[no-any-return]
        case "HardSigmoid", 2:
            return elementwise(world, "HardSigmoid", [x, *numbers], x.dtype)
        case "Clip", 2:
            return ARITHMETIC["Clip"](world, [x, *numbers], {})  # type: ignore[no-any-return]
    raise NotProved(f"the activation `{name}` is not supported")


def _fused_conv(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, w, bias, more = (operand(operands, k) for k in range(4))
    y = ARITHMETIC["Conv"](world, [x, w, bias], attrs)
    if more is not None:
        need_shape(world, more, y, "the shape of a convolution's addend")
        y = added(world, [y, more])
    return _activated(world, y, attrs["activation"] or "", attrs["activation_params"] or ())


def _fused_gemm(world: World, operands: Operands, attrs: Attrs) -> Value:
    y = ARITHMETIC["Gemm"](world, operands, attrs)
    given = (attrs["activation_alpha"], attrs["activation_beta"])
    present = [value for value in given if value is not None]
    if given[0] is None and present:
        raise NotProved("the second parameter of an activation alone is not supported")
    return _activated(world, y, attrs["activation"] or "", present)


# ── norms ──


def _scaled(world: World, y: Tensor, scale: Tensor, shift: Tensor | None) -> Tensor:
    wide = elementwise(world, "multiply", [y, scale], y.dtype)
    wide = wide if shift is None else added(world, [wide, shift])
    need_shape(world, wide, y, "the shape of a normalization's scale")
    return wide


def _statistics(index: Index) -> Term:
    raise NotProved("statistics returned by a normalization are not supported")


def layer_normal(
    world: World, x: Tensor, scale: Tensor, shift: Tensor | None, epsilon: object
) -> Tensor:
    """Rows standardised, scaled and shifted."""
    return _scaled(world, standardised(world, x, (len(x.shape) - 1,), epsilon), scale, shift)


def need_along_last(world: World, x: Tensor, *vectors: Tensor | None) -> None:
    """onnxruntime broadcasts none of these: each has an element for each place along the last axis.
    """
    for vector in vectors:
        if vector is not None:
            world.need_true(len(vector.shape) == 1, "the rank of a vector along the last axis")
            world.need_equal(vector.shape[0], x.shape[-1], "length of a vector along the last axis")


def _need_skipped(world: World, x: Tensor, skip: Tensor) -> None:
    """The addend has the shape of the data, or is the same for each batch of rows."""
    rank, what = len(x.shape), "the shape of an addend before a normalization"
    world.need_true(len(skip.shape) == rank or len(skip.shape) + 1 == rank == 3, what)
    for d, e in zip(skip.shape[::-1], (x.shape[1:] if rank == 3 else x.shape)[::-1]):
        world.need_equal(d, e, what)


def _skip_layer_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, skip, scale, shift, bias = (operand(operands, k) for k in range(5))
    _need_skipped(world, x, skip)
    need_along_last(world, x, scale, shift, bias)

    def norm(total: Tensor) -> Tensor:
        return layer_normal(world, total, scale, shift, attrs["epsilon"])

    return _norm_of_sum(world, x, [skip, bias], norm)


def _skip_root_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, skip, scale, bias = (operand(operands, k) for k in range(4))
    _need_skipped(world, x, skip)
    need_along_last(world, x, scale, bias)

    def norm(total: Tensor) -> Tensor:
        return _scaled(world, by_root(world, total, (len(x.shape) - 1,), attrs["epsilon"]), scale, None)

    return _norm_of_sum(world, x, [skip, bias], norm)


def _norm_of_sum(
    world: World, x: Tensor, addends: Sequence[Tensor | None], norm: Callable[[Tensor], Tensor]
) -> Value:
    """The norm, its statistics, and the sum that it is of."""
    world.need_true(len(x.shape) >= 1, "the normalization of a scalar")
    total = added(world, [x, *addends])
    need_shape(world, total, x, "the shape of an addend before a normalization")
    small = Tensor((*x.shape[:-1], 1), "float32", _statistics)
    return norm(total), small, small, total


def _simplified(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, scale = operands[0], operands[1]
    first = plain_axis(world, attrs["axis"], len(x.shape))
    small = Tensor((*x.shape[:first], *(1 for _ in x.shape[first:])), "float32", _statistics)
    axes = range(first, len(x.shape))
    return _scaled(world, by_root(world, x, axes, attrs["epsilon"]), scale, None), small


def _group_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    """Groups of channels are standardised, each image apart; then each channel is scaled."""
    x, scale, shift = operands
    groups, facts = attrs["num_groups"], world.facts
    world.need_true(len(x.shape) >= 2, "the rank of an image")
    for small in (scale, shift):
        world.need_equal(small.shape[0], x.shape[1], "length of scale and shift")
        world.need_same_dtype(x.dtype, small.dtype)
    world.need(groups - 1, "number of groups")
    part = facts.normal(x.shape[1]) // facts.normal(groups)
    world.need_equal(part * groups, x.shape[1], "division of the channels into groups")
    rows = reshaped(world, x, tuple(map(facts.normal, (x.shape[0], groups, part * product(x.shape[2:])))))
    y = reshaped(world, standardised(world, rows, (2,), attrs["epsilon"]), x.shape)
    return scaled_by_channel(x, y, scale, shift)


COMPOSED: dict[str, Meaning] = {
    "Gelu": _gelu,
    "com.microsoft.Gelu": _gelu,
    "com.microsoft.BiasGelu": _of_sum(False),
    "com.microsoft.FastGelu": _of_sum(True),
    "com.microsoft.FusedMatMul": _fused_matmul,
    "com.microsoft.TransposeMatMul": lambda world, operands, attrs: _fused_matmul(
        world, operands, {"transBatchA": 0, "transBatchB": 0, **attrs}
    ),
    "com.microsoft.FusedConv": _fused_conv,
    "com.microsoft.FusedGemm": _fused_gemm,
    "com.microsoft.SkipLayerNormalization": _skip_layer_norm,
    "com.microsoft.SkipSimplifiedLayerNormalization": _skip_root_norm,
    "SimplifiedLayerNormalization": _simplified,
    "GroupNormalization": _group_norm,
}
