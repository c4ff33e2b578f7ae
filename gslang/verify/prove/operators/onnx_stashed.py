"""Norms that compute in float32, and convert to the type of their operand before they scale (`stash_type`).

Conversions round, which real arithmetic leaves out, unless the source converts the operand itself: then the
target's conversions are those that the specification gives.
"""

from __future__ import annotations

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_arithmetic import ARITHMETIC, need_shape
from gslang.verify.prove.operators.onnx_composed import COMPOSED
from gslang.verify.prove.operators.onnx_quantised import converted
from gslang.verify.prove.operators.relay_arithmetic import elementwise
from gslang.verify.prove.operators.tensors import Meaning, Operands, Value, World, constant
from gslang.verify.prove.terms.dtypes import compared
from gslang.verify.prove.terms.terms import ONE


def _stashed(plain: Meaning) -> Meaning:
    """A norm whose conversions are the specification's where the source converts the operand."""

    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        x, scale = operands
        by_source = not world.reading and any(x is tensor for tensor in world.in_float32)
        if not by_source or attrs["stash_type"] != 1 or compared(x.dtype, "float32") is not False:
            return plain(world, operands, attrs)
        found = plain(world, [converted(world, x, "float32"), constant(ONE, (), "float32")], attrs)
        y, *rest = found if isinstance(found, tuple) else (found,)
        wide = elementwise(world, "multiply", [converted(world, y, x.dtype), scale], x.dtype)
        world.need_same_dtype(x.dtype, scale.dtype)
        need_shape(world, wide, x, "the shape of a normalization's scale")
        return (wide, *rest) if isinstance(found, tuple) else wide

    return meaning


STASHED: dict[str, Meaning] = {
    "RMSNormalization": _stashed(ARITHMETIC["RMSNormalization"]),
    "SimplifiedLayerNormalization": _stashed(COMPOSED["SimplifiedLayerNormalization"]),
}
