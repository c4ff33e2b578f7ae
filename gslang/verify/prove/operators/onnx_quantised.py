"""Conversions between element types, quantization, and ONNX operators on quantized numbers: what they compute
with real numbers in between.

A whole number taken as a real one is `number T(x)`, where T is its type: sums of whole numbers wrap, so they
are not the sums of what they stand for. A conversion to a type that holds every value of the one before
changes no value, so that what converts its result converts the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.domains import Unsettled
from gslang.verify.prove.operators.domains import settled as of_attribute
from gslang.verify.prove.operators.onnx_arithmetic import ARITHMETIC, single
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.relay_movement import concatenated, plain_axis
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Rising, Tensor, Value, World
from gslang.verify.prove.terms.axioms import apply
from gslang.verify.prove.terms.dtypes import (
    REAL,
    TRUTH,
    WHOLE,
    Dtype,
    compared,
    holds,
    name_of,
    saturates,
    settled,
)
from gslang.verify.prove.terms.paths import Choices, NotProved
from gslang.verify.prove.terms.reals import Real, as_term
from gslang.verify.prove.terms.sizes import text_of
from gslang.verify.prove.terms.terms import ZERO, Atom, Term, inverse, number, unknown
from gslang.verify.prove.terms.uses import is_raw, use

_SMALL = 127  # whole numbers up to this stand for themselves in each type
_MOVED = number(128)  # by so much numbers of type uint8 are above those of type int8


def cast(world: World, x: Tensor, dtype: str | Dtype, how: str = "") -> Tensor:
    """The conversion to an element type: nothing where it is the same, the number itself for truth values and
    whole numbers that become real ones, else an unknown function of the value.
    """
    if world.reading and compared(dtype, "float32") is True:
        world.in_float32.append(x)
    return x if dtype == x.dtype else converted(world, x, dtype, how)


def converted(world: World, x: Tensor, dtype: str | Dtype, how: str = "") -> Tensor:
    """The same without a case for equal types."""

    def at(index: Index) -> Term:
        origin = _origin(x, dtype) if compared(dtype, "string") is False else x
        value = origin.at(index)
        if compared(dtype, origin.dtype) is True:
            return value
        before, after = settled(origin.dtype), settled(dtype)
        if after == REAL and before not in (None, REAL) and compared(origin.dtype, "string") is False:
            return value if before == TRUTH else number_of(value, origin.dtype)
        way = "" if holds(dtype, origin.dtype) or saturates(dtype) is False else how
        return unknown(f"cast {name_of(origin.dtype)} {name_of(dtype)}{way}", value)

    return Tensor(x.shape, dtype, at, converted=x)


def _origin(x: Tensor, dtype: str | Dtype) -> Tensor:
    """The tensor that was converted to this one, in types that hold each of its values, as far as a
    conversion to `dtype` is the same: what whole numbers beyond that type become is another matter, once they
    are floats.
    """
    while x.converted is not None and holds(x.dtype, x.converted.dtype):
        before = x.converted.dtype
        through_floats = settled(x.dtype) != WHOLE and settled(before) not in (REAL, TRUTH)
        if through_floats and settled(dtype) != REAL and not holds(dtype, before):
            break
        x = x.converted
    return x


def number_of(value: Term, dtype: str | Dtype) -> Term:
    """A whole number of a type as a real one."""
    constant = value.constant
    if constant is not None and constant.denominator == 1 and 0 <= constant <= _SMALL:
        return value
    alone = value.alone
    if name_of(dtype) == "uint8" and not is_raw() and alone is not None and alone[1] == 1:
        signed = _with_sign(alone[0])
        if signed is not None:
            return number_of(signed, "int8") + _MOVED
    return unknown(f"number {name_of(dtype)}", value)


def _with_sign(byte: Atom) -> Term | None:
    """The number of type int8 that is 128 less than a byte; None where no law says one."""
    match byte.name, byte.args:
        case "cast int32 uint8", (whole,):
            if (x := _only(whole - _MOVED, "cast int8 int32")) is not None:
                use("byte without sign", x=x)
            return x
        case "quantized uint8", (ratio, zero):
            if (y := _only(zero - _MOVED, "number int8")) is not None:
                use("quantized without sign", x=ratio, y=y)
                return unknown("quantized int8", ratio, zero - _MOVED)
    return None


def _only(value: Term, name: str) -> Term | None:
    """The argument of a function that a term is a value of; None for others."""
    alone = value.alone
    found = alone is not None and alone[1] == 1 and alone[0].kind == "fn" and alone[0].name == name
    return alone[0].args[0] if alone is not None and found else None


# ── quantization ──


def numbers_of_elements(x: Tensor, dtype: str | Dtype) -> Tensor:
    """Whole numbers taken as real ones."""

    return Tensor(x.shape, dtype, lambda index: number_of(x.at(index), x.dtype))


def has_one_scale(world: World, operands: Operands) -> bool:
    """True if all elements are quantized with the same scale."""
    scale = operands[1]
    return isinstance(scale, Tensor) and (
        not scale.shape or len(scale.shape) == 1 and world.facts.equal(scale.shape[0], 1)
    )


def _along(world: World, x: Tensor, small: Tensor, axis: int) -> Callable[[Index], Term]:
    """The element of a scale or zero point that belongs to an element of x: one for all, or for each place
    along an axis.
    """
    if not small.shape:
        return lambda index: small.at(())
    if len(small.shape) != 1:
        raise NotProved("blocked scales are not supported")
    if world.facts.equal(small.shape[0], 1):
        return lambda index: small.at((0,))
    place = plain_axis(world, axis, len(x.shape))
    world.need_equal(small.shape[0], x.shape[place], "number of scales along an axis")
    return lambda index: small.at((index[place],))


def _alike(world: World, scale: Tensor, zero: Tensor) -> None:
    world.need_true(len(scale.shape) == len(zero.shape), "a scale and a zero point of different ranks")
    for a, b in zip(scale.shape, zero.shape):
        world.need_equal(a, b, "lengths of scale and zero point")


def dequantised(
    world: World, x: Tensor, scale: Tensor, zero: Tensor | None, axis: int, dtype: str | Dtype
) -> Tensor:
    """(x − zero) · scale."""
    factor, value = _along(world, x, scale, axis), numbers_of_elements(x, dtype)
    if zero is None:
        return Tensor(x.shape, dtype, lambda index: value.at(index) * factor(index))
    world.need_same_dtype(x.dtype, zero.dtype)
    shift = _along(world, x, numbers_of_elements(zero, dtype), axis)

    def rising(element: Term) -> Term:
        return (number_of(element, x.dtype) - shift(())) * factor(())

    rises = None if scale.shape or zero.shape else (
        Rising(x, rising, lambda: _is_above_0(world, scale, factor(())))
    )
    return Tensor(
        x.shape, dtype, lambda index: (value.at(index) - shift(index)) * factor(index), rises=rises
    )


def quantised(
    world: World, x: Tensor, scale: Tensor, zero: Tensor | None, axis: int, dtype: str | Dtype, how: str = "",
    bits: str = "",
) -> Tensor:  # fmt: skip
    """x / scale, rounded, moved by the zero point and limited to what the type holds: an unknown function,
    which gives back what was quantized already.

    `how`: it saturates. `bits`: of numbers that are divided with fewer than 32, and so not given back.
    """
    factor = _along(world, x, scale, axis)
    shift = None if zero is None else _along(world, x, numbers_of_elements(zero, "float32"), axis)

    def at(index: Index) -> Term:
        divisor = factor(index)
        world.need_defined("!=0", divisor)
        zero_point = ZERO if shift is None else shift(index)
        value = x.at(index)
        ratio = value * inverse(divisor)
        alone = None if bits else (ratio + zero_point).alone
        if alone is not None and alone[1] == 1 and alone[0].name == f"number {name_of(dtype)}":
            return alone[0].args[0]  # type: ignore[no-any-return]
        if _is_unsigned(dtype) and zero_point.constant == 0 and _is_above_0(world, scale, divisor):
            ratio = apply("maximum", [value, ZERO]) * inverse(divisor)  # what is below 0 becomes 0
        way = "" if settled(dtype) == WHOLE else how  # only floats of 8 bits saturate or not
        return unknown(f"quantized {name_of(dtype)}{way}{bits}", ratio, zero_point)

    return Tensor(x.shape, dtype, at)


def _is_unsigned(dtype: str | Dtype) -> bool:
    return any(compared(dtype, name) is True for name in ("uint8", "uint16"))


def _is_above_0(world: World, scale: Tensor, divisor: Term) -> bool:
    """True if conditions of the rule say that an element of a scale is above 0."""
    every = scale.leaf is not None and scale.leaf.above_0
    return every or Real(divisor, world.facts.choices).surely_above(ZERO)


def _dequantize(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, scale, zero = operands[0], operands[1], operand(operands, 2)
    if zero is not None:
        _alike(world, scale, zero)
    _plain(attrs)
    if attrs["output_dtype"]:
        raise NotProved("`output_dtype` of a dequantization is not supported")
    return dequantised(world, x, scale, zero, attrs["axis"], scale.dtype)


def _quantize(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, scale, zero = operands[0], operands[1], operand(operands, 2)
    if zero is not None:
        _alike(world, scale, zero)
    _plain(attrs)
    dtype = _type_of_codes(world, zero, attrs["output_dtype"])
    precision = attrs["precision"]
    bits = "" if precision in _FULL_PRECISIONS else f" {precision}"
    how = f" {of_attribute(attrs['saturate'])}"
    return quantised(world, x, scale, zero, attrs["axis"], dtype, how, bits)


_FULL_PRECISIONS = (0, 1, 11)  # the type of the scale, 32 or 64 bits


def _plain(attrs: Attrs) -> None:
    if attrs["block_size"]:
        raise NotProved("blocked scales are not supported")


class _LikeZero(Unsettled):
    """The `output_dtype` beside a zero point of an element type: that, or 0, which says nothing."""

    def __init__(self, choices: Choices, dtype: str | Dtype) -> None:
        super().__init__(choices, "output_dtype", [lambda: 0, lambda: dtype])
        self.dtype = dtype


def type_of_codes_said(world: World, operands: Operands) -> object:
    """The `output_dtype` of a quantization that leaves it open: 0, or an element type."""
    choices, zero = world.facts.choices, operand(operands, 2)
    if zero is not None:
        return _LikeZero(choices, zero.dtype)
    return 0 if choices.choose(2) == 0 else Dtype(choices)


def _type_of_codes(world: World, zero: Tensor | None, stated: Any) -> str | Dtype:
    """The element type of quantized numbers: that of the zero point, else the stated one."""
    if zero is not None and isinstance(stated, _LikeZero) and compared(stated.dtype, zero.dtype) is True:
        return zero.dtype
    named: Any = stated.resolved() if isinstance(stated, Unsettled) else stated
    dtype: str | Dtype = (named or "uint8") if zero is None else zero.dtype
    if named:
        world.need_same_dtype(named, dtype)
    return dtype


# ── operators on quantized numbers ──


def _parts(world: World, operands: Sequence[Any], axis: int = 0) -> Tensor:
    """The real numbers that (numbers, scale, zero point) stand for."""
    x, scale, zero = operands
    if zero is not None:
        _alike(world, scale, zero)
    return dequantised(world, x, scale, zero, axis, "float32")


def _result(world: World, y: Tensor, scale: Tensor, zero: Tensor | None, dtype: str | Dtype) -> Tensor:
    what = "number of scales of the result"
    one, shift = _one(world, scale, what), None if zero is None else _one(world, zero, what)
    return quantised(world, y, one, shift, 0, dtype, " 1")


def _one(world: World, small: Tensor, what: str = "number of scales") -> Tensor:
    """The only element of a scale or zero point."""
    for size in small.shape:
        world.need_equal(size, 1, what)
    return single(small)


def _conv(world: World, operands: Operands, attrs: Attrs) -> Value:
    bias = operand(operands, 8)
    x, w = _parts(world, operands[0:3]), _parts(world, operands[3:6], 0)
    y = ARITHMETIC["Conv"](world, [x, w], attrs)
    if bias is not None:
        world.need_true(len(bias.shape) == 1, "a bias that is not a vector")
        world.need_equal(bias.shape[0], w.shape[0], "bias length")
        y = _biased(world, y, bias, lambda index: (index[1],), operands[1], operands[4])
    return _result(world, y, operands[6], operands[7], operands[7].dtype)


def _biased(
    world: World, y: Tensor, bias: Tensor, place: Callable[[Index], Index], scale: Tensor, scales: Tensor
) -> Tensor:
    """`y` and numbers of 32 bits that are quantized with the product of both scales, around zero; `scales`
    has one for each place of the second axis, or for all.
    """
    world.need_same_dtype(bias.dtype, "int32")
    one, factor = _one(world, scale), _along(world, y, scales, 1)

    def at(index: Index) -> Term:
        return y.at(index) + number_of(bias.at(place(index)), bias.dtype) * one.at(()) * factor(index)

    return Tensor(y.shape, y.dtype, at)


def _gemm(world: World, operands: Operands, attrs: Attrs) -> Value:
    """A·B, and a bias that the product of the scales belongs to."""
    c, scale, zero = (operand(operands, k) for k in (6, 7, 8))
    if as_term(attrs["alpha"]).constant != 1:
        raise NotProved("`alpha` of a quantized product is not supported")
    if scale is None or zero is None:
        raise NotProved("quantized products with a floating-point result are not supported")
    a, b = _whole(world, operands[0:3]), _parts(world, operands[3:6], 0 if attrs["transB"] else 1)
    y = ARITHMETIC["Gemm"](world, [a, b], {**attrs, "beta": 1.0})
    if c is not None:
        world.need_true(len(c.shape) <= 2, "the rank of a bias")
        for d, e in zip(y.shape, world.broadcast(y.shape, c.shape)):
            world.need_equal(d, e, "bias of a quantized product")
        places = Tensor(y.shape, c.dtype, lambda index: world.element(c, y.shape, index))
        y = _biased(world, y, places, lambda index: index, operands[1], operands[4])
    return _result(world, y, scale, zero, zero.dtype)


def _matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    for scale in (operands[1], operands[4]):
        for size in scale.shape:
            if world.reading and text_of(world.facts.normal(size)) != "1":
                world.notes.add("one scale for each factor of a quantized product")
            world.need_equal(size, 1, "number of scales of a factor")
    y = ARITHMETIC["MatMul"](world, [_parts(world, operands[0:3]), _parts(world, operands[3:6])], attrs)
    return _result(world, y, operands[6], operands[7], operands[7].dtype)


def _of_two(name: str) -> Meaning:
    """Of numbers whose scales and zero points have no axes, not even one of size 1."""

    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        smalls = [operand(operands, k) for k in (1, 2, 4, 5, 6, 7)]
        world.need_true(all(x is None or not x.shape for x in smalls), "scales and zero points are scalars")
        a, b = _whole(world, operands[0:3]), _whole(world, operands[3:6])
        world.need_same_dtype(operands[0].dtype, operands[3].dtype)
        y = ARITHMETIC[name](world, [a, b], attrs)
        return _result(world, y, operands[6], operand(operands, 7), operands[0].dtype)

    return meaning


def _of_one(name: str) -> Meaning:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        y = ARITHMETIC[name](world, [_whole(world, operands[0:3])], attrs)
        return _result(world, y, operands[3], operand(operands, 4), operands[0].dtype)

    return meaning


def _whole(world: World, operands: Sequence[Any]) -> Tensor:
    """The same with one scale and zero point of any rank."""
    x, scale, zero = operands
    one, shift = _one(world, scale), None if zero is None else _one(world, zero)
    return dequantised(world, x, one, shift, 0, "float32")


def _global_average(world: World, operands: Operands, attrs: Attrs) -> Value:
    if attrs["channels_last"]:
        raise NotProved("channels-last layout is not supported")
    y = ARITHMETIC["GlobalAveragePool"](world, [_whole(world, operands[0:3])], {})
    return _result(world, y, operands[3], operands[4], operands[0].dtype)


def _concat(world: World, operands: Operands, attrs: Attrs) -> Value:
    parts = [_whole(world, operands[k : k + 3]) for k in range(2, len(operands), 3)]
    for k in range(5, len(operands), 3):
        world.need_same_dtype(operands[2].dtype, operands[k].dtype)
    return _result(
        world, concatenated(world, parts, attrs["axis"]), operands[0], operands[1], operands[2].dtype
    )


def _rounding(attrs: Attrs) -> str:
    """The way numbers are rounded to a type, by attributes that only conversions to floats of 8 bits read."""
    return f" {of_attribute(attrs['saturate'])} {attrs['round_mode']}"


def _cast_like(world: World, operands: Operands, attrs: Attrs) -> Value:
    return cast(world, operands[0], operands[1].dtype, _rounding(attrs))


QUANTISED: dict[str, Meaning] = {
    "Cast": lambda w, o, a: cast(w, o[0], a["to"], _rounding(a)),
    "CastLike": _cast_like,
    "DequantizeLinear": _dequantize,
    "QuantizeLinear": _quantize,
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "com.microsoft.QGemm": _gemm,
    "com.microsoft.QLinearAdd": _of_two("Add"),
    "com.microsoft.QLinearMul": _of_two("Mul"),
    "com.microsoft.QLinearSigmoid": _of_one("Sigmoid"),
    "com.microsoft.QLinearLeakyRelu": _of_one("LeakyRelu"),
    "com.microsoft.QLinearGlobalAveragePool": _global_average,
    "com.microsoft.QLinearConcat": _concat,
}
