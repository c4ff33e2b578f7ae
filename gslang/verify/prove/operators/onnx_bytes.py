"""Products of quantized matrices as whole numbers, and what is quantized for them, over symbolic tensors."""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_arithmetic import ARITHMETIC
from gslang.verify.prove.operators.onnx_composed import added
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.onnx_quantised import converted, number_of
from gslang.verify.prove.operators.relay_arithmetic import elementwise, reduced
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.terms import Term, unknown


def _shifted(world: World, x: Tensor, zero: Tensor | None) -> Tensor:
    """Whole numbers of 32 bits without their zero point."""
    wide = converted(world, x, "int32")
    if zero is None:
        return wide
    world.need_same_dtype(x.dtype, zero.dtype)
    return elementwise(world, "subtract", [wide, converted(world, zero, "int32")], "int32")


def _single(world: World, x: Tensor | None, what: str) -> Tensor | None:
    """One number, or none."""
    if x is not None:
        if world.reading and x.leaf is not None:
            world.notes.add("scales and zero points of the left factor are single numbers")
        world.need_true(len(x.shape) <= 1, what)
        for size in x.shape:
            world.need_equal(size, 1, what)
    return x


def _for_columns(world: World, x: Tensor | None, matrix: Tensor, what: str) -> Tensor | None:
    """One number, or one for each column of a matrix, or none."""
    if x is not None:
        if world.reading and x.leaf is not None:
            world.notes.add("scales and zero points of the right factor have at most one axis")
        world.need_true(len(x.shape) <= 1, what)
        if len(x.shape) == 1 and not world.facts.equal(x.shape[0], 1):
            world.need_equal(x.shape[0], matrix.shape[-1], what)
    return x


def _product(world: World, a: Tensor, b: Tensor, a_zero: Tensor | None, b_zero: Tensor | None) -> Tensor:
    """The sums of products of whole numbers, which wrap at 32 bits."""
    world.need_true(len(a.shape) >= 1 and len(b.shape) >= 1, "the ranks of the factors")
    left = _shifted(world, a, _single(world, a_zero, "the shape of the left zero point"))
    right = _shifted(world, b, _for_columns(world, b_zero, b, "the shape of the column zero points"))
    return ARITHMETIC["MatMul"](world, [left, right], {})  # type: ignore[no-any-return]


def _matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    return _product(world, operands[0], operands[1], operand(operands, 2), operand(operands, 3))


def _scaled_product(world: World, operands: Operands, attrs: Attrs) -> Value:
    """The product times both scales, and a row that is added."""
    a, b, a_scale, b_scale, a_zero, b_zero, bias = (operand(operands, k) for k in range(7))
    whole = _product(world, a, b, a_zero, b_zero)
    real = Tensor(whole.shape, a_scale.dtype, lambda index: number_of(whole.at(index), "int32"))
    _single(world, a_scale, "the shape of the left scale")
    _for_columns(world, b_scale, b, "the shape of the column scales")
    world.need_same_dtype(a_scale.dtype, b_scale.dtype)
    factor = elementwise(world, "multiply", [a_scale, b_scale], a_scale.dtype)
    y = elementwise(world, "multiply", [real, factor], a_scale.dtype)
    if bias is not None:
        world.need_true(len(bias.shape) == 1, "a bias that is not a vector")
        world.need_equal(bias.shape[0], b.shape[-1], "bias length")
        y = added(world, [y, bias])
    return y


def _dynamic(world: World, operands: Operands, attrs: Attrs) -> tuple[Tensor, Tensor, Tensor]:
    """Bytes, their scale and zero point: both unknown functions of the least and the largest number."""
    x = operands[0]
    world.need_same_dtype(x.dtype, "float32")
    every = tuple(range(len(x.shape)))
    least, most = (reduced(world, x, every, False, kind) for kind in ("min", "max"))
    scale = Tensor((), "float32", lambda index: unknown("dynamic scale", least.at(()), most.at(())))
    zero = Tensor((), "uint8", lambda index: unknown("dynamic zero point", least.at(()), most.at(())))

    def at(index: Index) -> Term:
        return unknown("dynamically quantized", x.at(index), scale.at(()), zero.at(()))

    return Tensor(x.shape, "uint8", at), scale, zero


def _quantizing_product(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, b, b_scale, b_zero, bias = (operand(operands, k) for k in range(5))
    y, scale, zero = _dynamic(world, [x], attrs)
    return _scaled_product(world, [y, b, scale, b_scale, zero, b_zero, bias], attrs)


BYTES: dict[str, Meaning] = {
    "DynamicQuantizeLinear": _dynamic,
    "com.microsoft.DynamicQuantizeMatMul": _quantizing_product,
    "MatMulInteger": _matmul,
    "com.microsoft.MatMulIntegerToFloat": _scaled_product,
}
