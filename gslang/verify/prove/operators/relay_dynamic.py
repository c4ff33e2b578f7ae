"""Relay's operators that take as operands what others take as attributes, over symbolic tensors."""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dynamic import STATIC, Static
from gslang.verify.prove.operators.onnx_operands import vector_numbers
from gslang.verify.prove.operators.onnx_ranges import whole_range
from gslang.verify.prove.operators.onnx_slices import sliced
from gslang.verify.prove.operators.relay_movement import MOVEMENT
from gslang.verify.prove.operators.tensors import Meaning, Operands, Value, World
from gslang.verify.prove.terms.dtypes import WHOLE, settled
from gslang.verify.prove.terms.paths import NotProved


def _strided_slice(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, begin, end, strides, *axes = operands
    return sliced(world, x, [begin, end, axes[0] if axes else None, strides], attrs["slice_mode"] == "size")


def _by_numbers(static: Static) -> Meaning:
    """The static operator, where the numbers in operands are known or stand for any."""

    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        found = static.call(operands, attrs, lambda tensor: vector_numbers(world, tensor))
        if found is None:
            raise NotProved("computed operands are not supported here")
        return MOVEMENT[static.operator](world, *found)

    return meaning


def _arange(world: World, operands: Operands, attrs: Attrs) -> Value:
    for other in operands[1:]:
        world.need_same_dtype(operands[0].dtype, other.dtype)
    if settled(operands[0].dtype) != WHOLE:
        raise NotProved("ranges of fractional numbers are not supported")
    return whole_range(world, operands, attrs["dtype"])


DYNAMIC: dict[str, Meaning] = {
    **{operator: _by_numbers(static) for operator, static in STATIC.items() if static.operator in MOVEMENT},
    "dyn.strided_slice": _strided_slice,
    "arange": _arange,
}
