"""ONNX operators that compute, over symbolic tensors: element by element, reductions, products,
normalisations.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_operands import axes_operand, operand
from gslang.verify.prove.operators.relay_arithmetic import (
    averaged,
    binary,
    by_root,
    elementwise,
    over_root,
    reduced,
    softmax,
    standardised,
)
from gslang.verify.prove.operators.relay_movement import inserted, plain_axis, transposed, without_axes
from gslang.verify.prove.operators.relay_products import convolved, multiplied
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World, constant
from gslang.verify.prove.terms.axioms import apply, maximum, minimum
from gslang.verify.prove.terms.dtypes import Dtype, compared
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.sizes import Number, product
from gslang.verify.prove.terms.terms import ONE, ZERO, Term, number


def _unary(name: str) -> Meaning:
    return lambda world, operands, attrs: elementwise(world, name, operands[:1], operands[0].dtype)


def folded(world: World, name: str, operands: Sequence[Tensor]) -> Tensor:
    """An operator of two operands, applied to the first two, to that and the third, and so on."""
    result = operands[0]
    for other in operands[1:]:
        world.need_same_dtype(result.dtype, other.dtype)
        result = elementwise(world, name, [result, other], result.dtype)
    return result


def _n_ary(name: str, mean: bool = False) -> Meaning:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        result = folded(world, name, operands)
        if mean:
            world.need_real(result.dtype)
            result = elementwise(
                world, "multiply", [result, constant(number(Fraction(1, len(operands))), (), None)],
                result.dtype,
            )
        return result

    return meaning


def _clip(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    for k, function in ((1, "maximum"), (2, "minimum")):
        bound = operand(operands, k)
        if bound is not None:
            world.need_equal(product(bound.shape), 1, "size of a bound")
            x = elementwise(world, function, [x, single(bound)], x.dtype)
    return x


def single(x: Tensor) -> Tensor:
    """The element of a tensor that has one."""
    return Tensor((), x.dtype, lambda index: x.at((0,) * len(x.shape)), None, x.splat)


def _swish(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    inner = elementwise(world, "multiply", [x, constant(as_term(attrs["alpha"]), (), None)], x.dtype)
    return elementwise(world, "multiply", [x, elementwise(world, "sigmoid", [inner], x.dtype)], x.dtype)


def _softplus(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    return Tensor(x.shape, x.dtype, lambda index: apply("log", [ONE + apply("exp", [x.at(index)])]))


def _leaky(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, alpha = operands[0], as_term(attrs["alpha"])
    return Tensor(
        x.shape, x.dtype, lambda index: maximum(x.at(index), ZERO) + minimum(x.at(index), ZERO) * alpha
    )


def _reduction(kind: str) -> Meaning:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        x = operands[0]
        rank = len(x.shape)
        axes = axes_operand(world, operands, 1, rank)
        if not axes:
            if attrs.get("noop_with_empty_axes"):
                if kind in ("square", "norm"):
                    raise NotProved("reductions over no axes are not supported")
                return x
            axes = tuple(range(rank))
        keep = bool(attrs["keepdims"])
        if kind == "square":
            return reduced(world, elementwise(world, "multiply", [x, x], x.dtype), axes, keep)
        if kind == "norm":
            whole = reduced(world, elementwise(world, "multiply", [x, x], x.dtype), axes, keep)
            return elementwise(world, "sqrt", [whole], x.dtype)
        return averaged(world, x, axes, keep) if kind == "mean" else reduced(world, x, axes, keep, kind)

    return meaning


def _log_softmax(world: World, operands: Operands, attrs: Attrs) -> Value:
    y = softmax(world, operands[0], attrs["axis"])
    return elementwise(world, "log", [y], y.dtype)


def _matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b = operands
    world.need_same_dtype(a.dtype, b.dtype)
    world.need_true(len(a.shape) >= 1 and len(b.shape) >= 1, "the ranks of the operands of `MatMul`")
    left, right = len(a.shape) == 1, len(b.shape) == 1
    y = multiplied(world, inserted(a, 0, 1) if left else a, inserted(b, 1, 1) if right else b, a.dtype)
    y = without_axes(y, (len(y.shape) - 1,)) if right else y
    return without_axes(y, (len(y.shape) - (1 if right else 2),)) if left else y


def _gemm(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b, c = operands[0], operands[1], operand(operands, 2)
    world.need_true(len(a.shape) == len(b.shape) == 2, "the ranks of the operands of `Gemm`")
    world.need_same_dtype(a.dtype, b.dtype)
    a = transposed(a, [1, 0]) if attrs["transA"] else a
    b = transposed(b, [1, 0]) if attrs["transB"] else b
    y = multiplied(world, a, b, a.dtype)
    alpha = _multiplier(world, attrs["alpha"], a.dtype)
    beta = as_term(0) if c is None else _multiplier(world, attrs["beta"], a.dtype)
    if c is not None:
        world.need_same_dtype(a.dtype, c.dtype)
        wide = world.broadcast(y.shape, c.shape)
        world.need_true(len(wide) == 2, "the rank of the third operand of `Gemm`")
        for d, e in zip(y.shape, wide):
            world.need_equal(d, e, "shape of the third operand of `Gemm`")

    def at(index: Index) -> Term:
        value = y.at(index) * alpha
        return value if c is None else value + world.element(c, y.shape, index) * beta

    return Tensor(y.shape, y.dtype, at)


def _multiplier(world: World, value: object, dtype: str | Dtype) -> Term:
    """A number of an attribute that elements are multiplied by. Of integers, products with numbers that are
    not whole are rounded.
    """
    factor = as_term(value)
    if factor.constant is None or factor.constant != int(factor.constant):
        world.need_real(dtype)
    return factor


def _conv(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, w, bias = operands[0], operands[1], operand(operands, 2)
    rank = len(w.shape) - 2
    world.need_true(rank >= 1 and len(x.shape) == rank + 2, "the ranks of a convolution's operands")
    world.need_same_dtype(x.dtype, w.dtype)
    strides, dilations, pads = attrs["strides"], attrs["dilations"], attrs["pads"]
    if attrs["auto_pad"] == "VALID":
        pads = None
    elif attrs["auto_pad"] != "NOTSET":
        raise NotProved("`auto_pad` other than NOTSET or VALID is not supported")
    both = [(pads[k], pads[rank + k]) for k in range(rank)] if pads is not None else [(0, 0)] * rank
    for sides in both:
        for width in sides:
            world.need(width, "padding")
    y = convolved(world, x, w, strides or (1,) * rank, dilations or (1,) * rank, both, attrs["group"])
    if attrs["kernel_shape"] is not None:
        for a, b in zip(attrs["kernel_shape"], w.shape[2:]):
            world.need_equal(a, b, "`kernel_shape`")
    return with_bias(world, y, bias, w.shape[0])


def with_bias(world: World, y: Tensor, bias: Tensor | None, channels: Number) -> Tensor:
    """The result of a convolution, plus a number for each channel."""
    if bias is None:
        return y
    world.need_true(len(bias.shape) == 1, "a bias that is not a vector")
    world.need_equal(bias.shape[0], channels, "bias length")
    world.need_same_dtype(y.dtype, bias.dtype)
    return Tensor(y.shape, y.dtype, lambda index: y.at(index) + bias.at((index[1],)))


def _channels(world: World, channels: Number, vectors: Sequence[Tensor]) -> None:
    for vector in vectors:
        world.need_true(len(vector.shape) == 1, "the rank of a per-channel parameter")
        world.need_equal(vector.shape[0], channels, "length of a per-channel parameter")


def _batch_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, scale, shift, mean, variance = operands
    if attrs["training_mode"] != 0:
        raise NotProved("batch normalization in training mode is not supported")
    world.need_true(len(x.shape) >= 1, "an input without axes")
    _channels(world, x.shape[1] if len(x.shape) > 1 else 1, operands[1:5])
    if world.reading:
        what = "normalization statistics have the element type of the input"
        world.mostly_alike += [(a.dtype, b.dtype, what) for a, b in combinations(operands[:5], 2)]

    def at(index: Index) -> Term:
        c = index[1:2] or (0,)  # data of one axis has one channel
        part = over_root(world, variance.at(c) + as_term(attrs["epsilon"]))
        result: Term = (x.at(index) - mean.at(c)) * part * scale.at(c) + shift.at(c)
        return result

    return (Tensor(x.shape, x.dtype, at),)


def _instance_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor
    scale: Tensor
    shift: Tensor
    x, scale, shift = operands
    world.need_true(len(x.shape) >= 2, "an input without channels")
    _channels(world, x.shape[1], operands[1:3])
    for other in (scale, shift):
        world.need_same_dtype(x.dtype, other.dtype)
    y = standardised(world, x, tuple(range(2, len(x.shape))), attrs["epsilon"])
    return scaled_by_channel(x, y, scale, shift)


def scaled_by_channel(x: Tensor, y: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """The normalised numbers `y` of an image `x`, scaled and shifted in each channel."""
    return Tensor(x.shape, x.dtype, lambda index: y.at(index) * scale.at((index[1],)) + shift.at((index[1],)))


def _last_axes(world: World, attrs: Attrs, rank: int) -> tuple[int, ...]:
    return tuple(range(plain_axis(world, attrs["axis"], rank), rank))


def _layer_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, scale, shift = operands[0], operands[1], operand(operands, 2)
    for other in (scale, shift):
        if other is not None:
            world.need_same_dtype(x.dtype, other.dtype)
    y = standardised(world, x, _last_axes(world, attrs, len(x.shape)), attrs["epsilon"])
    y = elementwise(world, "multiply", [y, scale], x.dtype)
    if shift is not None:
        y = elementwise(world, "add", [y, shift], x.dtype)
    need_shape(world, y, x, "the shape of a normalization's scale")
    return (y,)


def _rms_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    axes = _last_axes(world, attrs, len(x.shape))
    y = elementwise(
        world, "multiply", [by_root(world, x, axes, attrs["epsilon"]), operands[1]], x.dtype
    )
    need_shape(world, y, x, "the shape of a normalization's scale")
    return y


def need_shape(world: World, y: Tensor, x: Tensor, what: str) -> None:
    """Raise where what is added to a tensor, or a factor, widens it."""
    world.need_true(len(y.shape) == len(x.shape), what)
    for d, e in zip(y.shape, x.shape):
        world.need_equal(d, e, what)


def _global_average(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    world.need_true(len(x.shape) >= 3, "an input without spatial dimensions")
    return averaged(world, x, tuple(range(2, len(x.shape))), True)


def _power(world: World, operands: Operands, attrs: Attrs) -> Value:
    base, exponent = operands
    if exponent.splat is not None and exponent.splat.constant is not None:  # the same number in each type
        exponent = constant(exponent.splat, exponent.shape, base.dtype)
    elif world.reading and compared(base.dtype, exponent.dtype) is not True:
        world.notes.add("the exponent of `Pow` has the element type of its base")
    return binary("power")(world, (base, exponent), attrs)


ARITHMETIC: dict[str, Meaning] = {
    "Add": binary("add"),
    "Sub": binary("subtract"),
    "Mul": binary("multiply"),
    "Div": binary("divide"),
    "Pow": _power,
    "Neg": _unary("negative"),
    "Sqrt": _unary("sqrt"),
    "Exp": _unary("exp"),
    "Log": _unary("log"),
    "Abs": _unary("abs"),
    "Relu": _unary("relu"),
    "Reciprocal": _unary("reciprocal"),
    "Sigmoid": _unary("sigmoid"),
    "Swish": _swish,
    "Softplus": _softplus,
    "LeakyRelu": _leaky,
    "Sum": _n_ary("add"),
    "Max": _n_ary("maximum"),
    "Min": _n_ary("minimum"),
    "Mean": _n_ary("add", mean=True),
    "Clip": _clip,
    "ReduceSum": _reduction("sum"),
    "ReduceMean": _reduction("mean"),
    "ReduceMax": _reduction("max"),
    "ReduceMin": _reduction("min"),
    "ReduceProd": _reduction("prod"),
    "ReduceSumSquare": _reduction("square"),
    "ReduceL2": _reduction("norm"),
    "Softmax": lambda w, o, a: softmax(w, o[0], a["axis"]),
    "LogSoftmax": _log_softmax,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm,
    "GlobalAveragePool": _global_average,
}
